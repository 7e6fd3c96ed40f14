// The structured perceptron (Collins 2002): Viterbi finds ŷ = argmax_y v·Φ(x, y); on a mistake
// v ← v + τ·(Φ(x, y*) − Φ(x, ŷ)).
//
//   perceptron   τ = 1
//   pa1, pa2     the competitor is the best of score + cost, the cost being the number of wrong labels (Hamming);
//                ℓ = cost(ŷ) − v·δ,  τ = min(C, ℓ/‖δ‖²)  or  ℓ/(‖δ‖² + 1/2C)        Crammer et al. 2006
//   mira         the k best of score + cost together, by a small quadratic program    simplex_qp.hpp
//
// In batches of b sentences (Zhao & Huang 2013) all are answered by the same v, in several threads, and their updates
// are then made together: v ← v + Σ δ. As ‖Σ δ‖² ≤ b·Σ ‖δ‖², the perceptron makes k ≤ b·(R/γ)² updates.
//
// The average is lazy as in linear.hpp: Σ_t v_t = clock·v − sum.
#pragma once

#include <deque>
#include <exception>
#include <vector>

#include "parallel.hpp"
#include "sequence/competitor.hpp"
#include "sequence/simplex_qp.hpp"

namespace perceptive {

class StructuredPerceptron {
  public:
    explicit StructuredPerceptron(SequenceModel& model) : model(model) {}

    void play(const Sentences& data, SentenceRows& rows, const i64* order, i64 count, const SequenceOptions& options) {
        PairWeights edge = model.masked_edges(model.w);
        answers_.resize(static_cast<std::size_t>(options.batch));
        differences_.resize(answers_.size());
        const int threads = static_cast<int>(std::min<i64>(options.threads, options.batch));
        while (static_cast<int>(searches_.size()) < threads) searches_.emplace_back(model);
        for (CompetitorSearch& search : searches_) search.forget();
        i64 begin = 0;
        std::vector<std::exception_ptr> failure(answers_.size());
        const auto find = [&](int thread, i64 j) {
            try {
                searches_[thread].find(data, rows, order[begin + j], options, edge, answers_[j]);
            } catch (...) {
                failure[j] = std::current_exception();
            }
        };
        Team team(threads, find);
        for (; begin < count; begin += options.batch) {
            const i64 size = std::min(options.batch, count - begin);
            team.run(size, find);  // who finds which competitor does not matter
            for (i64 j = 0; j < size; ++j)
                if (failure[j]) std::rethrow_exception(failure[j]);
            learn(data, rows, order + begin, size, options, edge);
        }
    }

  private:
    using SentenceRound = Round<true, WeightJournal>;

    // Count the answers to some sentences, and learn from them.
    void learn(const Sentences& data, SentenceRows& rows, const i64* order, i64 size, const SequenceOptions& options,
               PairWeights& edge) {
        const SentenceRound round{options.rule, false, model.run, model.log()};
        for (i64 j = 0; j < size; ++j) {
            round.begin();
            model.fingerprint += data.hash[order[j]];
            if (answers_[j].mistake) round.mistake(answers_[j].m);
        }
        if (options.rule.name == RuleName::mira) {
            for (i64 j = 0; j < size; ++j)
                if (answers_[j].learns) mira(data, rows, order[j], answers_[j], options, round, edge);
            return;
        }
        std::vector<double>& m = m_;
        m.assign(static_cast<std::size_t>(size), 0.0);
        for (i64 j = 0; j < size; ++j) {  // all of them before v moves
            if (!answers_[j].learns) continue;
            differences_[j].clear();
            differ(data, rows, order[j], answers_[j].target, answers_[j].path, differences_[j]);
            m[j] = along(differences_[j]);
        }
        for (i64 j = 0; j < size; ++j) {
            if (!answers_[j].learns) continue;
            const double cost = options.hamming ? hamming_cost(answers_[j].path, data, data.start[order[j]]) : 1.0;
            const bool wrong = options.rule.name == RuleName::perceptron && (options.hamming || m[j] <= 0);
            const double weight = data.weight.empty() ? 1.0 : data.weight[order[j]];
            if (round.wants_update(m[j], wrong, cost))
                round.update(m[j], cost, weight, Delta{model, differences_[j], options.averaged, edge, searches_});
        }
    }

    struct Delta {
        static constexpr bool has_sigma = false, keeps_norm = false, has_romma = false;

        SequenceModel& model;
        const FeatureDifference& difference;
        bool averaged;
        PairWeights& edge;  // the model's weights of label pairs, masked
        std::deque<CompetitorSearch>& searches;

        double squared_norm() const { return difference.squared_norm(); }

        void apply(const Step& by) const {
            WeightJournal* const journal = model.log();
            for (const FeatureDifference::Term& term : difference.terms()) {
                if (term.value == 0.0) continue;
                const double step = by.tau * term.value;
                model.write(model.w, term.place, static_cast<float>(step));
                if (kind_of_place(term.place) == WeightKind::edge) {
                    model.mask_again(model.w, term.place, edge);
                    for (CompetitorSearch& search : searches) search.change(term.place, edge);
                }
                if (averaged) model.write(model.sum, term.place, static_cast<float>(model.run.clock * step));
                if (journal) journal->updates.add(term.place, static_cast<float>(step));
                model.run.touched += averaged ? 2 : 1;
            }
        }
    };

    // δ += Φ(x, right) − Φ(x, wrong)
    void differ(const Sentences& data, SentenceRows& rows, i64 i, const std::vector<int>& right,
                const std::vector<int>& wrong, FeatureDifference& delta) {
        const i64 begin = data.start[i], n = data.start[i + 1] - begin;
        for (i64 t = 0; t < n; ++t) {
            const auto at = static_cast<std::size_t>(t);
            const i64 y = right[at], z = wrong[at];
            if (y != z) differ_token(data, rows.state, false, begin + t, y, z, delta);
            if (t == 0) continue;
            const i64 py = right[at - 1], pz = wrong[at - 1];
            if (py == pz && y == z) continue;
            if (model.bigrams) {
                delta.add(place_of(WeightKind::edge, py * model.S + y), 1.0);
                delta.add(place_of(WeightKind::edge, pz * model.S + z), -1.0);
            }
            if (model.edge.templates.size())
                differ_token(data, rows.edge, true, begin + t, py * model.L + y, pz * model.L + z, delta);
        }
        if (model.types.on()) {
            differ_segments(data, rows.segment, begin, n, right, wrong, 1.0, delta);
            differ_segments(data, rows.segment, begin, n, wrong, right, -1.0, delta);
        }
        if (!model.trigrams) return;
        for (i64 t = 2; t < n; ++t) {
            const auto at = static_cast<std::size_t>(t);
            const i64 y = (right[at - 2] * model.L + right[at - 1]) * model.S + right[at];
            const i64 z = (wrong[at - 2] * model.L + wrong[at - 1]) * model.S + wrong[at];
            if (y == z) continue;
            delta.add(place_of(WeightKind::triple, y), 1.0);
            delta.add(place_of(WeightKind::triple, z), -1.0);
        }
    }

    // δ += the features of a token with y, less those with z: labels, or pairs of labels.
    void differ_token(const Sentences& data, std::vector<std::int32_t>& rows, bool pairs, i64 token, i64 y, i64 z,
                      FeatureDifference& delta) {
        const FeatureSet& features = pairs ? data.edge : data.state;
        const FeatureKind& kind = model.kind(pairs);
        const i64 width = pairs ? model.L * model.S : model.S;
        for (i64 p = features.start[token]; p < features.start[token + 1]; ++p) {
            const auto f = static_cast<std::size_t>(features.number[p]);
            const int set = kind.set_of(features.seen_in[f]);
            const double value = features.value.empty() ? 1.0 : static_cast<double>(features.value[p]);
            if (set >= 0 && model.sets[set].in[y] == model.sets[set].in[z]) continue;
            if (rows[f] < 0)
                rows[f] = model.new_row(pairs, features.key[f], name_of(data, features, f, kind.templates));
            const auto place = [&](i64 label) {
                return place_of(pairs ? WeightKind::edge : WeightKind::state,
                                rows[f] * width + model.column(pairs, label));
            };
            if (set >= 0) {
                delta.add(place(model.sets[set].first) | SHARED, model.sets[set].in[y] ? value : -value);
            } else {
                delta.add(place(y), value);
                delta.add(place(z), -value);
            }
        }
    }

    // δ += sign · the features of the segments of `path` that `other` has not
    void differ_segments(const Sentences& data, std::vector<std::int32_t>& rows, i64 first, i64 n,
                         const std::vector<int>& path, const std::vector<int>& other, double sign,
                         FeatureDifference& delta) {
        const FeatureSet& features = data.segment;
        each_segment(model.types, path.data(), n, [&](i64 X, i64 begin, i64 end) {
            const bool same = std::equal(path.begin() + begin, path.begin() + end, other.begin() + begin);
            if (same && (end == n || other[end] != model.types.inside[X])) return;
            const auto slot = static_cast<std::size_t>(data.segments[first + begin] + end - begin - 1);
            for (i64 p = features.start[slot]; p < features.start[slot + 1]; ++p) {
                const auto f = static_cast<std::size_t>(features.number[p]);
                if (rows[f] < 0) rows[f] = model.new_row(false, features.key[f], segment_name(data, f));
                delta.add(place_of(WeightKind::state, rows[f] * model.S + model.types.begin[X]), sign);
            }
        });
    }

    FeatureName segment_name(const Sentences& data, std::size_t f) {
        const std::int32_t kind = data.segment.seen_in[f];
        const i64 slot = data.segment.seen_at[f];
        const auto behind = std::upper_bound(data.segments.begin(), data.segments.end(), slot);
        const i64 begin = behind - data.segments.begin() - 1, length = slot - *(behind - 1) + 1;
        FeatureName name{kind, {}};
        if (kind == SEGMENT_LENGTH) name.ids = {static_cast<Id>(length)};
        if (kind <= SEGMENT_IN) name.ids = {1};
        if (kind != SEGMENT_TEXT && kind != SEGMENT_SHAPE) return name;
        const int column = kind == SEGMENT_TEXT ? model.segment_features.text : model.segment_features.shape;
        std::vector<Id> ids(static_cast<std::size_t>(model.columns.width()));
        for (i64 t = begin; t < begin + length; ++t) {
            model.columns.spread(data.base.data() + t * data.n_base, ids.data());
            const Id id = ids[column];
            if (kind == SEGMENT_TEXT || name.ids.empty() || name.ids.back() != id) name.ids.push_back(id);
        }
        return name;
    }

    // v·δ
    double along(const FeatureDifference& delta) {
        double total = 0.0;
        for (const FeatureDifference::Term& term : delta.terms())
            total += term.value * static_cast<double>(model.w.get(term.place & ~SHARED));
        return total;
    }

    void mira(const Sentences& data, SentenceRows& rows, i64 i, const Answer& found, const SequenceOptions& options,
              const SentenceRound& round, PairWeights& edge) {
        std::vector<FeatureDifference> deltas;
        std::vector<double> losses;
        double worst = 0.0;
        for (const ScoredPath& rival : found.rivals) {
            if (rival.labels == found.target) continue;
            if (static_cast<i64>(deltas.size()) == options.k) break;
            deltas.emplace_back();
            differ(data, rows, i, found.target, rival.labels, deltas.back());
            losses.push_back(hamming_cost(rival.labels, data, data.start[i]) - along(deltas.back()));
            worst = std::max(worst, losses.back());
        }
        if (worst <= LOSS_FLOOR) return;
        const std::size_t k = deltas.size();
        std::vector<double> gram(k * k);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j <= i; ++j) gram[i * k + j] = gram[j * k + i] = deltas[i].dot(deltas[j]);
        const std::vector<double> alpha = solve_mira(gram, losses, options.rule.C);
        double q = 0.0;
        FeatureDifference& together = differences_.front();
        together.clear();
        for (std::size_t j = 0; j < k; ++j) {
            if (alpha[j] == 0.0) continue;
            for (const FeatureDifference::Term& term : deltas[j].terms())
                together.add(term.place, alpha[j] * term.value);
            q = std::max(q, gram[j * k + j]);
        }
        if (together.squared_norm() == 0.0) return;
        Delta{model, together, options.averaged, edge, searches_}.apply({1.0, 1.0});
        round.close(1.0, q);
    }

    FeatureName name_of(const Sentences& data, const FeatureSet& features, std::size_t f, const Templates& templates) {
        const std::int32_t in = features.seen_in[f], at = features.seen_at[f];
        if (in == RAW) return {RAW, {at}};
        FeatureName name{in, {}};
        const auto sentence = std::upper_bound(data.start.begin(), data.start.end(), static_cast<i64>(at)) - 1;
        const i64 begin = *sentence, end = *(sentence + 1);
        std::vector<Id> ids(static_cast<std::size_t>(model.columns.width()));
        for (const Part& part : templates[in].parts) {
            const i64 t = at + part.offset;
            if (t < begin) {
                name.ids.push_back(before(static_cast<int>(begin - t)));
            } else if (t >= end) {
                name.ids.push_back(behind(static_cast<int>(t - end + 1)));
            } else {
                model.columns.spread(data.base.data() + t * data.n_base, ids.data());
                name.ids.push_back(ids[part.column]);
            }
        }
        return name;
    }

    SequenceModel& model;
    std::deque<CompetitorSearch> searches_;  // of each thread
    std::vector<Answer> answers_;            // of the sentences of a batch
    std::vector<FeatureDifference> differences_;
    std::vector<double> m_;
};

}  // namespace perceptive
