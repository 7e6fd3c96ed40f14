// Updates of sequence models, as a journal keeps them: step k adds step[i] to the weight at place[i].
#pragma once

#include <vector>

#include "journal.hpp"
#include "sequence/label_rows.hpp"

namespace perceptive {

struct WeightUpdates : SummedTerms {
    std::vector<Place> place;
    std::vector<float> step;

    void add(Place at, float by) {
        place.push_back(at);
        step.push_back(by);
    }
    void close_step(double) { end_step(place.size()); }

    // Labels were n, now they are more: the same weights at their new places.
    void widen(i64 n, i64 more) {
        const i64 S = padded(n), T = padded(more);
        for (Place& at : place) {
            const WeightKind kind = kind_of_place(at);
            i64 row = offset_of(at) / S;
            if (kind != WeightKind::state) row = row / n * more + row % n;
            at = place_of(kind, row * T + offset_of(at) % S) | (at & SHARED);
        }
    }
};

using WeightJournal = Journal<WeightUpdates>;

}  // namespace perceptive
