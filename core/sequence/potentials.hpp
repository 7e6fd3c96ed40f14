// The features of a sentence added up: from rows of weights to the trellis.
#pragma once

#include <algorithm>
#include <vector>

#include "sequence/row_store.hpp"
#include "sequence/segments.hpp"
#include "sequence/trellis.hpp"

namespace perceptive {

// out[0 .. S) = Σ rows (times values)
PERCEPTIVE_CLONES inline void sum_rows(const float* const* rows, const float* values, i64 count, i64 S, float* out) {
    for (i64 c = 0; c < S; c += 3 * BLOCK) {
        const i64 blocks = std::min<i64>(3, (S - c) / BLOCK);
        Eight a = all_eight(0.0f), b = a, d = a;
        if (values) {
            for (i64 i = 0; i < count; ++i) {
                const float* row = rows[i] + c;
                const Eight x = all_eight(values[i]);
                a += x * load_eight(row);
                if (blocks > 1) b += x * load_eight(row + BLOCK);
                if (blocks > 2) d += x * load_eight(row + 2 * BLOCK);
            }
        } else if (blocks == 3) {
            for (i64 i = 0; i < count; ++i) {
                const float* row = rows[i] + c;
                a += load_eight(row);
                b += load_eight(row + BLOCK);
                d += load_eight(row + 2 * BLOCK);
            }
        } else {
            for (i64 i = 0; i < count; ++i) {
                const float* row = rows[i] + c;
                a += load_eight(row);
                if (blocks > 1) b += load_eight(row + BLOCK);
            }
        }
        store_eight(out + c, a);
        if (blocks > 1) store_eight(out + c + BLOCK, b);
        if (blocks > 2) store_eight(out + c + 2 * BLOCK, d);
    }
}

// The features of one sentence as rows of weights, and its trellis.
struct Potentials {
    std::vector<const float*> rows;     // of the features that have weights
    std::vector<std::int32_t> numbers;  // of these rows, instead, where they are no vectors
    std::vector<float> values;          // of these, or empty
    std::vector<i64> start;             // token → its first row
    std::vector<float> unary;
    std::vector<const PairWeights*> pairs_at;  // token → its weights of pairs, null: those of all tokens
    std::vector<PairWeights> narrowed;         // of what a beam kept, in the second order
    std::vector<std::int32_t> edge_rows;       // of the token at hand
    std::vector<float> segments;               // scores of segments, as SegmentScores has them
    i64 longest = 0;                           // tokens of the longest segment of this sentence
    Trellis trellis;
};

// The rows of a sentence, as its features are looked up token by token: at most so many.
class RowsOfSentence {
  public:
    RowsOfSentence(const RowStore& store, std::size_t most, Potentials& x)
        : store_(store), all_(store.all()), vectors_(store.vectors()), x_(x) {
        if (x.rows.size() < most) x.rows.resize(most);
        x.numbers.clear(), x.values.clear(), x.start.assign(1, 0);
        next_ = x.rows.data();
    }

    PERCEPTIVE_INLINE void add(std::int32_t r) {
        if (vectors_) {
            const float* const row = all_[r];
            __builtin_prefetch(row);
            if (all_.width > 16) __builtin_prefetch(row + 16);
            *next_++ = row;
        } else {
            store_.prefetch(r);
            x_.numbers.push_back(r);
        }
    }
    void end_token() { x_.start.push_back(vectors_ ? next_ - x_.rows.data() : static_cast<i64>(x_.numbers.size())); }

  private:
    const RowStore& store_;
    const RowVectors all_;
    const bool vectors_;
    Potentials& x_;
    const float** next_;
};

}  // namespace perceptive
