// Which labels may follow which, of many labels under constraints such as BIOES: labels that may be followed by the
// same ones form a group. After I-PER come two labels, of however many.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rows.hpp"

namespace perceptive {

struct Followers {
    static constexpr i64 FEW = 8;  // a group has few followers if they are at most one in so many labels

    std::vector<std::int32_t> group;             // of each label
    std::vector<std::vector<std::int32_t>> few;  // of each group: who follows, in ascending order; empty if many do

    // pair[p·L + y]: whether y may follow p.
    Followers() = default;
    Followers(const std::vector<char>& pair, i64 L) {
        std::map<std::string, std::int32_t> groups;
        for (i64 p = 0; p < L; ++p) {
            const std::string row(pair.begin() + p * L, pair.begin() + (p + 1) * L);
            const auto [at, fresh] = groups.emplace(row, static_cast<std::int32_t>(few.size()));
            group.push_back(at->second);
            if (!fresh) continue;
            few.emplace_back();
            for (i64 y = 0; y < L; ++y)
                if (row[y]) few.back().push_back(static_cast<std::int32_t>(y));
            if (static_cast<i64>(few.back().size()) * FEW > L) few.back().clear();
        }
    }
};

}  // namespace perceptive
