// Ranking in the dual: v = Σ α φ(x) over candidates that were learned from, δ = Σ share·φ(x) over those of one list.
//
// Scores of a block of lists are made outside, from kernel values with the supports so far. scan_lists() plays the
// block from where it stands to the next list that is learned from; the caller knows ‖δ‖² by the kernel, takes the
// step, and mends the scores of the lists to come. See reference/dual_ranking.py.
#pragma once

#include "tasks/ranking.hpp"

namespace perceptive {

struct ListStop {
    i64 list;                         // that is learned from; as many as there are: none
    Progress run = {};                // rounds, mistakes and criterion up to and with it
    double margin = 0.0, cost = 0.0;  // v·δ, and what it should be
};

// `extra` has for each list what its id feature adds to every margin; the shares of the list are then in pairs.shares.
inline ListStop scan_lists(const double* scores, const Lists& lists, const double* extra, i64 n_lists, i64 begin,
                           const Rule& rule, ListPairs& pairs) {
    ListStop stop{n_lists};
    for (i64 t = begin; t < n_lists; ++t) {
        const i64 first = lists.starts[t], n = lists.starts[t + 1] - first;
        const double* grades = lists.grades + first;
        if ((lists.weights && lists.weights[t] == 0.0) || all_equal(grades, n)) continue;  // no pair to learn from
        ++stop.run.rounds;
        const double* gains = lists.gains ? lists.gains + first : nullptr;
        const bool wanted = pairs.choose(rule, lists.pairs, grades, scores + first, gains, n, extra[t]);
        if (pairs.mistake()) stop.run.mistake(pairs.lead);
        if (!wanted) continue;
        stop.list = t;
        stop.margin = extra[t];
        stop.cost = pairs.cost;
        for (i64 j = 0; j < n; ++j)
            if (pairs.shares[j] != 0.0) stop.margin += pairs.shares[j] * scores[first + j];
        break;
    }
    return stop;
}

}  // namespace perceptive
