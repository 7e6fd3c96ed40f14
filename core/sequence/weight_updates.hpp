// Updates of sequence models, as a journal keeps them: step k adds step[i] to the weight at place[i].
#pragma once

#include <utility>
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

using WeightJournal = Journal<WeightUpdates>;

}  // namespace perceptive
