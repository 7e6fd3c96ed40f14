// 64 bits of each example with its label and weight; their sum is a fingerprint that does not depend on the order.
//
// h = row·ODD + label,  with a weight: h ← (h ⊕ h ≫ 32)·(bits of the weight | 1),  and then (h ⊕ h ≫ 29)·ODD
#pragma once

#include <cstring>

#include "rows.hpp"

namespace perceptive {

constexpr std::uint64_t ODD = 0x9E3779B97F4A7C15ull;

inline std::uint64_t example_hash(std::uint64_t row, std::uint64_t label, const double* weight) {
    std::uint64_t h = row * ODD + label;
    if (weight) {
        std::uint64_t bits;
        std::memcpy(&bits, weight, sizeof bits);
        h = (h ^ h >> 32) * (bits | 1);
    }
    return (h ^ h >> 29) * ODD;
}

}  // namespace perceptive
