// UTF-8, one character at a time (The Unicode Standard, table 3-7: well-formed UTF-8 byte sequences).
#pragma once

#include <cstdint>
#include <string_view>

namespace perceptive {

struct Decoded {
    std::uint32_t code;
    int length;  // in bytes
    bool sound;
};

// The character at p < end. A broken sequence is as long as its longest beginning that might have been well-formed, at
// least a byte: what Unicode replaces by one U+FFFD.
inline Decoded decode_utf8(const unsigned char* p, const unsigned char* end) {
    const unsigned char lead = *p;
    if (lead < 0x80) return {lead, 1, true};
    if (lead < 0xC2 || lead > 0xF4) return {0, 1, false};
    const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::uint32_t code = lead & (0x7Fu >> length);
    unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;     // no longer than needed
    unsigned char greatest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;  // no surrogates, none past U+10FFFF
    for (int k = 1; k < length; ++k, least = 0x80, greatest = 0xBF) {
        if (end - p <= k || p[k] < least || p[k] > greatest) return {0, k, false};
        code = code << 6 | (p[k] & 0x3Fu);
    }
    return {code, length, true};
}

inline bool is_utf8(std::string_view text) {
    const auto *p = reinterpret_cast<const unsigned char*>(text.data()), *const end = p + text.size();
    while (p < end) {
        const Decoded c = decode_utf8(p, end);
        if (!c.sound) return false;
        p += c.length;
    }
    return true;
}

// Writes 1 to 4 bytes; says how many.
inline std::uint32_t encode_utf8(std::uint32_t code, char* out) {
    const std::uint32_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (length == 1) {
        *out = static_cast<char>(code);
        return 1;
    }
    for (std::uint32_t k = length - 1; k > 0; --k, code >>= 6) out[k] = static_cast<char>(0x80 | (code & 0x3F));
    *out = static_cast<char>(0xF00u >> length | code);
    return length;
}

}  // namespace perceptive
