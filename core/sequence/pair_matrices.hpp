// The weights of pairs of labels at tokens that have features of two labels.
//
// Tokens with the same features have the same weights, and few features look at two labels: a matrix is made when its
// features are first met, and kept while it is true.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "sequence/model.hpp"

namespace perceptive {

class PairMatrices {
  public:
    explicit PairMatrices(const SequenceModel& model) : model_(model) {}

    // v is another.
    void clear() { matrices_.clear(); }
    // No sentence looks at a matrix now: if there are many, they go.
    void begin_sentence() {
        if (matrices_.size() > MOST) clear();
    }

    // The weights `all` of every token and those of some features; it stays where it is until the next sentence.
    const PairWeights* of(const std::vector<std::int32_t>& rows, const LabelWeights& v, const PairWeights& all) {
        for (const auto& matrix : matrices_)
            if (matrix->rows == rows) return &matrix->pairs;
        matrices_.push_back(std::make_unique<Matrix>(Matrix{rows, all}));
        PairWeights& pairs = matrices_.back()->pairs;
        for (const std::int32_t r : rows) {
            if (v.edge.vectors()) {
                const float* from = v.edge.row(r);
                for (std::size_t j = 0; j < pairs.edge.size(); ++j) pairs.edge[j] += from[j];
            } else {
                v.edge.add_to(r, 1.0f, pairs.edge.data());
            }
        }
        if (pairs.bounded()) pairs.bound(model_.L, model_.S);
        return &pairs;
    }

    // v's weight of a pair has changed, and `all` with it.
    void change(const LabelWeights& v, Place place, const PairWeights& all) {
        const i64 size = model_.L * model_.S, row = offset_of(place) / size, at = offset_of(place) % size;
        if (place & SHARED) return clear();  // several weights at once
        for (const auto& matrix : matrices_) {
            const std::vector<std::int32_t>& rows = matrix->rows;
            if (row > 0 && std::find(rows.begin(), rows.end(), row) == rows.end()) continue;
            float& edge = matrix->pairs.edge[at];
            edge = all.edge[at];
            for (const std::int32_t r : rows) edge += v.edge.get(r, at);
            if (matrix->pairs.bounded()) matrix->pairs.meet(at / model_.S, edge);
        }
    }

  private:
    struct Matrix {
        std::vector<std::int32_t> rows;
        PairWeights pairs;
    };
    static constexpr std::size_t MOST = 16;

    const SequenceModel& model_;
    std::vector<std::unique_ptr<Matrix>> matrices_;
};

}  // namespace perceptive
