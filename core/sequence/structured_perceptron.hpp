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

#include <algorithm>
#include <deque>
#include <exception>
#include <numeric>
#include <vector>

#include "parallel.hpp"
#include "sequence/competitor.hpp"
#include "sequence/draft.hpp"
#include "sequence/simplex_qp.hpp"

namespace perceptive {

class StructuredPerceptron {
  public:
    explicit StructuredPerceptron(SequenceModel& model) : model(model) {}

    void play(const Sentences& data, SentenceRows& rows, const i64* order, i64 count, const SequenceOptions& options) {
        PairWeights edge = model.masked_edges(model.w);
        batch_.resize(static_cast<std::size_t>(options.batch));
        Team team(static_cast<int>(std::min<i64>(options.threads, options.batch)));
        while (static_cast<int>(searches_.size()) < team.size()) searches_.emplace_back(model);
        for (CompetitorSearch& search : searches_) search.forget();
        i64 begin = 0;
        const auto answer = [&](int thread, i64 turn) {
            Member& member = batch_[turns_[turn]];
            const i64 i = order[begin + turns_[turn]];
            member.failure = nullptr;
            try {
                searches_[thread].find(data, rows, i, options, edge, member.answer);
                const Answer& found = member.answer;
                if (found.learns && options.rule.name != RuleName::mira)
                    draft(model, data, rows, i, found.target, found.path, member.draft);
            } catch (...) {
                member.failure = std::current_exception();
            }
        };
        for (; begin < count; begin += options.batch) {
            const i64 size = std::min(options.batch, count - begin);
            longest_first(data, order + begin, size);
            team.run(size, answer);  // who does what does not matter
            for (i64 j = 0; j < size; ++j)
                if (batch_[j].failure) std::rethrow_exception(batch_[j].failure);
            learn(data, rows, order + begin, size, options, edge);
        }
    }

  private:
    using SentenceRound = Round<true, WeightJournal>;

    struct Member {
        Answer answer;
        Draft draft;
        std::exception_ptr failure = {};
    };

    // The turns in which a batch is answered, so that threads are done at about the same time.
    void longest_first(const Sentences& data, const i64* order, i64 size) {
        const auto length = [&](i64 j) { return data.start[order[j] + 1] - data.start[order[j]]; };
        turns_.resize(static_cast<std::size_t>(size));
        std::iota(turns_.begin(), turns_.end(), i64{0});
        std::sort(turns_.begin(), turns_.end(), [&](i64 j, i64 k) { return length(j) > length(k); });
    }

    // Count the answers to some sentences, and learn from them.
    void learn(const Sentences& data, SentenceRows& rows, const i64* order, i64 size, const SequenceOptions& options,
               PairWeights& edge) {
        const SentenceRound round{options.rule, false, model.run, model.log()};
        for (i64 j = 0; j < size; ++j) {
            const Answer& found = batch_[j].answer;
            round.begin();
            model.fingerprint += data.hash[order[j]];
            if (found.mistake) round.mistake(found.m);
        }
        if (options.rule.name == RuleName::mira) {
            for (i64 j = 0; j < size; ++j)
                if (batch_[j].answer.learns) mira(data, rows, order[j], batch_[j], options, round, edge);
            return;
        }
        for (i64 j = 0; j < size; ++j)  // all of them before v moves
            if (batch_[j].answer.learns) batch_[j].draft.complete(model, rows);
        for (i64 j = 0; j < size; ++j) {
            Member& member = batch_[j];
            if (!member.answer.learns) continue;
            const double m = member.draft.m;
            const double cost = options.hamming ? hamming_cost(member.answer.path, data, data.start[order[j]]) : 1.0;
            const bool wrong = options.rule.name == RuleName::perceptron && (options.hamming || errs(m));
            const double weight = data.weight.empty() ? 1.0 : data.weight[order[j]];
            if (round.wants_update(m, wrong, cost))
                round.update(m, cost, weight, Delta{model, member.draft.delta, options.averaged, edge, searches_});
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

    void mira(const Sentences& data, SentenceRows& rows, i64 i, Member& member, const SequenceOptions& options,
              const SentenceRound& round, PairWeights& edge) {
        const Answer& found = member.answer;
        std::vector<Draft> drafts;
        std::vector<double> losses;
        double worst = 0.0;
        for (const ScoredPath& rival : found.rivals) {
            if (rival.labels == found.target) continue;
            if (static_cast<i64>(drafts.size()) == options.k) break;
            Draft& one = drafts.emplace_back();
            draft(model, data, rows, i, found.target, rival.labels, one);
            const bool moves = !one.missing.empty();
            one.complete(model, rows);
            if (moves) one.delta.find_again();
            losses.push_back(hamming_cost(rival.labels, data, data.start[i]) - one.m);
            worst = std::max(worst, losses.back());
        }
        if (worst <= LOSS_FLOOR) return;
        const std::size_t k = drafts.size();
        std::vector<double> gram(k * k);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j <= i; ++j)
                gram[i * k + j] = gram[j * k + i] = drafts[i].delta.dot(drafts[j].delta);
        const std::vector<double> alpha = solve_mira(gram, losses, options.rule.C);
        double q = 0.0;
        FeatureDifference& together = member.draft.delta;
        together.clear();
        for (std::size_t j = 0; j < k; ++j) {
            if (alpha[j] == 0.0) continue;
            for (const FeatureDifference::Term& term : drafts[j].delta.terms())
                together.add(term.place, alpha[j] * term.value);
            q = std::max(q, gram[j * k + j]);
        }
        if (together.squared_norm() == 0.0) return;
        Delta{model, together, options.averaged, edge, searches_}.apply({1.0, 1.0});
        round.close(1.0, q);
    }

    SequenceModel& model;
    std::deque<CompetitorSearch> searches_;  // of each thread
    std::vector<Member> batch_;
    std::vector<i64> turns_;
};

}  // namespace perceptive
