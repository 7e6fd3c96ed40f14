// What each character is, and its lower-case letter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "text/unicode_tables.hpp"
#include "text/utf8.hpp"

namespace perceptive {

enum class Role : std::uint8_t { separator, mark, letter, word };                     // in tokens.hpp
enum class Shape : std::uint8_t { other, upper, lower, digit, letter, punctuation };  // in sequence/columns.hpp

struct Character {
    Role role;
    Shape shape;
    std::int32_t lower = 0;  // how far its lower-case letter lies
    bool operator==(const Character& c) const { return role == c.role && shape == c.shape && lower == c.lower; }
};

struct CharacterKind {
    char letter;  // in unicode_tables.hpp
    Character character;
};

constexpr CharacterKind KINDS[] = {
    {'O', {Role::separator, Shape::other}},        // controls, spaces, what is not assigned
    {'P', {Role::separator, Shape::punctuation}},  // and symbols
    {'M', {Role::mark, Shape::letter}},            // accents that stand alone
    {'U', {Role::letter, Shape::upper}},           // upper and title case
    {'L', {Role::letter, Shape::lower}},           // lower case
    {'D', {Role::letter, Shape::digit}},           // decimal digits
    {'N', {Role::letter, Shape::other}},           // other numbers
    {'C', {Role::letter, Shape::punctuation}},     // connectors such as the underscore
    {'A', {Role::letter, Shape::letter}},          // letters without case
    {'W', {Role::word, Shape::letter}},            // of scripts without spaces: a letter is a word
};

// A byte per character, made at first use.
class Characters {
  public:
    static const Characters& all() {
        static const Characters characters;
        return characters;
    }

    const Character& operator[](std::uint32_t code) const { return different_[which_[code]]; }
    std::uint32_t lower(std::uint32_t code) const { return code + static_cast<std::uint32_t>((*this)[code].lower); }

  private:
    Characters() {
        which_.reserve(0x110000);
        for (const char* p = kind_runs; *p;) {
            const auto is = [&](const CharacterKind& kind) { return kind.letter == *p; };
            const std::uint8_t number = number_of(std::find_if(std::begin(KINDS), std::end(KINDS), is)->character);
            std::size_t length = 0;
            for (++p; *p >= '0' && *p <= '9'; ++p) length = 10 * length + static_cast<std::size_t>(*p - '0');
            which_.insert(which_.end(), std::max<std::size_t>(length, 1), number);
        }
        for (const LowerRange& range : lower_ranges)
            for (std::uint32_t i = 0; i < range.count; ++i) {
                const std::uint32_t code = range.first + i * range.step;
                Character character = (*this)[code];
                character.lower = range.delta;
                which_[code] = number_of(character);
            }
    }

    std::uint8_t number_of(const Character& wanted) {
        const auto found = std::find(different_.begin(), different_.end(), wanted);
        const auto number = static_cast<std::size_t>(found - different_.begin());
        if (number == 256) throw std::logic_error("more than 256 different characters");
        if (found == different_.end()) different_.push_back(wanted);
        return static_cast<std::uint8_t>(number);
    }

    std::vector<std::uint8_t> which_;
    std::vector<Character> different_;
};

// ---------------------------------------------------------------- strings of characters, some of which may be broken

constexpr std::uint32_t BROKEN = 0xDC00;  // and the byte: stands for a byte that is no part of a character

// The character at text[at], and `at` moved behind it.
inline std::uint32_t next_character(std::string_view text, std::size_t& at) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    const Decoded character = decode_utf8(bytes + at, bytes + text.size());
    if (!character.sound) return BROKEN + bytes[at++];
    at += static_cast<std::size_t>(character.length);
    return character.code;
}

inline void append_character(std::string& text, std::uint32_t code) {
    char bytes[4] = {static_cast<char>(code - BROKEN)};
    const bool broken = code >= BROKEN + 0x80 && code <= BROKEN + 0xFF;
    text.append(bytes, broken ? 1 : encode_utf8(code, bytes));
}

}  // namespace perceptive
