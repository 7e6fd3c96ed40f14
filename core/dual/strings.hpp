// String kernels over sequences of symbols (numbers ≥ 0), several target strings at a time in the lanes of a vector.
//
// Gap-weighted subsequences (Lodhi, Saunders, Shawe-Taylor, Cristianini & Watkins 2002), O(n|s||t|):
//
//   K''_i(sx, tu) = λK''_i(sx, t) + [u = x]·λ²K'_{i−1}(s, t)
//   K'_i(sx, t)   = λK'_i(s, t) + K''_i(sx, t),   K'_0 = 1
//   K_n(sx, t)    = K_n(s, t) + Σ_{j: t_j = x} λ²K'_{n−1}(s, t_1 … t_{j−1})
//
// The factors λ² of all levels are taken out: K'_i is kept as λ^{2i} times what stands here, and K_n gets λ^{2n} at
// last.
//
// All subsequences (Shawe-Taylor & Cristianini 2004, 11.2), the empty one included:
//
//   K(sx, t) = K(s, t) + Σ_{j: t_j = x} K(s, t_1 … t_{j−1}),   K(·, ε) = 1
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "parallel.hpp"

namespace perceptive {

// Lanes of a vector of 32 bytes: eight targets in float, four in double.
template <class T>
constexpr int STRING_LANES = 32 / sizeof(T);
constexpr std::int32_t NO_SYMBOL = -1;  // behind the end of a target; equals no symbol

struct Sequences {
    const std::int32_t* codes;
    const i64* offsets;  // n + 1
    i64 n;

    const std::int32_t* begin(i64 i) const { return codes + offsets[i]; }
    i64 length(i64 i) const { return offsets[i + 1] - offsets[i]; }
};

// Targets side by side: symbols[j·LANES + lane].
template <int LANES>
struct Targets {
    std::vector<std::int32_t> symbols;
    i64 which[LANES], lengths[LANES], length = 0;
    int n = 0;

    Targets(const Sequences& from, const i64* chosen, int count) : n(count) {
        for (int l = 0; l < count; ++l) {
            which[l] = chosen[l];
            lengths[l] = from.length(chosen[l]);
            length = std::max(length, lengths[l]);
        }
        symbols.assign(static_cast<std::size_t>(length) * LANES, NO_SYMBOL);
        for (int l = 0; l < count; ++l)
            for (i64 j = 0; j < lengths[l]; ++j)
                symbols[static_cast<std::size_t>(j * LANES + l)] = from.begin(chosen[l])[j];
    }
};

template <class T>
struct Lanes {
    using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    typedef T Vector __attribute__((vector_size(32)));
    typedef Bits Mask __attribute__((vector_size(32)));
    typedef std::int32_t Symbols __attribute__((vector_size(STRING_LANES<T> * sizeof(std::int32_t))));
};

// ROWS symbols x of the source in one sweep over the targets: the rows do not wait for each other's sums, and the K' of
// the first need not go through memory to the second. sum gets Σ λ²K'_{n−1} of each row.
template <class T, int LEVELS, int ROWS>
__attribute__((always_inline)) inline void sweep(const std::int32_t* x, const Targets<STRING_LANES<T>>& t, T decay,
                                                 typename Lanes<T>::Vector* prime, typename Lanes<T>::Vector* sum) {
    using Vector = typename Lanes<T>::Vector;
    using Mask = typename Lanes<T>::Mask;
    using Symbols = typename Lanes<T>::Symbols;
    const std::int32_t* symbols = t.symbols.data();
    const Vector zero = {}, one = zero + T(1);
    Vector run[ROWS][LEVELS + 1], before[ROWS][LEVELS + 1];
    for (int row = 0; row < ROWS; ++row) {
        sum[row] = zero;
        for (int level = 0; level <= LEVELS; ++level) run[row][level] = before[row][level] = zero;
    }
    for (i64 j = 0; j < t.length; ++j) {
        Symbols code;
        __builtin_memcpy(&code, symbols + j * STRING_LANES<T>, sizeof(code));
        Mask match[ROWS];
        for (int row = 0; row < ROWS; ++row) {
            match[row] = __builtin_convertvector(code == x[row], Mask);
            const Vector top = LEVELS == 0 ? one : before[row][LEVELS > 0 ? LEVELS - 1 : 0];
            sum[row] += reinterpret_cast<Vector>(reinterpret_cast<Mask>(top) & match[row]);
        }
        Vector* here = prime + j * LEVELS;
        for (int level = LEVELS - 1; level >= 0; --level) {
            Vector value = here[level];
            for (int row = 0; row < ROWS; ++row) {
                const Vector below = level == 0 ? one : before[row][level > 0 ? level - 1 : 0];
                run[row][level] =
                    run[row][level] * decay + reinterpret_cast<Vector>(reinterpret_cast<Mask>(below) & match[row]);
                before[row][level] = value;
                value = value * decay + run[row][level];
            }
            here[level] = value;
        }
    }
}

// Adds Σ of some symbols of a source with all targets for n = LEVELS + 1; room holds length × LEVELS vectors, which
// begin as 0 and stand where the symbols before have left them.
template <class T, int LEVELS, int ROWS>
__attribute__((always_inline)) inline void subsequences(const std::int32_t* s, i64 s_length,
                                                        const Targets<STRING_LANES<T>>& t, T decay, T* room,
                                                        double* total) {
    using Vector = typename Lanes<T>::Vector;
    auto* prime = reinterpret_cast<Vector*>(room);
    Vector sum[ROWS];
    for (i64 i = 0; i < s_length; i += ROWS) {
        const int rows = i + ROWS <= s_length ? ROWS : 1;
        if (rows == ROWS)
            sweep<T, LEVELS, ROWS>(s + i, t, decay, prime, sum);
        else
            sweep<T, LEVELS, 1>(s + i, t, decay, prime, sum);
        for (int row = 0; row < rows; ++row)
            for (int l = 0; l < STRING_LANES<T>; ++l) total[l] += static_cast<double>(sum[row][l]);
    }
}

// The same for all subsequences; room holds length + 1 vectors, which begin as 1, and the sum is what they end with.
__attribute__((always_inline)) inline void all_subsequences(const std::int32_t* s, i64 s_length,
                                                            const Targets<STRING_LANES<double>>& t, double* room) {
    using Vector = typename Lanes<double>::Vector;
    using Mask = typename Lanes<double>::Mask;
    using Symbols = typename Lanes<double>::Symbols;
    auto* K = reinterpret_cast<Vector*>(room);
    const std::int32_t* symbols = t.symbols.data();
    const Vector zero = {};
    for (i64 i = 0; i < s_length; ++i) {
        Vector sum = zero, before = K[0];
        for (i64 j = 0; j < t.length; ++j) {
            Symbols code;
            __builtin_memcpy(&code, symbols + j * STRING_LANES<double>, sizeof(code));
            const Mask match = __builtin_convertvector(code == s[i], Mask);
            sum += reinterpret_cast<Vector>(reinterpret_cast<Mask>(before) & match);
            before = K[j + 1];
            K[j + 1] = before + sum;
        }
    }
}

// Two rows pay where what they keep (two vectors a level each, and a sum) stays in registers.
constexpr int rows_at_once(int levels, int registers) { return 4 * levels + 6 <= registers ? 2 : 1; }

template <class T, int REGISTERS>
__attribute__((always_inline)) inline void string_kernel(const std::int32_t* s, i64 length,
                                                         const Targets<STRING_LANES<T>>& t, int n, double decay,
                                                         T* room, double* total) {
    const T d = static_cast<T>(decay);
    switch (n) {
        case 0:
            if constexpr (sizeof(T) == 8) all_subsequences(s, length, t, room);
            break;
        case 1: return subsequences<T, 0, rows_at_once(0, REGISTERS)>(s, length, t, d, room, total);
        case 2: return subsequences<T, 1, rows_at_once(1, REGISTERS)>(s, length, t, d, room, total);
        case 3: return subsequences<T, 2, rows_at_once(2, REGISTERS)>(s, length, t, d, room, total);
        case 4: return subsequences<T, 3, rows_at_once(3, REGISTERS)>(s, length, t, d, room, total);
        case 5: return subsequences<T, 4, rows_at_once(4, REGISTERS)>(s, length, t, d, room, total);
        case 6: return subsequences<T, 5, rows_at_once(5, REGISTERS)>(s, length, t, d, room, total);
        case 7: return subsequences<T, 6, rows_at_once(6, REGISTERS)>(s, length, t, d, room, total);
        default: return subsequences<T, 7, rows_at_once(7, REGISTERS)>(s, length, t, d, room, total);
    }
}

constexpr int LONGEST_SUBSEQUENCE = 8;

// The same code for three instruction sets, with the same bits: lanes are lanes, and nothing is fused.
template <class T>
void string_kernel_plain(const std::int32_t* s, i64 length, const Targets<STRING_LANES<T>>& t, int n, double decay,
                         T* room, double* total) {
    string_kernel<T, 16>(s, length, t, n, decay, room, total);
}
#if defined(__x86_64__)
template <class T>
__attribute__((target("avx2"))) void string_kernel_avx2(const std::int32_t* s, i64 length,
                                                        const Targets<STRING_LANES<T>>& t, int n, double decay, T* room,
                                                        double* total) {
    string_kernel<T, 16>(s, length, t, n, decay, room, total);
}
template <class T>
__attribute__((target("avx2,avx512f,avx512vl"))) void string_kernel_avx512(const std::int32_t* s, i64 length,
                                                                           const Targets<STRING_LANES<T>>& t, int n,
                                                                           double decay, T* room, double* total) {
    string_kernel<T, 32>(s, length, t, n, decay, room, total);  // not wider, but twice as many registers
}
#endif

template <class T>
using StringKernel = void (*)(const std::int32_t*, i64, const Targets<STRING_LANES<T>>&, int, double, T*, double*);

template <class T>
StringKernel<T> string_kernel_here() {
#if defined(__x86_64__)
    const bool avx2 = __builtin_cpu_supports("avx2");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return &string_kernel_avx512<T>;
    if (avx2) return &string_kernel_avx2<T>;
#endif
    return &string_kernel_plain<T>;
}

// One source against some targets, as many symbols at a time as one likes. n = 0: all subsequences.
template <class T>
class StringSweep {
  public:
    static constexpr int LANES = STRING_LANES<T>;

    StringSweep(int n, double decay) : n_(n), decay_(decay) {}

    // The targets must stay where they are.
    void begin(const Targets<LANES>& targets) {
        targets_ = &targets;
        const std::size_t levels = static_cast<std::size_t>(std::max(n_ - 1, 1));
        room_.assign(static_cast<std::size_t>(targets.length + 2) * levels * LANES + 64 / sizeof(T),
                     n_ == 0 ? T(1) : T(0));
        aligned_ = room_.data();
        while (reinterpret_cast<std::uintptr_t>(aligned_) % 64 != 0) ++aligned_;
        std::fill(total_, total_ + LANES, 0.0);
    }

    void play(const std::int32_t* symbols, i64 length) {
        kernel_(symbols, length, *targets_, n_, decay_, aligned_, total_);
    }

    double value(int lane) const {
        if (n_ == 0) return static_cast<double>(aligned_[targets_->lengths[lane] * LANES + lane]);
        return std::pow(static_cast<double>(static_cast<T>(decay_)), 2 * n_) * total_[lane];
    }

  private:
    int n_;
    double decay_;
    StringKernel<T> kernel_ = string_kernel_here<T>();
    const Targets<LANES>* targets_ = nullptr;
    std::vector<T> room_;
    T* aligned_ = nullptr;
    double total_[LANES] = {};
};

// out[i, j] = K of a_i and b_j; `symmetric` (a is b) makes half of it and mirrors it. n = 0: all subsequences.
template <class T>
void string_kernels(const Sequences& a, const Sequences& b, int n, double decay, bool symmetric, int threads,
                    double* out) {
    constexpr int LANES = STRING_LANES<T>;
    std::vector<i64> order(static_cast<std::size_t>(b.n));  // targets of like length share a vector; the longest first
    for (i64 j = 0; j < b.n; ++j) order[static_cast<std::size_t>(j)] = j;
    std::stable_sort(order.begin(), order.end(), [&](i64 x, i64 y) { return b.length(x) > b.length(y); });
    std::vector<i64> place(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[static_cast<std::size_t>(order[k])] = static_cast<i64>(k);
    constexpr i64 SOURCES = 16;
    const i64 groups = (b.n + LANES - 1) / LANES, parts = (a.n + SOURCES - 1) / SOURCES;
    in_parallel(groups * parts, threads, [&] {
        return [&, sweep = StringSweep<T>(n, decay), made = i64{-1},
                targets = Targets<LANES>(b, nullptr, 0)](i64 task) mutable {
            const i64 group = task / parts, first = group * LANES;
            if (made != group) {
                const i64 count = std::min<i64>(LANES, b.n - first);
                targets = Targets<LANES>(b, order.data() + first, static_cast<int>(count));
                made = group;
            }
            for (i64 k = task % parts * SOURCES; k < std::min((task % parts + 1) * SOURCES, a.n); ++k) {
                const i64 i = symmetric ? order[static_cast<std::size_t>(k)] : k;
                if (symmetric && k >= first + LANES) continue;  // the mirror image is made elsewhere
                sweep.begin(targets);
                sweep.play(a.begin(i), a.length(i));
                for (int l = 0; l < targets.n; ++l) {
                    const i64 j = targets.which[l];
                    if (symmetric && place[static_cast<std::size_t>(j)] < k) continue;
                    out[i * b.n + j] = sweep.value(l);
                    if (symmetric) out[j * b.n + i] = out[i * b.n + j];
                }
            }
        };
    });
}

}  // namespace perceptive
