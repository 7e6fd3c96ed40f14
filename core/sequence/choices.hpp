// What is known of the label of a token: y ≥ 0 is label y, −1 any label, −2 − c one of the labels of choice c.
#pragma once

#include <vector>

#include "require.hpp"
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

    void check(const std::vector<std::int32_t>& given) const {
        for (const std::int32_t label : given)
            require(label >= ANY_LABEL || -2 - static_cast<i64>(label) < static_cast<i64>(in_.size()),
                    "an unknown choice of labels");
    }

    bool allow(std::int32_t given, i64 y) const {
        if (given >= ANY_LABEL) return given == ANY_LABEL || y == given;
        const std::vector<char>& in = in_[-2 - given];
        return y < static_cast<i64>(in.size()) && in[y];
    }

    // each(y) for those of n labels that are not allowed
    template <class Each>
    void each_other(std::int32_t given, i64 n, Each each) const {
        if (given == ANY_LABEL) return;
        if (given > ANY_LABEL) {
            for (i64 y = 0; y < given; ++y) each(y);
            for (i64 y = given + 1; y < n; ++y) each(y);
            return;
        }
        for (i64 y = 0; y < n; ++y)
            if (!allow(given, y)) each(y);
    }

    // The labels of a choice, the lowest first.
    template <class Each>
    void each_member(std::int32_t given, Each each) const {
        const std::vector<char>& in = in_[-2 - given];
        for (std::size_t y = 0; y < in.size(); ++y)
            if (in[y]) each(y);
    }

  private:
    std::vector<std::vector<char>> in_;
};

}  // namespace perceptive
