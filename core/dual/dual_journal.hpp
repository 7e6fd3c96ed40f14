// The journal of one problem in the dual: step k adds Σ step[u]·φ(x_slot[u]) over its terms u to output gain[u], and
// takes it from output loss[u] (−1: none). length2[k] is ‖v_k‖². Rounds come in blocks, not one by one: survivals are
// known up to the last step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ballot.hpp"
#include "journal.hpp"

namespace perceptive {

struct SupportUpdates : SummedTerms {
    std::vector<std::int32_t> slot, gain, loss;
    std::vector<double> step, length2{0.0};

    i64 terms() const { return static_cast<i64>(slot.size()); }
    void add(std::int32_t support, double by, std::int32_t to, std::int32_t from) {
        slot.push_back(support), step.push_back(by), gain.push_back(to), loss.push_back(from);
    }
    void close_step(double) { end_step(slot.size()); }

    void merge_steps(const std::vector<char>& keep) {
        SummedTerms::merge_steps(keep);
        std::size_t k = 0;
        length2.erase(std::remove_if(length2.begin(), length2.end(), [&](double) { return !keep[k++]; }),
                      length2.end());
    }
};

struct DualJournal : Journal<SupportUpdates> {
    i64 rounds = 0;  // up to the last step

    // The terms since the last step are one, made in this round; it leads to a v of this squared length.
    void close_step_at(i64 round, double length2) {
        survival.back() += round - rounds;
        rounds = round;
        updates.length2.push_back(length2);
        close_step(1.0);
    }

    // m_k: for how many of all rounds v_k made the prediction, the one it erred on included.
    std::vector<i64> survivals(i64 all) const {
        std::vector<i64> found = survival;
        found.back() += all - rounds;
        return found;
    }

    // use(k) for v_0, v_1, …, and change(u) for each term between
    template <class Use, class Change>
    void replay(Use use, Change change) const {
        for (i64 k = 0; k < voters(); ++k) {
            use(k);
            if (k + 1 < voters())
                for (i64 u = updates.first[k]; u < updates.first[k + 1]; ++u) change(u);
        }
    }

    // into[slot, output] += Σ_k weights[k]·(v_k − v_0): a step is part of all voters after it.
    void add_coefficients(const double* weights, double* into, i64 outputs) const {
        std::vector<double> share(updates.slot.size());
        double sum = 0.0;
        for (i64 k = voters() - 1; k > 0; --k) {
            sum += weights[k];
            for (i64 u = updates.first[k - 1]; u < updates.first[k]; ++u) share[u] = sum * updates.step[u];
        }
        for (i64 u = 0; u < updates.terms(); ++u) into[updates.slot[u] * outputs + updates.gain[u]] += share[u];
        for (i64 u = 0; u < updates.terms(); ++u)
            if (updates.loss[u] >= 0) into[updates.slot[u] * outputs + updates.loss[u]] -= share[u];
    }

    // Σ_k m_k·sign(score_k) of one example: K is its kernel values with the supports, score that under v_0.
    template <class T>
    i64 votes(const T* K, const std::vector<i64>& m, double score) const {
        i64 sum = 0;
        double error = 0.0;
        replay([&](i64 k) { sum += m[k] * sign_of(score, error); },
               [&](i64 u) { add_term(score, error, updates.step[u] * static_cast<double>(K[updates.slot[u]]), 0.0); });
        return sum;
    }

    // Each v_k votes for its highest score (ties: the lowest index), or not at all where all are equal. `scores` are
    // those under v_0, and used up.
    template <class T>
    void votes(const T* K, const std::vector<i64>& m, double* scores, i64 outputs, i64* votes) const {
        std::vector<double> errors(static_cast<std::size_t>(outputs), 0.0);
        std::fill(votes, votes + outputs, i64{0});
        replay([&](i64 k) { vote(scores, errors.data(), outputs, m[k], votes); },
               [&](i64 u) {
                   const double change = updates.step[u] * static_cast<double>(K[updates.slot[u]]);
                   add_term(scores[updates.gain[u]], errors[updates.gain[u]], change, 0.0);
                   if (updates.loss[u] >= 0) add_term(scores[updates.loss[u]], errors[updates.loss[u]], -change, 0.0);
               });
    }

    // The same for the n candidates of a list, of which K has a row each; v_0 is 0.
    template <class T>
    void list_votes(const T* K, i64 supports, const std::vector<i64>& m, i64 n, i64* votes) const {
        std::vector<double> scores(static_cast<std::size_t>(n), 0.0), errors(scores);
        std::fill(votes, votes + n, i64{0});
        replay(
            [&](i64 k) {
                if (m[k] > 0) vote(scores.data(), errors.data(), n, m[k], votes);
            },
            [&](i64 u) {
                for (i64 j = 0; j < n; ++j)
                    add_term(scores[j], errors[j],
                             updates.step[u] * static_cast<double>(K[j * supports + updates.slot[u]]), 0.0);
            });
    }

  private:
    static void vote(const double* scores, const double* errors, i64 n, i64 m, i64* votes) {
        Choice choice{0, scores[0], errors[0]};
        for (i64 c = 1; c < n; ++c) choice.meet(c, scores[c], errors[c]);
        if (!choice.all_equal) votes[choice.best] += m;
    }
};

}  // namespace perceptive
