// Rows of examples, dense or CSR, seen where they lie: nothing is copied.
//
// A row offers size(), index(p), value(p) over its stored entries, and prefetch of what a dot product with it touches.
#pragma once

#include <cstdint>

namespace perceptive {

using i64 = std::int64_t;

// GCC takes a function that only prefetches for one without effect and drops the call, unless it is inlined first.
#define PERCEPTIVE_PREFETCH __attribute__((always_inline)) inline
// For the few functions that are slower as a call, and too large for GCC to inline them by itself; or that may be none.
#define PERCEPTIVE_INLINE __attribute__((always_inline)) inline

// Passing entries are read once and make way at once, so that they do not push the weights out of the cache.
template <bool passing, class T>
PERCEPTIVE_PREFETCH void prefetch_span(const T* begin, i64 count) {
    const char* p = reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(begin) & ~std::uintptr_t{63});
    const char* end = reinterpret_cast<const char*>(begin + count);
    __builtin_prefetch(p, 0, passing ? 0 : 3);
    __builtin_prefetch(p + 64, 0, passing ? 0 : 3);
    __builtin_prefetch(p + 128, 0, passing ? 0 : 3);  // asking for too much is cheaper than a branch for short rows
    for (p += 192; p < end; p += 64) __builtin_prefetch(p, 0, passing ? 0 : 3);
}

template <class V>
struct DenseRow {
    using Value = V;
    static constexpr bool dense = true;
    const V* x;
    i64 count;
    i64 size() const { return count; }
    i64 index(i64 p) const { return p; }
    V value(i64 p) const { return x[p]; }
};

template <class V>
struct DenseRows {
    using Row = DenseRow<V>;
    const V* data;
    i64 n, d;
    Row operator[](i64 i) const { return {data + i * d, d}; }
    PERCEPTIVE_PREFETCH void prefetch_bounds(i64) const {}
    template <bool passing>
    PERCEPTIVE_PREFETCH void prefetch_row(i64 i) const {
        prefetch_span<passing>(data + i * d, d < 256 ? d : 256);  // the hardware sees what follows
    }
    i64 bytes() const { return n * d * static_cast<i64>(sizeof(V)); }
};

template <class V, class I>
struct SparseRow {
    using Value = V;
    static constexpr bool dense = false;
    const V* x;
    const I* j;
    i64 count;
    i64 size() const { return count; }
    i64 index(i64 p) const { return static_cast<i64>(j[p]); }
    V value(i64 p) const { return x[p]; }
};

template <class V, class I>
struct CsrRows {
    using Row = SparseRow<V, I>;
    const I* indptr;
    const I* indices;
    const V* data;
    i64 n, d;
    Row operator[](i64 i) const {
        const i64 begin = static_cast<i64>(indptr[i]);
        return {data + begin, indices + begin, static_cast<i64>(indptr[i + 1]) - begin};
    }
    PERCEPTIVE_PREFETCH void prefetch_bounds(i64 i) const { __builtin_prefetch(indptr + i); }
    template <bool passing>
    PERCEPTIVE_PREFETCH void prefetch_row(i64 i) const {
        const Row row = (*this)[i];
        prefetch_span<passing>(row.j, row.count);
        prefetch_span<passing>(row.x, row.count);
    }
    i64 bytes() const { return static_cast<i64>(indptr[n]) * static_cast<i64>(sizeof(V) + sizeof(I)); }
};

}  // namespace perceptive
