// The structured perceptron (Collins 2002): Viterbi finds ŷ = argmax_y v·Φ(x, y); on a mistake
// v ← v + τ·(Φ(x, y*) − Φ(x, ŷ)).
//
//   perceptron   τ = 1
//   pa1, pa2     the competitor is the best of score + cost, the cost being the number of wrong labels (Hamming);
//                ℓ = cost(ŷ) − v·δ,  τ = min(C, ℓ/‖δ‖²)  or  ℓ/(‖δ‖² + 1/2C)        Crammer et al. 2006
//   mira         the k best of score + cost together, by a small quadratic program    simplex_qp.hpp
//
// The average is lazy as in linear.hpp: Σ_t v_t = clock·v − sum.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "sequence/scores.hpp"
#include "sequence/simplex_qp.hpp"

namespace perceptive {

struct SequenceOptions {
    Rule rule;
    bool hamming = false;  // the competitor is sought under score + cost
    i64 k = 5;             // mira: competitors at once
    bool averaged = true;
    i64 beam = 0;
};

class StructuredPerceptron {
  public:
    explicit StructuredPerceptron(SequenceModel& model) : model(model) {}

    void play(Sentences& data, const i64* order, i64 count, const SequenceOptions& options) {
        std::vector<float> edge = model.masked_edges(model.w);
        for (i64 i = 0; i < count; ++i) round(data, order[i], options, edge);
    }

  private:
    void round(Sentences& data, i64 i, const SequenceOptions& options, std::vector<float>& edge) {
        const i64 begin = data.start[i];
        const i64 n = data.start[i + 1] - begin;
        const std::int32_t* truth = data.label.data() + begin;
        const SentenceRound round{options.rule, false, model.run, model.log()};
        round.begin();
        model.fingerprint += data.hash[i];
        if (n == 0 || model.L == 0) return;
        Potentials& x = potentials_;
        scores_.gather(data, i, model.w, edge.data(), x);
        x.trellis.beam = options.beam;
        target_.assign(truth, truth + n);
        if (std::any_of(truth, truth + n, [](std::int32_t y) { return y < 0; })) complete(x, data, i);
        path_.resize(static_cast<std::size_t>(n));

        const bool margins = options.rule.name != RuleName::perceptron || options.rule.margin > 0;
        if (options.hamming || options.rule.name == RuleName::mira) add_cost(x, data, begin, n, 1.0f);
        if (options.rule.name == RuleName::mira) {
            rivals_ = scores_.best_paths(x, options.k + 1);
            add_cost(x, data, begin, n, -1.0f);
            count_mistake(x, round);
            mira(data, begin, n, options, round, edge);
            return;
        }
        scores_.decode(x, viterbi_, segments_, path_.data());
        if (options.hamming) {
            add_cost(x, data, begin, n, -1.0f);
            if (path_ == target_) return;  // right by its margin, so right
            best_ = path_;
            count_mistake(x, round);
            path_ = best_;
        } else {
            const bool mistake = path_ != target_;
            if (mistake) note_mistake(x, round);
            if (!mistake) {
                if (!margins) return;
                second_best(x);
                if (path_ == target_) return;  // there is no other path
            }
        }
        const double cost = options.hamming ? hamming(path_, data, begin) : 1.0;
        difference_.clear();
        differ(data, begin, n, target_, path_, difference_);
        const double m = along(difference_);
        const bool wrong = options.rule.name == RuleName::perceptron && (options.hamming || m <= 0);
        if (round.wants_update(m, wrong, cost))
            round.update(m, cost, 1.0, Delta{model, difference_, options.averaged, edge});
    }

    struct Delta {
        static constexpr bool has_sigma = false, keeps_norm = false, has_romma = false;

        SequenceModel& model;
        const FeatureDifference& difference;
        bool averaged;
        std::vector<float>& edge;  // the model's weights of label pairs, masked

        double squared_norm() const { return difference.squared_norm(); }

        void apply(const Step& by) const {
            WeightJournal* const journal = model.log();
            for (const FeatureDifference::Term& term : difference.terms()) {
                if (term.value == 0.0) continue;
                const double step = by.tau * term.value;
                model.write(model.w, term.place, static_cast<float>(step));
                model.mask_again(model.w, term.place, edge);
                if (averaged) model.write(model.sum, term.place, static_cast<float>(model.run.clock * step));
                if (journal) journal->updates.add(term.place, static_cast<float>(step));
                model.run.touched += averaged ? 2 : 1;
            }
        }
    };
    using SentenceRound = Round<true, WeightJournal>;

    // The labels that were not given are those of the best path through those that were.
    void complete(Potentials& x, const Sentences& data, i64 i) {
        const i64 begin = data.start[i], n = data.start[i + 1] - begin;
        constrained_.assign(x.unary.begin(), x.unary.begin() + n * model.S);
        for (i64 t = 0; t < n; ++t)
            data.choices.each_other(data.label[begin + t], model.L,
                                    [&](i64 y) { constrained_[t * model.S + y] = NEVER; });
        Trellis forced = x.trellis;
        forced.unary = constrained_.data();
        if (!(scores_.decode(forced, x, viterbi_, segments_, target_.data()) > static_cast<double>(NEVER)))
            throw std::invalid_argument("sentence " + std::to_string(i) + ": no labels fit between those given");
    }

    void add_cost(Potentials& x, const Sentences& data, i64 begin, i64 n, float sign) const {
        for (i64 t = 0; t < n; ++t)
            data.choices.each_other(data.label[begin + t], model.L, [&](i64 y) { x.unary[t * model.S + y] += sign; });
    }

    static double hamming(const std::vector<int>& path, const Sentences& data, i64 begin) {
        i64 wrong = 0;
        for (std::size_t t = 0; t < path.size(); ++t)
            wrong += !data.choices.allow(data.label[static_cast<std::size_t>(begin) + t], path[t]);
        return static_cast<double>(wrong);
    }

    void count_mistake(const Potentials& x, const SentenceRound& round) {
        scores_.decode(x, viterbi_, segments_, path_.data());
        if (path_ != target_) note_mistake(x, round);
    }

    void note_mistake(const Potentials& x, const SentenceRound& round) {
        round.mistake(std::min(0.0, scores_.score(x, target_.data()) - scores_.score(x, path_.data())));
    }

    // The best path but the target, where the target is best.
    void second_best(const Potentials& x) {
        for (ScoredPath& rival : scores_.best_paths(x, 2))
            if (rival.labels != target_) {
                path_ = std::move(rival.labels);
                return;
            }
    }

    // δ += Φ(x, right) − Φ(x, wrong)
    void differ(Sentences& data, i64 begin, i64 n, const std::vector<int>& right, const std::vector<int>& wrong,
                FeatureDifference& delta) {
        for (i64 t = 0; t < n; ++t) {
            const auto at = static_cast<std::size_t>(t);
            const i64 y = right[at], z = wrong[at];
            if (y != z) differ_token(data, false, begin + t, y, z, delta);
            if (t == 0) continue;
            const i64 py = right[at - 1], pz = wrong[at - 1];
            if (py == pz && y == z) continue;
            if (model.bigrams) {
                delta.add(place_of(WeightKind::edge, py * model.S + y), 1.0);
                delta.add(place_of(WeightKind::edge, pz * model.S + z), -1.0);
            }
            if (model.edge.templates.size())
                differ_token(data, true, begin + t, py * model.L + y, pz * model.L + z, delta);
        }
        if (model.types.on()) {
            differ_segments(data, begin, n, right, wrong, 1.0, delta);
            differ_segments(data, begin, n, wrong, right, -1.0, delta);
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
    void differ_token(Sentences& data, bool pairs, i64 token, i64 y, i64 z, FeatureDifference& delta) {
        FeatureSet& features = pairs ? data.edge : data.state;
        const FeatureKind& kind = model.kind(pairs);
        const i64 width = pairs ? model.L * model.S : model.S;
        for (i64 p = features.start[token]; p < features.start[token + 1]; ++p) {
            const auto f = static_cast<std::size_t>(features.number[p]);
            const int set = kind.set_of(features.seen_in[f]);
            const double value = features.value.empty() ? 1.0 : static_cast<double>(features.value[p]);
            if (set >= 0 && model.sets[set].in[y] == model.sets[set].in[z]) continue;
            if (features.row[f] < 0)
                features.row[f] = model.new_row(pairs, features.key[f], name_of(data, features, f, kind.templates));
            const auto place = [&](i64 label) {
                return place_of(pairs ? WeightKind::edge : WeightKind::state,
                                features.row[f] * width + model.column(pairs, label));
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
    void differ_segments(Sentences& data, i64 first, i64 n, const std::vector<int>& path, const std::vector<int>& other,
                         double sign, FeatureDifference& delta) {
        FeatureSet& features = data.segment;
        each_segment(model.types, path.data(), n, [&](i64 X, i64 begin, i64 end) {
            const bool same = std::equal(path.begin() + begin, path.begin() + end, other.begin() + begin);
            if (same && (end == n || other[end] != model.types.inside[X])) return;
            const auto slot = static_cast<std::size_t>(data.segments[first + begin] + end - begin - 1);
            for (i64 p = features.start[slot]; p < features.start[slot + 1]; ++p) {
                const auto f = static_cast<std::size_t>(features.number[p]);
                if (features.row[f] < 0) features.row[f] = model.new_row(false, features.key[f], segment_name(data, f));
                delta.add(place_of(WeightKind::state, features.row[f] * model.S + model.types.begin[X]), sign);
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
            total += term.value * static_cast<double>(model.w.at(term.place & ~SHARED));
        return total;
    }

    void mira(Sentences& data, i64 begin, i64 n, const SequenceOptions& options, const SentenceRound& round,
              std::vector<float>& edge) {
        std::vector<FeatureDifference> deltas;
        std::vector<double> losses;
        double worst = 0.0;
        for (const ScoredPath& rival : rivals_) {
            if (rival.labels == target_) continue;
            if (static_cast<i64>(deltas.size()) == options.k) break;
            deltas.emplace_back();
            differ(data, begin, n, target_, rival.labels, deltas.back());
            losses.push_back(hamming(rival.labels, data, begin) - along(deltas.back()));
            worst = std::max(worst, losses.back());
        }
        if (worst <= LOSS_FLOOR) return;
        const std::size_t k = deltas.size();
        std::vector<double> gram(k * k);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j <= i; ++j) gram[i * k + j] = gram[j * k + i] = deltas[i].dot(deltas[j]);
        const std::vector<double> alpha = solve_mira(gram, losses, options.rule.C);
        double q = 0.0;
        difference_.clear();
        for (std::size_t j = 0; j < k; ++j) {
            if (alpha[j] == 0.0) continue;
            for (const FeatureDifference::Term& term : deltas[j].terms())
                difference_.add(term.place, alpha[j] * term.value);
            q = std::max(q, gram[j * k + j]);
        }
        if (difference_.squared_norm() == 0.0) return;
        Delta{model, difference_, options.averaged, edge}.apply({1.0, 1.0});
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
    SequenceScores scores_{model};
    Viterbi viterbi_;
    SegmentViterbi segments_;
    Potentials potentials_;
    FeatureDifference difference_;
    std::vector<int> path_, best_, target_;
    std::vector<float> constrained_;
    std::vector<ScoredPath> rivals_;
};

}  // namespace perceptive
