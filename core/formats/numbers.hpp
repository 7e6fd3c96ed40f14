// Decimal numbers in text, read exactly.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "rows.hpp"

namespace perceptive {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Appends decimal digits to w, which holds 19 of them and wraps beyond.
inline const char* read_digits(const char* p, const char* end, std::uint64_t& w) {
    for (; p < end && is_digit(*p); ++p) w = w * 10 + static_cast<std::uint64_t>(*p - '0');
    return p;
}

constexpr i64 MAX_DIGITS = 19;
constexpr std::uint64_t EXACT = std::uint64_t{1} << 53;  // up to here doubles hold every whole number

constexpr double POWERS_OF_TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// What from_chars leaves open when a number without sign is out of range: 0, or infinity.
inline double beyond_range(const char* p, const char* end, i64 exponent) {
    const char* point = std::find_if_not(p, end, is_digit);
    const char* lead = std::find_if(p, end, [](char c) { return c != '0' && c != '.'; });
    if (lead == end || !is_digit(*lead)) return 0.0;
    const i64 magnitude = lead < point ? point - lead : point + 1 - lead;
    return magnitude + exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

// Reads [+-] digits [. digits] [e [+-] digits], correctly rounded; ±∞ where it is too large, nullptr where there is
// none.
//
// w·10^e with w ≤ 2⁵³ and |e| ≤ 22 has two exact factors, so one operation rounds it correctly (Clinger 1990).
inline const char* read_decimal(const char* p, const char* end, double& number) {
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    const char* const first = p;
    std::uint64_t w = 0;
    p = read_digits(p, end, w);
    i64 digits = p - first, fraction = 0, exponent = 0;
    if (digits > 0 && digits <= 15 && (p == end || *p == ' ')) {  // a whole number, the most common of all
        number = negative ? -static_cast<double>(w) : static_cast<double>(w);
        return p;
    }
    if (p < end && *p == '.') {
        const char* const point = ++p;
        p = read_digits(p, end, w);
        fraction = p - point;
        digits += fraction;
    }
    if (digits == 0) return nullptr;
    if (p < end && (*p == 'e' || *p == 'E')) {
        ++p;
        const bool shrinks = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) ++p;
        if (p == end || !is_digit(*p)) return nullptr;
        for (; p < end && is_digit(*p); ++p)
            if (exponent < i64{1} << 50) exponent = exponent * 10 + (*p - '0');
        if (shrinks) exponent = -exponent;
    }
    const i64 e = exponent - fraction;
    double x = static_cast<double>(w);
    if (digits <= MAX_DIGITS && w <= EXACT && e >= -22 && e <= 22) {
        x = e < 0 ? x / POWERS_OF_TEN[-e] : x * POWERS_OF_TEN[e];
    } else if (std::from_chars(first, p, x).ec == std::errc::result_out_of_range) {
        x = beyond_range(first, p, exponent);
    }
    number = negative ? -x : x;
    return p;
}

// ---------------------------------------------------------------- many bytes at a time

constexpr i64 QUICK = 40;   // bytes that the quick reader of a number may look at
constexpr i64 WINDOW = 72;  // and that of entries

// Where among 32 bytes there are no digits: bit i is for byte i. What follows is told from what precedes without a
// branch that would have to guess the length of a number.
inline std::uint32_t others_in(const char* p) {
#if defined(__SSE2__)
    const auto digits = [](const char* q) {
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(q));
        const __m128i from_least = _mm_sub_epi8(x, _mm_set1_epi8(static_cast<char>('0' + 128)));  // 0 is the least
        return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmplt_epi8(from_least, _mm_set1_epi8(10 - 128))));
    };
    return ~(digits(p) | digits(p + 16) << 16);
#else
    std::uint32_t others = 0;
    for (int i = 0; i < 32; ++i) others |= static_cast<std::uint32_t>(!is_digit(p[i])) << i;
    return others;
#endif
}

// The number that n digits at p make, 1 ≤ n ≤ 8. Reads eight bytes.
inline std::uint64_t some_digits(const char* p, int n) {
    std::uint64_t x;
    std::memcpy(&x, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    x = (x ^ 0x3030303030303030u) << (64 - 8 * n);  // leading zeros
    x = x * 10 + (x >> 8);                          // pairs, in every second byte
    return ((x & 0x000000FF000000FFu) * 0x000F424000000064u +
            ((x >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
           32;
}

constexpr std::uint32_t WHOLE_POWERS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// The numbers that m digits at p, and n digits at q, make, each 1 … 8. Reads eight bytes of both.
struct TwoNumbers {
    std::uint32_t first, second;

#if defined(__SSE2__)
    TwoNumbers(const char* p, std::size_t m, const char* q, std::size_t n) {
        const __m128i both = _mm_set_epi64x(last_of_eight(q, n), last_of_eight(p, m));
        const __m128i digits = _mm_subs_epu8(both, _mm_set1_epi8('0'));  // before them are zeros
        const __m128i pairs = _mm_srli_epi16(_mm_mullo_epi16(digits, _mm_set1_epi16(10 << 8 | 1)), 8);
        const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
        const __m128i eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
        first = static_cast<std::uint32_t>(_mm_cvtsi128_si32(eights));
        second = static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_srli_epi64(eights, 32)));
    }

  private:
    static i64 last_of_eight(const char* p, std::size_t n) {
        std::uint64_t x;
        std::memcpy(&x, p, 8);
        return static_cast<i64>(x << (64 - 8 * n));
    }
#else
    TwoNumbers(const char* p, std::size_t m, const char* q, std::size_t n)
        : first(static_cast<std::uint32_t>(some_digits(p, static_cast<int>(m)))),
          second(static_cast<std::uint32_t>(some_digits(q, static_cast<int>(n)))) {}
#endif
};

// Entries of the most common kinds, up to 8 digits, a colon, and "d.dddddddd " (up to 8 digits) or "dddddddd ": those
// that end among 64 bytes. All of them are told apart at once, so that none waits for the end of the one before.
class PlainEntries {
  public:
    std::uint32_t index = 0;
    double value = 0.0;
    std::size_t length = 0;  // of the index of the entry that was read last
    const char* next;        // where the next entry begins

    explicit PlainEntries(const char* p)
        : next(p), others_(others_in(p) | std::uint64_t{others_in(p + 32)} << 32 | LAST) {}

    // False where the next entry is of another kind, or ends beyond.
    bool read() {
        if (!others_) return false;
        std::uint64_t others = others_;
        length = first_of(others);
        if (length - 1 >= 8 || next[length] != ':') return false;
        std::size_t begin = length + 1, end = first_of(others &= others - 1);
        std::uint32_t whole = 0;
        const bool fraction = next[end] == '.';
        if (fraction) {
            if (end != begin + 1) return false;
            whole = static_cast<std::uint32_t>(next[begin] - '0');
            begin = end + 1;
            end = first_of(others & (others - 1));
        }
        const std::size_t n = end - begin;
        if (n - 1 >= 8 || next[end] != ' ') return false;
        const TwoNumbers found(next, length, next + begin, n);
        index = found.first;
        value = static_cast<double>(static_cast<std::int32_t>(found.second + whole * WHOLE_POWERS[n]));
        if (fraction) value /= POWERS_OF_TEN[n];
        next += end + 1;
        others_ >>= end + 1;
        return true;
    }

  private:
    // Taken for others, so that an entry that begins before them has three.
    static constexpr std::uint64_t LAST = std::uint64_t{7} << 61;

    static std::size_t first_of(std::uint64_t bits) { return static_cast<std::size_t>(__builtin_ctzll(bits)); }

    std::uint64_t others_;  // bit i is for byte i from next on
};

// Reads a decimal of the common kind, [-] up to 8 digits [. up to 15 digits], that starts at byte `at` of p, as
// read_decimal does; `others` are those of p. The byte where it ends, or 0 where it is of another kind.
inline int quick_decimal(const char* p, int at, std::uint32_t others, double& number) {
    others &= ~std::uint32_t{0} << at;
    const bool negative = p[at] == '-';
    at += negative;
    others &= others - negative;
    if (others == 0) return 0;
    int end = __builtin_ctz(others);
    if (end == at || end - at > 8) return 0;
    std::uint64_t w = some_digits(p + at, end - at);
    double x;
    if (p[end] == '.') {
        at = end + 1;
        others &= others - 1;
        if (others == 0) return 0;
        end = __builtin_ctz(others);
        const int digits = end - at;
        if (digits <= 8) {
            w = w * WHOLE_POWERS[digits] + (digits ? some_digits(p + at, digits) : 0);
        } else {
            if (digits > 15) return 0;
            w = w * WHOLE_POWERS[8] + some_digits(p + at, 8);
            if (w > EXACT / WHOLE_POWERS[8]) return 0;
            w = w * WHOLE_POWERS[digits - 8] + some_digits(p + at + 8, digits - 8);
        }
        if (w > EXACT) return 0;  // more digits than a double holds
        x = static_cast<double>(static_cast<i64>(w)) / POWERS_OF_TEN[digits];
    } else {
        x = static_cast<double>(static_cast<i64>(w));
    }
    number = negative ? -x : x;
    return end;
}

}  // namespace perceptive
