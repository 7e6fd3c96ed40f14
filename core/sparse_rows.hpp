// Rows of weights without those that are still at their start, which grow one entry at a time.
//
// The entries of a row lie side by side in the order of their columns, in a block of 2, 3, 4, 6, 8, 12, … entries; a
// row that outgrows its block moves to the next size, and its block is used again. A row that has got a quarter of its
// columns is spread out: then that takes less work, and hardly more memory. Rows that were never written to are not
// there.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "require.hpp"
#include "rows.hpp"

namespace perceptive {

constexpr i64 WIDEST_VECTOR = 64;  // columns: rows that are wider are kept without their zeros

template <class W>
struct WeightEntry {
    W weight;
    std::int32_t column;
};

template <class W>
class SparseRows {
  public:
    using Entry = WeightEntry<W>;

    explicit SparseRows(i64 width, W start = 0) : width_(width), most_(std::min(width / 4, CHUNK / 2)), start_(start) {}
    SparseRows(SparseRows&&) = default;
    SparseRows& operator=(SparseRows&&) = default;
    SparseRows(const SparseRows&) = delete;

    i64 width() const { return width_; }
    i64 size() const { return size_; }  // up to the last row that is there
    W start() const { return start_; }

    W get(i64 r, i64 column) const {
        if (r >= size()) return start_;
        const Row& row = rows_[r];
        if (row.size == SPREAD) return spread_[row.at][column];
        const Entry* const begin = block(row.at);
        const Entry* const at = find(begin, row.size, column);
        return at < begin + row.size && at->column == column ? at->weight : start_;
    }

    // A weight to be written to, which is there from now on.
    W& at(i64 r, i64 column) {
        reach(r);
        Row& row = rows_[r];
        if (row.size == SPREAD) return spread_[row.at][column];
        const i64 n = row.size;
        Entry* begin = block(row.at);
        const i64 i = find(begin, n, column) - begin;
        if (i < n && begin[i].column == column) return begin[i].weight;
        if (n >= most_) return spread(r)[column];
        if (n == 0 || fills_block(n)) {
            const std::uint32_t to = take(n + 1);
            if (n > 0) {
                std::memcpy(block(to), begin, static_cast<std::size_t>(n) * sizeof(Entry));
                free_[block_class(n)].push_back(row.at);
            }
            row.at = to;
            begin = block(to);
        }
        std::memmove(begin + i + 1, begin + i, static_cast<std::size_t>(n - i) * sizeof(Entry));
        begin[i] = {start_, static_cast<std::int32_t>(column)};
        ++row.size;
        return begin[i].weight;
    }

    // weight[r][column] += step; a call, so that those who also have vectors stay small
    __attribute__((noinline)) void write(i64 r, i64 column, W step) { at(r, column) += step; }

    // Have n weights in a row, at columns that rise; its other weights stay as they are.
    template <class Column, class Weight>
    void set(i64 r, i64 n, Column column, Weight weight) {
        if (n > 0 && n < most_ && (r >= size() || rows_[r].size == 0)) {  // a block of the right size at once
            reach(r);
            rows_[r] = {take(n), static_cast<std::uint32_t>(n)};
            Entry* const to = block(rows_[r].at);
            for (i64 i = 0; i < n; ++i) to[i] = {weight(i), static_cast<std::int32_t>(column(i))};
            return;
        }
        if (n >= most_) spread(r);
        for (i64 i = 0; i < n; ++i) at(r, column(i)) = weight(i);
    }

    // A row as a vector of all columns, from now on.
    W* spread(i64 r) {
        reach(r);
        Row& row = rows_[r];
        if (row.size != SPREAD) {
            std::unique_ptr<W[]> all(new W[static_cast<std::size_t>(width_)]);
            std::fill_n(all.get(), width_, start_);
            each(r, [&](i64 column, W weight) { all[column] = weight; });
            if (row.size > 0) free_[block_class(row.size)].push_back(row.at);
            row = {static_cast<std::uint32_t>(spread_.size()), SPREAD};
            spread_.push_back(std::move(all));
        }
        return spread_[row.at].get();
    }
    const W* spread(i64 r) const { return spread_[rows_[r].at].get(); }

    void widen(i64 width) {
        for (std::unique_ptr<W[]>& row : spread_) {
            std::unique_ptr<W[]> all(new W[static_cast<std::size_t>(width)]);
            std::copy_n(row.get(), width_, all.get());
            std::fill_n(all.get() + width_, width - width_, start_);
            row = std::move(all);
        }
        width_ = width, most_ = std::min(width / 4, CHUNK / 2);
    }

    // Column c is now column to[c], for the n columns that are in use.
    void relabel(const i64* to, i64 n) {
        std::vector<W> before(static_cast<std::size_t>(n));
        for (std::unique_ptr<W[]>& row : spread_) {
            std::copy_n(row.get(), n, before.begin());
            for (i64 c = 0; c < n; ++c) row[to[c]] = before[c];
        }
        for (i64 r = 0; r < size(); ++r) {
            const Row& row = rows_[r];
            if (row.size == SPREAD || row.size == 0) continue;
            Entry *const begin = block(row.at), *const end = begin + row.size;
            for (Entry* entry = begin; entry < end; ++entry)
                if (entry->column < n) entry->column = static_cast<std::int32_t>(to[entry->column]);
            std::sort(begin, end, [](const Entry& a, const Entry& b) { return a.column < b.column; });
        }
    }

    // each(column, weight) in the order of columns; some weights may be at their start.
    template <class Each>
    void each(i64 r, Each each) const {
        visit(r, [&](i64 column, const W& weight) { each(column, weight); });
    }
    // The same with weights that may be written to.
    template <class Each>
    void change_each(i64 r, Each each) {
        visit(r, each);
    }

    // to += by · row
    void add_to(i64 r, W by, W* to) const {
        if (r >= size()) return;
        const Row& row = rows_[r];
        if (row.size == SPREAD) {
            const W* const from = spread_[row.at].get();
            for (i64 c = 0; c < width_; ++c) to[c] += by * from[c];
            return;
        }
        const Entry* const begin = block(row.at);
        for (i64 i = 0; i < row.size; ++i) to[begin[i].column] += by * begin[i].weight;
    }

    PERCEPTIVE_PREFETCH void prefetch(i64 r) const { __builtin_prefetch(rows_.get() + r); }
    PERCEPTIVE_PREFETCH void prefetch_entries(i64 r) const {
        if (r >= size()) return;
        const Row& row = rows_[r];
        if (row.size != SPREAD) __builtin_prefetch(block(row.at));
    }

  private:
    struct Row {
        std::uint32_t at, size;  // where its block begins; or where it is among those that are spread out
    };
    struct Free {
        void operator()(Row* p) const { std::free(p); }
    };
    static constexpr std::uint32_t SPREAD = UINT32_MAX;
    static constexpr int SHIFT = 16;
    static constexpr i64 CHUNK = i64{1} << SHIFT;

    // Have row r; of memory for rows that were never written to no page is made.
    void reach(i64 r) {
        if (r < size_) return;
        if (r >= room_) {
            const i64 room = std::max(r + 1, 2 * room_);
            auto* more = static_cast<Row*>(std::calloc(static_cast<std::size_t>(room), sizeof(Row)));
            if (!more) throw std::bad_alloc();
            std::copy_n(rows_.get(), size_, more);
            rows_.reset(more), room_ = room;
        }
        size_ = r + 1;
    }

    template <class Each>
    void visit(i64 r, Each each) const {
        if (r >= size()) return;
        const Row& row = rows_[r];
        if (row.size == SPREAD) {
            for (i64 c = 0; c < width_; ++c) each(c, spread_[row.at][c]);
            return;
        }
        Entry* const begin = block(row.at);
        for (i64 i = 0; i < row.size; ++i) each(static_cast<i64>(begin[i].column), begin[i].weight);
    }

    template <class E>
    static E* find(E* begin, i64 n, i64 column) {
        if (n > 16)
            return std::lower_bound(begin, begin + n, column, [](const Entry& e, i64 c) { return e.column < c; });
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

    Entry* block(std::uint32_t at) const {
        return chunks_.empty() ? nullptr : chunks_[at >> SHIFT].get() + (at & (CHUNK - 1));
    }

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
            require(end_ + CHUNK <= i64{1} << 32, "there are too many weights; use fewer features");
            chunks_.emplace_back(new Entry[static_cast<std::size_t>(CHUNK)]);
        }
        const i64 at = end_;
        end_ += size;
        return static_cast<std::uint32_t>(at);
    }

    i64 width_, most_;
    W start_;  // of weights that are not there
    std::unique_ptr<Row[], Free> rows_;
    i64 size_ = 0, room_ = 0;  // of these
    std::vector<std::unique_ptr<Entry[]>> chunks_;
    i64 end_ = 0;                          // of the last block
    std::vector<std::uint32_t> free_[40];  // blocks to be used again, by size
    std::vector<std::unique_ptr<W[]>> spread_;
};

}  // namespace perceptive
