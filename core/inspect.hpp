// The look that every row gets before the core works on it: bounds, order, finiteness; and an order-free fingerprint.
//
// hash(row) = mix(Σ_j bits(float x_j)·key_j): zeros add nothing, so dense and sparse rows hash alike; the order of
// entries does not matter, and that of rows does not where the hashes of rows are added up.
#pragma once

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "rows.hpp"

namespace perceptive {

// Not linear in j: rows of ones must not collide where their indices have the same sum.
inline std::uint32_t feature_key(std::uint32_t j) {
    std::uint32_t k = (j + 1) * 0x9E3779B1u;
    k ^= k >> 15;
    k *= 0x85EBCA77u;
    return (k ^ (k >> 13)) | 1u;
}

inline std::uint64_t mix(std::uint64_t h) {  // the finaliser of MurmurHash3
    h ^= h >> 33;
    h *= 0xFF51AFD7ED558CCDull;
    h ^= h >> 33;
    h *= 0xC4CEB9FE1A85EC53ull;
    return h ^ (h >> 33);
}

// The bits of x as a float; −0 becomes +0. NaN, inf and what is too large for a float have all exponent bits set.
template <class V>
inline std::uint32_t float_bits(V x) {
    const float f = static_cast<float>(x) + 0.0f;
    std::uint32_t bits;
    std::memcpy(&bits, &f, sizeof bits);
    return bits;
}

constexpr std::uint32_t EXPONENT = 0x7F800000u;

template <class V>
[[noreturn]] void reject_value(i64 row, i64 column, V x) {
    const std::string place = "row " + std::to_string(row) + ", feature " + std::to_string(column) + ": ";
    if (std::isnan(x)) throw std::invalid_argument(place + "X contains NaN; drop or impute such values first");
    if (std::isinf(x)) throw std::invalid_argument(place + "X contains inf; drop or clip such values first");
    throw std::invalid_argument(place + "X contains a value too large for float32, in which all values must fit, " +
                                "whatever the dtype of the weights; rescale the feature");
}

template <class V>
void inspect(const DenseRows<V>& rows, std::uint64_t* hashes) {
    std::vector<std::uint32_t> key(static_cast<size_t>(rows.d));
    for (i64 j = 0; j < rows.d; ++j) key[j] = feature_key(static_cast<std::uint32_t>(j));
    for (i64 i = 0; i < rows.n; ++i) {
        const V* x = rows.data + i * rows.d;
        std::uint64_t h = 0;
        std::uint32_t bad = 0;
        for (i64 j = 0; j < rows.d; ++j) {
            const std::uint32_t bits = float_bits(x[j]);
            bad |= static_cast<std::uint32_t>((bits & EXPONENT) == EXPONENT);
            h += static_cast<std::uint64_t>(bits) * key[j];
        }
        if (bad)
            for (i64 j = 0; j < rows.d; ++j)
                if ((float_bits(x[j]) & EXPONENT) == EXPONENT) reject_value(i, j, x[j]);
        if (hashes) hashes[i] = mix(h);
    }
}

struct Look {
    bool outside, falling, bad;
    std::uint64_t hash;
};

// Plain loops without branches, which the compiler turns into vectors; the culprit is looked for afterwards.
template <class V, class I>
__attribute__((always_inline)) inline Look look_at(const I* j, const V* x, i64 count, I limit) {
    unsigned outside = 0, falling = 0, bad = 0;
    for (i64 p = 0; p < count; ++p) outside |= static_cast<unsigned>(j[p] < 0) | (j[p] >= limit);
    for (i64 p = 1; p < count; ++p) falling |= j[p] <= j[p - 1];
    std::uint64_t h = 0;
    for (i64 p = 0; p < count; ++p) {
        const std::uint32_t bits = float_bits(x[p]);
        bad |= (bits & EXPONENT) == EXPONENT;
        h += static_cast<std::uint64_t>(bits) * feature_key(static_cast<std::uint32_t>(j[p]));
    }
    return {outside != 0, falling != 0, bad != 0, h};
}

template <class V, class I>
Look look(const I* j, const V* x, i64 count, I limit) {
    return look_at(j, x, count, limit);
}

// The rows that files give, four times as fast where the processor has the vectors. Whole numbers: the same everywhere.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("avx2", "default"))) inline Look look_wide(const std::int32_t* j, const float* x,
                                                                        i64 count, std::int32_t limit) {
    return look_at(j, x, count, limit);
}

template <>
inline Look look(const std::int32_t* j, const float* x, i64 count, std::int32_t limit) {
    return look_wide(j, x, count, limit);
}
#endif

template <class I>
[[noreturn]] void reject_index(const I* j, i64 i, i64 d) {
    while (*j >= 0 && *j < d) ++j;
    throw std::invalid_argument("row " + std::to_string(i) + ": feature index " + std::to_string(*j) +
                                (*j < 0 ? " is negative" : " ≥ n_features " + std::to_string(d)) +
                                "; the matrix is damaged or was made for another model");
}

// The hash of a single row that is known to be sound.
template <class Row>
std::uint64_t row_hash(const Row& x) {
    std::uint64_t h = 0;
    for (i64 p = 0; p < x.size(); ++p)
        h += static_cast<std::uint64_t>(float_bits(x.value(p))) * feature_key(static_cast<std::uint32_t>(x.index(p)));
    return mix(h);
}

// What an example adds to the fingerprint of the data: the same in any order.
inline std::uint64_t example_hash(std::uint64_t row, std::uint64_t label) {
    constexpr std::uint64_t ODD = 0x9E3779B97F4A7C15ull;
    const std::uint64_t h = row * ODD + label;
    return (h ^ (h >> 29)) * ODD;
}

// Also checks the structure of n rows with d features. Returns whether every row's indices rise strictly (sorted, no
// duplicates).
template <class V, class I>
bool inspect(const I* indptr, const I* indices, const V* data, i64 n, i64 d, i64 n_indices, i64 n_data,
             std::uint64_t* hashes) {
    const I limit = static_cast<I>(d);
    const std::string cure = "; the sparse matrix is damaged, rebuild it";
    if (n_indices != n_data) throw std::invalid_argument("indices and data differ in length" + cure);
    if (indptr[0] != 0) throw std::invalid_argument("indptr does not start at 0" + cure);
    for (i64 i = 0; i < n; ++i)
        if (indptr[i + 1] < indptr[i] || static_cast<i64>(indptr[i + 1]) > n_data)
            throw std::invalid_argument("indptr is wrong at row " + std::to_string(i) + cure);
    bool rising = true;
    for (i64 i = 0; i < n; ++i) {
        const I* j = indices + indptr[i];
        const V* x = data + indptr[i];
        const i64 count = static_cast<i64>(indptr[i + 1] - indptr[i]);
        const auto [outside, falling, bad, h] = look(j, x, count, limit);
        if (outside) reject_index(j, i, d);
        if (bad)
            for (i64 p = 0; p < count; ++p)
                if ((float_bits(x[p]) & EXPONENT) == EXPONENT) reject_value(i, static_cast<i64>(j[p]), x[p]);
        rising &= !falling;
        if (hashes) hashes[i] = mix(h);
    }
    return rising;
}

}  // namespace perceptive
