// What a beam keeps of the states at a token.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "sequence/trellis.hpp"

namespace perceptive {

// The largest values of some rows of S numbers, as many as a beam has room for; the earlier of equals.
class Beam {
  public:
    void begin(i64 room) { room_ = static_cast<std::size_t>(room), heap_.clear(); }

    // A row that is to be cut later.
    PERCEPTIVE_CLONES void see(const float* row, i64 S) {
        for (i64 c = 0; c < S; c += BLOCK) {
            const auto some = load_eight(row + c) > all_eight(least());
            std::int64_t any[BLOCK / 2];
            std::memcpy(any, &some, sizeof any);
            if (!(any[0] | any[1] | any[2] | any[3])) continue;
            for (int i = 0; i < BLOCK; ++i)
                if (row[c + i] > least()) add(row[c + i]);
        }
        equal_ = std::count(heap_.begin(), heap_.end(), least());
    }

    // All but the largest become −∞. Every row was seen, and comes in the same order.
    PERCEPTIVE_CLONES void cut(float* row, i64 S) {
        const Eight never = all_eight(NEVER), last = all_eight(least());
        if (least() == NEVER) return;  // there is room for all
        for (i64 c = 0; c < S; c += BLOCK) {
            const Eight x = load_eight(row + c);
            const auto same = x == last;
            std::int64_t any[BLOCK / 2];
            std::memcpy(any, &same, sizeof any);
            if (!(any[0] | any[1] | any[2] | any[3])) {
                store_eight(row + c, x > last ? x : never);
                continue;
            }
            for (int i = 0; i < BLOCK; ++i)
                if (row[c + i] < least() || (row[c + i] == least() && equal_-- <= 0)) row[c + i] = NEVER;
        }
    }

  private:
    float least() const { return heap_.size() < room_ ? NEVER : heap_.front(); }
    void add(float value) {
        const std::greater<float> smallest_first;
        if (heap_.size() == room_) std::pop_heap(heap_.begin(), heap_.end(), smallest_first), heap_.pop_back();
        heap_.push_back(value);
        std::push_heap(heap_.begin(), heap_.end(), smallest_first);
    }

    std::size_t room_ = 0;
    i64 equal_ = 0;  // how many of the least have room
    std::vector<float> heap_;
};

}  // namespace perceptive
