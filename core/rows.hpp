// Rows of examples, dense or CSR, seen where they lie. Indices are int32: those of int64 are copied, once.
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
    i64 stored() const { return n * d; }
    DenseRows part(i64 begin, i64 end) const { return {data + begin * d, end - begin, d}; }
    i64 bytes() const { return stored() * static_cast<i64>(sizeof(V)); }
};

template <class V>
struct SparseRow {
    static constexpr bool dense = false;
    const V* x;
    const std::int32_t* j;
    i64 count;
    i64 size() const { return count; }
    i64 index(i64 p) const { return j[p]; }
    V value(i64 p) const { return x[p]; }
};

// Where each row begins among the stored entries (SciPy's indptr), in one width or the other.
struct RowStarts {
    const std::int32_t* narrow;
    const i64* wide;
    explicit RowStarts(const std::int32_t* starts) : narrow(starts), wide(nullptr) {}
    explicit RowStarts(const i64* starts) : narrow(nullptr), wide(starts) {}
    i64 operator[](i64 i) const { return wide ? wide[i] : narrow[i]; }
    RowStarts from(i64 i) const { return wide ? RowStarts(wide + i) : RowStarts(narrow + i); }
    PERCEPTIVE_PREFETCH void prefetch(i64 i) const {
        __builtin_prefetch(wide ? static_cast<const void*>(wide + i) : narrow + i);
    }
};

template <class V>
struct CsrRows {
    using Row = SparseRow<V>;
    RowStarts starts;
    const std::int32_t* indices;
    const V* data;
    i64 n, d;
    Row operator[](i64 i) const {
        const i64 begin = starts[i];
        return {data + begin, indices + begin, starts[i + 1] - begin};
    }
    PERCEPTIVE_PREFETCH void prefetch_bounds(i64 i) const { starts.prefetch(i); }
    template <bool passing>
    PERCEPTIVE_PREFETCH void prefetch_row(i64 i) const {
        const Row row = (*this)[i];
        prefetch_span<passing>(row.j, row.count);
        prefetch_span<passing>(row.x, row.count);
    }
    i64 stored() const { return starts[n] - starts[0]; }
    CsrRows part(i64 begin, i64 end) const { return {starts.from(begin), indices, data, end - begin, d}; }
    i64 bytes() const { return stored() * static_cast<i64>(sizeof(V) + sizeof(std::int32_t)); }
};

}  // namespace perceptive
