// Rows of weights without their zeros, which grow one entry at a time.
//
// The entries of a row lie side by side in the order of their columns, in a block of 2, 3, 4, 6, 8, 12, … entries; a
// row that outgrows its block moves to the next size, and its block is used again. A row that has got a quarter of its
// columns is spread out: then that takes less work, and hardly more memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "require.hpp"
#include "rows.hpp"

namespace perceptive {

struct WeightEntry {
    float weight;
    std::int32_t column;
};

class SparseRows {
  public:
    explicit SparseRows(i64 width) : width_(width), most_(std::min(width / 4, CHUNK / 2)) {}

    i64 size() const { return static_cast<i64>(rows_.size()); }
    void add() { rows_.push_back({0, 0}); }

    float get(i64 r, i64 column) const {
        const Row& row = rows_[r];
        if (row.size == SPREAD) return spread_[row.at][column];
        const WeightEntry* const begin = block(row.at);
        const WeightEntry* const at = find(begin, row.size, column);
        return at < begin + row.size && at->column == column ? at->weight : 0.0f;
    }

    // weight[r][column] += step; a call, so that those who also have vectors stay small
    __attribute__((noinline)) void write(i64 r, i64 column, float step) {
        Row& row = rows_[r];
        if (row.size == SPREAD) {
            spread_[row.at][column] += step;
            return;
        }
        const i64 n = row.size;
        WeightEntry* begin = block(row.at);
        i64 i = find(begin, n, column) - begin;
        if (i < n && begin[i].column == column) {
            begin[i].weight += step;
            return;
        }
        if (n >= most_) {
            spread(r)[column] += step;
            return;
        }
        if (n == 0 || fills_block(n)) {
            const std::uint32_t to = take(n + 1);
            if (n > 0) {
                std::memcpy(block(to), begin, static_cast<std::size_t>(n) * sizeof(WeightEntry));
                free_[block_class(n)].push_back(row.at);
            }
            row.at = to;
            begin = block(to);
        }
        std::memmove(begin + i + 1, begin + i, static_cast<std::size_t>(n - i) * sizeof(WeightEntry));
        begin[i] = {step, static_cast<std::int32_t>(column)};
        ++row.size;
    }

    // A row as a vector of all columns, from now on.
    float* spread(i64 r) {
        Row& row = rows_[r];
        if (row.size != SPREAD) {
            auto all = std::make_unique<float[]>(static_cast<std::size_t>(width_));
            add_to(r, 1.0f, all.get());
            if (row.size > 0) free_[block_class(row.size)].push_back(row.at);
            row = {static_cast<std::uint32_t>(spread_.size()), SPREAD};
            spread_.push_back(std::move(all));
        }
        return spread_[row.at].get();
    }
    const float* spread(i64 r) const { return spread_[rows_[r].at].get(); }

    // each(column, weight) in the order of columns; some weights may be 0.
    template <class Each>
    void each(i64 r, Each each) const {
        const Row& row = rows_[r];
        if (row.size == SPREAD) {
            for (i64 c = 0; c < width_; ++c) each(c, spread_[row.at][c]);
            return;
        }
        const WeightEntry* const begin = block(row.at);
        for (i64 i = 0; i < row.size; ++i) each(static_cast<i64>(begin[i].column), begin[i].weight);
    }

    // to += by · row
    void add_to(i64 r, float by, float* to) const {
        const Row& row = rows_[r];
        if (row.size == SPREAD) {
            const float* const from = spread_[row.at].get();
            for (i64 c = 0; c < width_; ++c) to[c] += by * from[c];
            return;
        }
        const WeightEntry* const begin = block(row.at);
        for (i64 i = 0; i < row.size; ++i) to[begin[i].column] += by * begin[i].weight;
    }

    void prefetch(i64 r) const { __builtin_prefetch(rows_.data() + r); }
    void prefetch_entries(i64 r) const {
        const Row& row = rows_[r];
        if (row.size != SPREAD) __builtin_prefetch(block(row.at));
    }

  private:
    struct Row {
        std::uint32_t at, size;  // where its block begins; or where it is among those that are spread out
    };
    static constexpr std::uint32_t SPREAD = UINT32_MAX;
    static constexpr int SHIFT = 16;
    static constexpr i64 CHUNK = i64{1} << SHIFT;

    static const WeightEntry* find(const WeightEntry* begin, i64 n, i64 column) {
        if (n > 16)
            return std::lower_bound(begin, begin + n, column, [](const WeightEntry& e, i64 c) { return e.column < c; });
        while (n > 0 && begin->column < column) ++begin, --n;
        return begin;
    }

    static i64 block_size(int k) { return (k % 2 ? i64{3} : i64{2}) << (k / 2); }
    static int block_class(i64 n) {
        int k = 0;
        while (block_size(k) < n) ++k;
        return k;
    }
    static bool fills_block(i64 n) { return block_size(block_class(n)) == n; }

    WeightEntry* block(std::uint32_t at) { return at_chunk(at); }
    const WeightEntry* block(std::uint32_t at) const { return at_chunk(at); }
    WeightEntry* at_chunk(std::uint32_t at) const {
        return chunks_.empty() ? nullptr : chunks_[at >> SHIFT].get() + (at & (CHUNK - 1));
    }

    // A block for n entries.
    std::uint32_t take(i64 n) {
        const int k = block_class(n);
        if (!free_[k].empty()) {
            const std::uint32_t at = free_[k].back();
            free_[k].pop_back();
            return at;
        }
        const i64 size = block_size(k);
        if (end_ + size > static_cast<i64>(chunks_.size()) << SHIFT) {
            end_ = static_cast<i64>(chunks_.size()) << SHIFT;
            require(end_ + CHUNK <= i64{1} << 32,
                    "there are too many weights; raise min_count, or use fewer templates");
            chunks_.emplace_back(new WeightEntry[static_cast<std::size_t>(CHUNK)]);
        }
        const i64 at = end_;
        end_ += size;
        return static_cast<std::uint32_t>(at);
    }

    i64 width_, most_;
    std::vector<Row> rows_;
    std::vector<std::unique_ptr<WeightEntry[]>> chunks_;
    i64 end_ = 0;                          // of the last block
    std::vector<std::uint32_t> free_[40];  // blocks to be used again, by size
    std::vector<std::unique_ptr<float[]>> spread_;
};

}  // namespace perceptive
