// What is said of the label of a token: a label ≥ 0 is that one, −1 says nothing, −2 − c that it is one of choice c.
#pragma once

#include <vector>

#include "rows.hpp"

namespace perceptive {

constexpr std::int32_t ANY_LABEL = -1;

class Choices {
  public:
    Choices() = default;
    explicit Choices(const std::vector<std::vector<i64>>& members) {
        for (const std::vector<i64>& labels : members) {
            in_.emplace_back();
            for (const i64 y : labels) {
                if (y >= static_cast<i64>(in_.back().size())) in_.back().resize(static_cast<std::size_t>(y) + 1, 0);
                in_.back()[y] = 1;
            }
        }
    }

    // Whether a number says anything at all.
    bool known(std::int32_t said) const { return said >= ANY_LABEL || -2 - static_cast<i64>(said) < size(); }

    bool allow(std::int32_t said, i64 y) const {
        if (said >= ANY_LABEL) return said == ANY_LABEL || y == said;
        const std::vector<char>& in = in_[-2 - said];
        return y < static_cast<i64>(in.size()) && in[y];
    }

    // each(y) for those of n labels that are not allowed
    template <class Each>
    void each_other(std::int32_t said, i64 n, Each each) const {
        if (said == ANY_LABEL) return;
        for (i64 y = 0; y < n; ++y)
            if (!allow(said, y)) each(y);
    }

    // The labels of a choice, the lowest first.
    template <class Each>
    void each_member(std::int32_t said, Each each) const {
        const std::vector<char>& in = in_[-2 - said];
        for (std::size_t y = 0; y < in.size(); ++y)
            if (in[y]) each(y);
    }

  private:
    i64 size() const { return static_cast<i64>(in_.size()); }

    std::vector<std::vector<char>> in_;
};

}  // namespace perceptive
