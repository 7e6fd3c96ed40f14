// Every update of a sequence model as it was, so that every v_k can be had again and can vote: what journal.hpp is to
// rows of features.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "sequence/label_rows.hpp"

namespace perceptive {

struct UpdateLog {
    i64 max_voters = 0;            // 0: all
    std::vector<i64> survival{0};  // one per voter, the present one included
    std::vector<i64> first{0};     // terms of step k: [first[k], first[k + 1])
    std::vector<Place> place;
    std::vector<float> step;

    i64 voters() const { return static_cast<i64>(survival.size()); }
    void predicted() { ++survival.back(); }
    void add(Place at, float by) {
        place.push_back(at);
        step.push_back(by);
    }
    void close() {
        first.push_back(static_cast<i64>(place.size()));
        survival.push_back(0);
        if (max_voters > 0 && voters() > 2 * max_voters + 2) thin();
    }

    // Keep the max_voters longest survivors (the earlier of equals) and the present voter; the steps between are
    // joined.
    void thin() {
        if (max_voters <= 0 || voters() <= max_voters) return;
        std::vector<i64> order(static_cast<std::size_t>(voters() - 1));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) { return survival[a] > survival[b]; });
        std::vector<char> keep(survival.size(), 0);
        for (i64 i = 0; i < std::min<i64>(max_voters, static_cast<i64>(order.size())); ++i) keep[order[i]] = 1;
        keep.back() = 1;
        std::vector<i64> survived{keep[0] ? survival[0] : 0}, begins{0};
        for (std::size_t k = 1; k < survival.size(); ++k) {
            if (!keep[k]) continue;
            begins.push_back(first[k]);
            survived.push_back(survival[k]);
        }
        survival = std::move(survived);
        first = std::move(begins);
    }

    // Labels were n, now they are more: the same weights at their new places.
    void widen(i64 n, i64 more) {
        const i64 S = padded(n), T = padded(more);
        for (Place& at : place) {
            const i64 offset = offset_of(at);
            const Place shared = at & SHARED;
            i64 to = 0;
            if (kind_of_place(at) == WeightKind::state) {
                to = offset / S * T + offset % S;
            } else if (kind_of_place(at) == WeightKind::edge) {
                to = offset / (n * S) * more * T + offset % (n * S) / S * T + offset % S;
            } else {
                to = (offset / (n * S) * more + offset % (n * S) / S) * T + offset % S;
            }
            at = place_of(kind_of_place(at), to) | shared;
        }
    }
};

}  // namespace perceptive
