// The one loop: play the rows in the given order.
//
// On data beyond the caches the cost is waiting for memory, so the bounds, the entries and the weights of coming rows
// are asked for while the present one is learned.
#pragma once

#include "rows.hpp"

namespace perceptive {

constexpr i64 BOUNDS_AHEAD = 16, ROW_AHEAD = 8, WEIGHTS_AHEAD = 1;
constexpr i64 CACHE = i64{1} << 24;  // bytes; rows beyond this come from memory in every epoch

template <class Rows, class Task>
void epoch(const Rows& rows, const i64* order, i64 count, Task& task) {
    const bool passing = rows.bytes() > CACHE, far = task.far();
    for (i64 t = 0; t < count; ++t) {
        if (t + BOUNDS_AHEAD < count) {
            rows.prefetch_bounds(order[t + BOUNDS_AHEAD]);
            task.prefetch_label(order[t + BOUNDS_AHEAD]);
        }
        if (t + ROW_AHEAD < count) {
            if (passing)
                rows.template prefetch_row<true>(order[t + ROW_AHEAD]);
            else
                rows.template prefetch_row<false>(order[t + ROW_AHEAD]);
        }
        if (far && t + WEIGHTS_AHEAD < count) task.prefetch(rows[order[t + WEIGHTS_AHEAD]]);
        task.round(rows[order[t]], order[t]);
    }
}

}  // namespace perceptive
