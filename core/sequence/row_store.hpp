// Rows of weights of one width, by number: for few labels as vectors, for many without their zeros.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "large_pages.hpp"
#include "sparse_rows.hpp"

namespace perceptive {

// Rows without their zeros that do not change: entries [start[r], start[r + 1]) of `entry`, in the order of columns.
struct PackedRows {
    using Entry = WeightEntry<float>;
    LargeVector<std::uint32_t> start{0};
    LargeVector<Entry> entry;

    i64 size() const { return static_cast<i64>(start.size()) - 1; }
    void prefetch(i64 r) const { __builtin_prefetch(start.data() + r); }
    void prefetch_entries(i64 r) const { __builtin_prefetch(entry.data() + start[r]); }
    float get(i64 r, i64 column) const {
        float found = 0.0f;
        each(r, [&](i64 c, float weight) { found = c == column ? weight : found; });
        return found;
    }
    void add_to(i64 r, float by, float* to) const {
        for (std::uint32_t i = start[r]; i < start[r + 1]; ++i) to[entry[i].column] += by * entry[i].weight;
    }
    template <class Each>
    void each(i64 r, Each each) const {
        for (std::uint32_t i = start[r]; i < start[r + 1]; ++i)
            each(static_cast<i64>(entry[i].column), entry[i].weight);
    }
    void close_row() {
        require(entry.size() <= UINT32_MAX, "there are too many weights; raise min_count, or use fewer templates");
        start.push_back(static_cast<std::uint32_t>(entry.size()));
    }
};

struct FreeRows {
    void operator()(float* p) const { std::free(p); }
};

// Rows that are vectors, by number; they lie in chunks of equal size.
struct RowVectors {
    const std::unique_ptr<float[], FreeRows>* chunks;
    i64 width;
    int shift;

    float* operator[](i64 r) const { return chunks[r >> shift].get() + (r & ((i64{1} << shift) - 1)) * width; }
};

// Rows of equal width that stay where they are while more come. Those of a file come packed, so that loading touches
// little memory, and can be added up and looked at as they are; to be changed, all of them are unpacked first.
class RowStore {
  public:
    explicit RowStore(i64 width = 0) : width_(width), sparse_(width) {
        while (shift_ > 0 && (width << shift_) > (1 << 17)) --shift_;
    }

    RowStore(RowStore&&) = default;
    RowStore& operator=(RowStore&&) = default;
    RowStore(const RowStore&) = delete;

    i64 size() const { return n_; }
    i64 width() const { return width_; }
    // Whether every row is a vector, which `row` gives, and `all` to loops. Else `row` gives those that were spread
    // out.
    bool vectors() const { return width_ <= WIDEST_VECTOR && !packed_; }
    RowVectors all() const { return {chunks_.data(), width_, shift_}; }
    float* row(i64 r) { return wide() ? sparse_.spread(r) : vector(r); }
    const float* row(i64 r) const { return wide() ? sparse_.spread(r) : vector(r); }

    // A row of zeros that will be written to soon. A page that is read before it is written to costs two faults, of
    // which the second stops all threads: so its zeros are written.
    i64 add() {
        append();
        if (!wide() && width_ > 0) vector(n_ - 1)[0] = vector(n_ - 1)[width_ - 1] = 0.0f;
        return n_ - 1;
    }
    // Have n rows at least: zeros, of whose memory no page is made.
    void resize(i64 n) {
        while (n_ < n) append();
    }

    // weight[r][column] += step
    PERCEPTIVE_INLINE void write(i64 r, i64 column, float step) {
        if (wide())
            sparse_.write(r, column, step);
        else
            vector(r)[column] += step;
    }
    PERCEPTIVE_PREFETCH void expect(i64 r, i64 column) const {
        if (vectors()) __builtin_prefetch(vector(r) + column, 1);
    }
    void set(i64 r, i64 column, float weight) {
        write(r, column, -get(r, column));
        write(r, column, weight);
    }
    float get(i64 r, i64 column) const {
        if (packed_) return packed_->get(r, column);
        return wide() ? sparse_.get(r, column) : vector(r)[column];
    }

    // each(column, weight) for the weights that are not 0, in the order of columns
    template <class Each>
    void each(i64 r, Each each) const {
        const auto some = [&](i64 column, float weight) {
            if (weight != 0.0f) each(column, weight);
        };
        if (packed_)
            packed_->each(r, some);
        else if (wide())
            sparse_.each(r, some);
        else
            for (i64 c = 0; c < width_; ++c) some(c, vector(r)[c]);
    }

    // to += by · row, of rows that are no vectors
    void add_to(i64 r, float by, float* to) const {
        if (packed_)
            packed_->add_to(r, by, to);
        else
            sparse_.add_to(r, by, to);
    }
    void prefetch(i64 r) const { packed_ ? packed_->prefetch(r) : sparse_.prefetch(r); }
    void prefetch_entries(i64 r) const { packed_ ? packed_->prefetch_entries(r) : sparse_.prefetch_entries(r); }

    void set_packed(PackedRows rows) {
        n_ = rows.size();
        packed_ = std::make_unique<PackedRows>(std::move(rows));
    }
    void unpack() {
        if (!packed_) return;
        const std::unique_ptr<PackedRows> rows = std::move(packed_);
        n_ = 0;
        resize(rows->size());
        for (i64 r = 0; r < n_; ++r) rows->each(r, [&](i64 column, float weight) { write(r, column, weight); });
    }

  private:
    bool wide() const { return width_ > WIDEST_VECTOR; }
    void append() {
        if (!wide() && n_ == static_cast<i64>(chunks_.size()) << shift_) {
            auto* fresh = static_cast<float*>(std::calloc(static_cast<std::size_t>(width_ << shift_), sizeof(float)));
            if (!fresh) throw std::bad_alloc();
            chunks_.emplace_back(fresh);
        }
        ++n_;
    }
    float* vector(i64 r) const { return all()[r]; }

    i64 width_, n_ = 0;
    int shift_ = 12;
    std::vector<std::unique_ptr<float[], FreeRows>> chunks_;
    SparseRows<float> sparse_;
    std::unique_ptr<PackedRows> packed_;  // instead of these
};

// each(column, a's weight, b's weight) for the columns of row r where one of them is not 0, in their order.
template <class Each>
void each_of_both(const RowStore& a, const RowStore& b, i64 r, std::vector<WeightEntry<float>>& scratch, Each each) {
    scratch.clear();
    a.each(r, [&](i64 c, float weight) { scratch.push_back({weight, static_cast<std::int32_t>(c)}); });
    auto mine = scratch.cbegin();
    const auto before = [&](i64 column) {
        for (; mine != scratch.cend() && mine->column < column; ++mine)
            each(static_cast<i64>(mine->column), mine->weight, 0.0f);
    };
    b.each(r, [&](i64 c, float weight) {
        before(c);
        const bool both = mine != scratch.cend() && mine->column == c;
        each(c, both ? mine->weight : 0.0f, weight);
        if (both) ++mine;
    });
    before(INT64_MAX);
}

}  // namespace perceptive
