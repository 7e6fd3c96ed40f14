// The weights of many classes: of each feature only those of the classes that have erred on it.
//
// Python sees them as cells: the places of weights that are no longer at their start, counted feature by feature, and
// the values there.
#pragma once

#include <optional>
#include <vector>

#include "sparse_rows.hpp"

namespace perceptive {

template <class W>
struct Cells {
    std::vector<i64> at;  // feature · stride + class, rising
    std::vector<W> z, sum, sigma;
};

template <class W>
struct SparseWeights {
    SparseRows<W> z;
    std::optional<SparseRows<W>> sum, sigma;  // the average's accumulator, AROW's Σ

    SparseWeights(i64 width, bool averaged, bool adaptive) : z(width) {
        if (averaged) sum.emplace(width);
        if (adaptive) sigma.emplace(width, W{1});
    }

    i64 width() const { return z.width(); }  // room for classes

    // each(rows) for those that there are
    template <class Each>
    void change(Each each) {
        each(z);
        if (sum) each(*sum);
        if (sigma) each(*sigma);
    }

    Cells<W> cells(i64 stride) const {
        Cells<W> found;
        Merged of_z{z}, of_sum{sum ? *sum : z}, of_sigma{sigma ? *sigma : z};
        const i64 size = std::max({z.size(), sum ? sum->size() : 0, sigma ? sigma->size() : 0});
        std::size_t n = 0;
        for (i64 r = 0; r < z.size(); ++r) z.each(r, [&](i64, W) { ++n; });
        found.at.reserve(n), found.z.reserve(n), found.sum.reserve(sum ? n : 0), found.sigma.reserve(sigma ? n : 0);
        for (i64 r = 0; r < size; ++r) {
            of_z.begin(r), of_sum.begin(r), of_sigma.begin(r);
            for (;;) {
                const std::int32_t c = std::min({of_z.column(), of_sum.column(), of_sigma.column()});
                if (c == NONE) break;
                found.at.push_back(r * stride + c);
                found.z.push_back(of_z.take(c));
                const W in_sum = of_sum.take(c), in_sigma = of_sigma.take(c);
                if (sum) found.sum.push_back(in_sum);
                if (sigma) found.sigma.push_back(in_sigma);
            }
        }
        return found;
    }

  private:
    static constexpr std::int32_t NONE = INT32_MAX;

    // The entries of a row that are not at their start, one after the other.
    struct Merged {
        const SparseRows<W>& rows;
        std::vector<WeightEntry<W>> entries{};
        std::size_t next = 0;

        void begin(i64 r) {
            entries.clear(), next = 0;
            const W start = rows.start();
            rows.each(r, [&](i64 c, W weight) {  // −0 is not 0
                if (std::memcmp(&weight, &start, sizeof(W)) != 0)
                    entries.push_back({weight, static_cast<std::int32_t>(c)});
            });
        }
        std::int32_t column() const { return next < entries.size() ? entries[next].column : NONE; }
        W take(std::int32_t c) { return column() == c ? entries[next++].weight : rows.start(); }
    };
};

}  // namespace perceptive
