// The weights of a sequence model: a row of labels for each feature, a matrix of label pairs for each feature that
// looks at two labels, and a cube of triples. Rows exist for features that have erred; the others weigh nothing.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "large_pages.hpp"
#include "sequence/trellis.hpp"

namespace perceptive {

// A row without its zeros: entries [start[r], start[r + 1]) of `entry`.
struct PackedRows {
    struct Entry {
        float weight;
        std::int32_t column;
    };
    LargeVector<std::uint32_t> start{0};
    LargeVector<Entry> entry;

    i64 size() const { return static_cast<i64>(start.size()) - 1; }
    void prefetch(i64 r) const { __builtin_prefetch(entry.data() + start[r]); }
    void add(i64 r, float by, float* to) const {
        for (std::uint32_t i = start[r]; i < start[r + 1]; ++i) to[entry[i].column] += by * entry[i].weight;
    }
};

// Rows of equal width that stay where they are while more come. Those of a file come packed, so that loading touches
// little memory, and can be added up as they are; to be seen or changed, all of them are unpacked first.
class RowStore {
  public:
    explicit RowStore(i64 width = 0) : width_(width) {
        while (shift_ > 0 && (width << shift_) > (1 << 17)) --shift_;
    }

    RowStore(RowStore&&) = default;
    RowStore& operator=(RowStore&&) = default;
    RowStore(const RowStore&) = delete;

    i64 size() const { return n_; }
    i64 width() const { return width_; }
    float* row(i64 r) { return chunks_[r >> shift_].get() + (r & mask()) * width_; }
    const float* row(i64 r) const { return chunks_[r >> shift_].get() + (r & mask()) * width_; }
    // A row of zeros.
    i64 add() {
        if (n_ == static_cast<i64>(chunks_.size()) << shift_) {
            auto* fresh = static_cast<float*>(std::calloc(static_cast<std::size_t>(width_ << shift_), sizeof(float)));
            if (!fresh) throw std::bad_alloc();
            chunks_.emplace_back(fresh);
        }
        return n_++;
    }
    void resize(i64 n) {
        while (n_ < n) add();
    }

    const PackedRows* packed() const { return packed_.get(); }
    void set_packed(PackedRows rows) {
        n_ = rows.size();
        packed_ = std::make_unique<PackedRows>(std::move(rows));
    }
    void unpack() {
        if (!packed_) return;
        const std::unique_ptr<PackedRows> rows = std::move(packed_);
        n_ = 0;
        resize(rows->size());
        for (i64 r = 0; r < n_; ++r) rows->add(r, 1.0f, row(r));
    }

  private:
    struct Free {
        void operator()(float* p) const { std::free(p); }
    };
    i64 mask() const { return (i64{1} << shift_) - 1; }

    i64 width_, n_ = 0;
    int shift_ = 12;
    std::vector<std::unique_ptr<float[], Free>> chunks_;
    std::unique_ptr<PackedRows> packed_;  // instead of chunks
};

// Where a weight is: its kind, and its place among those of its kind. A weight shared by a set of labels is known by
// the first of them.
using Place = std::uint64_t;
enum class WeightKind : std::uint64_t { state, edge, triple };
constexpr Place SHARED = Place{1} << 61;
constexpr Place place_of(WeightKind kind, i64 at) { return (static_cast<Place>(kind) << 62) | static_cast<Place>(at); }
constexpr WeightKind kind_of_place(Place place) { return static_cast<WeightKind>(place >> 62); }
constexpr i64 offset_of(Place place) { return static_cast<i64>(place & (SHARED - 1)); }

struct LabelWeights {
    RowStore state, edge, triple;  // widths S, L·S and L·L·S; row 0 of `edge` is that of all tokens

    LabelWeights(i64 L, bool second_order)
        : state(padded(L)), edge(L * padded(L)), triple(second_order ? L * L * padded(L) : 0) {
        edge.add();
        if (second_order) triple.add();
    }

    RowStore& rows(WeightKind kind) {
        return kind == WeightKind::state ? state : kind == WeightKind::edge ? edge : triple;
    }
    float& at(Place place) {
        RowStore& store = rows(kind_of_place(place));
        const i64 offset = offset_of(place);
        return store.row(offset / store.width())[offset % store.width()];
    }

    // The same weights for more labels; those that are there keep their numbers.
    LabelWeights widened(i64 L, i64 more) const {
        const bool second_order = triple.size() > 0;
        const i64 S = padded(L), to = padded(more);
        LabelWeights wider(more, second_order);
        wider.state.resize(state.size());
        wider.edge.resize(std::max<i64>(1, edge.size()));
        for (i64 r = 0; r < state.size(); ++r) std::copy_n(state.row(r), L, wider.state.row(r));
        for (i64 r = 0; L > 0 && r < edge.size(); ++r)
            for (i64 p = 0; p < L; ++p) std::copy_n(edge.row(r) + p * S, L, wider.edge.row(r) + p * to);
        for (i64 q = 0; second_order && q < L; ++q)
            for (i64 p = 0; p < L; ++p)
                std::copy_n(triple.row(0) + (q * L + p) * S, L, wider.triple.row(0) + (q * more + p) * to);
        return wider;
    }

    // These weights less `by` times others; null: a copy.
    LabelWeights minus(const LabelWeights* others, float by) const {
        LabelWeights v;
        v.state = minus(state, others ? &others->state : nullptr, by);
        v.edge = minus(edge, others ? &others->edge : nullptr, by);
        v.triple = minus(triple, others ? &others->triple : nullptr, by);
        return v;
    }
    LabelWeights copy() const { return minus(nullptr, 0.0f); }

  private:
    LabelWeights() = default;

    static RowStore minus(const RowStore& rows, const RowStore* others, float by) {
        RowStore v(rows.width());
        v.resize(rows.size());
        for (i64 r = 0; r < rows.size(); ++r) {
            const float* from = rows.row(r);
            const float* less = others ? others->row(r) : nullptr;
            float* to = v.row(r);
            for (i64 c = 0; c < rows.width(); ++c) to[c] = less ? from[c] - less[c] * by : from[c];
        }
        return v;
    }
};

// δ = Φ(x, y*) − Φ(x, ŷ), a sparse vector: equal places are added up, in the order in which they first came.
class FeatureDifference {
  public:
    struct Term {
        Place place;
        double value;
    };

    FeatureDifference() : slots_(1024, -1) {}

    void clear() {
        std::fill(slots_.begin(), slots_.end(), -1);
        terms_.clear();
    }

    void add(Place place, double value) {
        std::int32_t& slot = slots_[slot_of(place)];
        if (slot >= 0) {
            terms_[slot].value += value;
            return;
        }
        slot = static_cast<std::int32_t>(terms_.size());
        terms_.push_back({place, value});
        if (terms_.size() * 2 > slots_.size()) grow();
    }

    const std::vector<Term>& terms() const { return terms_; }

    double squared_norm() const {
        double total = 0.0;
        for (const Term& term : terms_) total += term.value * term.value;
        return total;
    }

    double dot(const FeatureDifference& other) const {
        if (other.terms_.size() < terms_.size()) return other.dot(*this);
        double total = 0.0;
        for (const Term& term : terms_) {
            const std::int32_t i = other.slots_[other.slot_of(term.place)];
            if (i >= 0) total += term.value * other.terms_[i].value;
        }
        return total;
    }

  private:
    static std::size_t hash(Place place) {
        place *= 0x9E3779B97F4A7C15ull;
        return static_cast<std::size_t>(place >> 32);
    }
    // Where a place is, or the free slot where it would be.
    std::size_t slot_of(Place place) const {
        std::size_t slot = hash(place) & (slots_.size() - 1);
        while (slots_[slot] >= 0 && terms_[slots_[slot]].place != place) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }
    void grow() {
        slots_.assign(slots_.size() * 2, -1);
        for (std::size_t i = 0; i < terms_.size(); ++i) slots_[slot_of(terms_[i].place)] = static_cast<std::int32_t>(i);
    }

    std::vector<Term> terms_;
    std::vector<std::int32_t> slots_;
};

}  // namespace perceptive
