// The weights of a sequence model: a row of labels for each feature, a matrix of label pairs for each feature that
// looks at two labels, and a cube of triples. Rows exist for features that have erred; the others weigh nothing.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "sequence/row_store.hpp"
#include "sequence/trellis.hpp"

namespace perceptive {

// Where a weight is: its kind, and its place among those of its kind. A weight shared by a set of labels is known by
// the first of them.
using Place = std::uint64_t;
enum class WeightKind : std::uint64_t { state, edge, triple };
constexpr WeightKind WEIGHT_KINDS[] = {WeightKind::state, WeightKind::edge, WeightKind::triple};
constexpr Place SHARED = Place{1} << 61;
constexpr Place place_of(WeightKind kind, i64 at) { return (static_cast<Place>(kind) << 62) | static_cast<Place>(at); }
constexpr WeightKind kind_of_place(Place place) { return static_cast<WeightKind>(place >> 62); }
constexpr i64 offset_of(Place place) { return static_cast<i64>(place & (SHARED - 1)); }

struct LabelWeights {
    RowStore state, edge, triple;  // widths S, L·S and L·L·S; row 0 of `edge` is that of all tokens

    LabelWeights(i64 L, bool second_order)
        : state(padded(L)), edge(L * padded(L)), triple(second_order ? L * L * padded(L) : 0) {
        edge.add(), edge.row(0);  // these two are always vectors
        if (second_order) triple.add(), triple.row(0);
    }

    const RowStore& rows(WeightKind kind) const {
        return kind == WeightKind::state ? state : kind == WeightKind::edge ? edge : triple;
    }
    RowStore& rows(WeightKind kind) { return const_cast<RowStore&>(std::as_const(*this).rows(kind)); }
    float get(Place place) const {
        const RowStore& store = rows(kind_of_place(place));
        const i64 offset = offset_of(place);
        return store.get(offset / store.width(), offset % store.width());
    }
    // A weight that will be written to soon.
    PERCEPTIVE_PREFETCH void expect(Place place) const {
        const RowStore& store = rows(kind_of_place(place));
        const i64 offset = offset_of(place);
        store.expect(offset / store.width(), offset % store.width());
    }
    PERCEPTIVE_INLINE void write(Place place, float step) {
        RowStore& store = rows(kind_of_place(place));
        const i64 offset = offset_of(place);
        store.write(offset / store.width(), offset % store.width(), step);
    }

    // The same weights for more labels; those that are there keep their numbers.
    LabelWeights widened(i64 L, i64 more) const {
        const bool second_order = triple.size() > 0;
        const i64 S = padded(L), to = padded(more);
        LabelWeights wider(more, second_order);
        wider.state.resize(state.size());
        wider.edge.resize(std::max<i64>(1, edge.size()));
        for (i64 r = 0; r < state.size(); ++r)
            state.each(r, [&](i64 c, float weight) { wider.state.write(r, c, weight); });
        for (i64 r = 0; L > 0 && r < edge.size(); ++r)
            edge.each(r, [&](i64 c, float weight) { wider.edge.write(r, c / S * to + c % S, weight); });
        for (i64 q = 0; second_order && q < L; ++q)
            for (i64 p = 0; p < L; ++p)
                std::copy_n(triple.row(0) + (q * L + p) * S, L, wider.triple.row(0) + (q * more + p) * to);
        return wider;
    }

    // These weights less `by` times others, to predict by.
    LabelWeights minus(const LabelWeights& others, float by) const {
        LabelWeights v;
        v.state = state.vectors() ? minus(state, &others.state, by) : packed_minus(state, others.state, by);
        v.edge = minus(edge, &others.edge, by);
        v.triple = minus(triple, &others.triple, by);
        return v;
    }
    LabelWeights copy() const {
        LabelWeights v;
        for (const WeightKind kind : WEIGHT_KINDS) v.rows(kind) = minus(rows(kind), nullptr, 0.0f);
        return v;
    }

  private:
    LabelWeights() = default;

    // Rows less `by` times others, or a copy; rows that are no vectors may be changed as well.
    static RowStore minus(const RowStore& rows, const RowStore* others, float by) {
        RowStore v(rows.width());
        v.resize(rows.size());
        if (!rows.vectors() && v.size() > 0) v.row(0);
        std::vector<WeightEntry<float>> scratch;
        for (i64 r = 0; r < rows.size(); ++r) {
            if (rows.vectors()) {
                const float* from = rows.row(r);
                const float* less = others ? others->row(r) : nullptr;
                float* to = v.row(r);
                for (i64 c = 0; c < rows.width(); ++c) to[c] = less ? from[c] - less[c] * by : from[c];
            } else if (others) {
                each_of_both(rows, *others, r, scratch,
                             [&](i64 c, float from, float less) { v.write(r, c, from - less * by); });
            } else {
                rows.each(r, [&](i64 c, float weight) { v.write(r, c, weight); });
            }
        }
        return v;
    }

    static RowStore packed_minus(const RowStore& rows, const RowStore& others, float by) {
        PackedRows packed;
        std::vector<WeightEntry<float>> scratch;
        std::size_t n = 0;
        for (i64 r = 0; r < rows.size(); ++r) each_of_both(rows, others, r, scratch, [&](i64, float, float) { ++n; });
        packed.entry.reserve(n);  // growing would take twice as much
        packed.start.reserve(static_cast<std::size_t>(rows.size()) + 1);
        for (i64 r = 0; r < rows.size(); ++r) {
            each_of_both(rows, others, r, scratch, [&](i64 c, float from, float less) {
                packed.entry.push_back({from - less * by, static_cast<std::int32_t>(c)});
            });
            packed.close_row();
        }
        RowStore v(rows.width());
        v.set_packed(std::move(packed));
        return v;
    }
};

}  // namespace perceptive
