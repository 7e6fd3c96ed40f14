// Tokens as numbers: the columns that are given, and those derived from them (lower case, affixes, shapes, …).
//
// Every column has its own numbers. A derived value is worked out once for each different string of its base column
// and is then a copy of a number. 0 is no value at all: a feature that would look at it does not fire.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rows.hpp"
#include "text/letters.hpp"
#include "text/symbols.hpp"

namespace perceptive {

using Id = std::int32_t;
constexpr Id ABSENT = 0;
constexpr int MAX_OFFSET = 15;
constexpr Id FIRST_ID = 32;  // 1 … 15: so far before the sentence; 16 … 30: so far behind it
constexpr Id before(int distance) { return distance; }
constexpr Id behind(int distance) { return MAX_OFFSET + distance; }

enum class Derive { itself, lower, norm, prefix, suffix, shape, pattern, has, is, length, in };

inline Derive derive_by_name(const std::string& name) {
    static const std::map<std::string, Derive> all = {
        {"", Derive::itself},         {"lower", Derive::lower},   {"norm", Derive::norm},
        {"prefix", Derive::prefix},   {"suffix", Derive::suffix}, {"shape", Derive::shape},
        {"pattern", Derive::pattern}, {"has", Derive::has},       {"is", Derive::is},
        {"length", Derive::length},   {"in", Derive::in},
    };
    const auto found = all.find(name);
    if (found == all.end()) throw std::invalid_argument("unknown column function " + name);
    return found->second;
}

enum Has { has_digit, has_hyphen, has_upper, has_lower, has_punctuation, has_dot };
enum Is { is_capitalised, is_upper, is_number, is_title, is_punctuation };

struct Derived {
    Derive what;
    int n;                       // of prefix and suffix: characters; of has and is: which; of in: the dictionary
    int base;                    // the column it is derived from
    Derive of = Derive::itself;  // itself, lower or norm: how the string is read before

    // Whether a place outside the sentence has a value in this column.
    bool outside() const {
        return what == Derive::lower || what == Derive::norm || what == Derive::shape || what == Derive::pattern;
    }
};

// A string, with its lower case and norm made once, when they are asked for: many columns read them.
class Readings {
  public:
    explicit Readings(std::string_view word) : word_(word) {}

    std::string_view operator()(Derive of) {
        if (of == Derive::itself) return word_;
        std::string& text = of == Derive::lower ? lower_ : norm_;
        if (text.empty()) {
            for (std::size_t at = 0; at < word_.size();) {
                const std::uint32_t c = letters::next(word_, at);
                const bool digit = of == Derive::norm && letters::kind_of(c) == letters::digit;
                letters::append(text, digit ? '0' : letters::lower_of(c));
            }
        }
        return text;
    }

  private:
    std::string_view word_;
    std::string lower_, norm_;
};

// The value of a derived column; empty for none.
inline std::string derive(const Derived& column, Readings& readings, const std::vector<Symbols>& dictionaries) {
    using namespace letters;
    const std::string_view word = readings(column.of);
    std::string value;
    const auto yes = [](bool condition) { return condition ? std::string("yes") : std::string(); };
    switch (column.what) {
        case Derive::itself:
        case Derive::lower:
        case Derive::norm: return std::string(readings(column.what));
        case Derive::prefix: {
            std::size_t at = 0;
            for (int i = 0; i < column.n; ++i) {
                if (at >= word.size()) return {};
                next(word, at);
            }
            return std::string(word.substr(0, at));
        }
        case Derive::suffix: {
            std::size_t at = word.size();
            for (int i = 0; i < column.n; ++i) {
                if (at == 0) return {};
                --at;
                while (at > 0 && (static_cast<std::uint8_t>(word[at]) & 0xC0) == 0x80) --at;
            }
            return std::string(word.substr(at));
        }
        case Derive::shape:
        case Derive::pattern: {
            // Xx+ of "Professor": each character's kind, runs of a shape written once
            std::uint32_t last = 0x110000;  // no character
            std::size_t count = 0;
            for (std::size_t at = 0; at < word.size() && count < 32;) {
                const std::uint32_t c = next(word, at);
                const Kind kind = kind_of(c);
                const std::uint32_t mark = kind == upper                     ? 'X'
                                           : kind == lower || kind == letter ? 'x'
                                           : kind == digit                   ? 'd'
                                                                             : c;
                if (column.what == Derive::pattern || mark != last) {
                    append(value, mark);
                    ++count;
                } else if (value.back() != '+') {
                    value += '+';
                }
                last = mark;
            }
            return value;
        }
        case Derive::has:
            for (std::size_t at = 0; at < word.size();) {
                const std::uint32_t c = next(word, at);
                const Kind kind = kind_of(c);
                if ((column.n == has_digit && kind == digit) || (column.n == has_hyphen && c == '-') ||
                    (column.n == has_upper && kind == upper) || (column.n == has_lower && kind == lower) ||
                    (column.n == has_punctuation && kind == punctuation) || (column.n == has_dot && c == '.'))
                    return "yes";
            }
            return {};
        case Derive::is: {
            bool letters = false, lowers = false, digits = false, marks = false, rest = false, first_upper = false;
            int uppers = 0;
            for (std::size_t at = 0; at < word.size();) {
                const bool first = at == 0;
                const std::uint32_t c = next(word, at);
                const Kind kind = kind_of(c);
                uppers += kind == upper;
                if (first) first_upper = kind == upper;
                letters |= kind == upper || kind == lower || kind == letter;
                lowers |= kind == lower;
                digits |= kind == digit;
                marks |= kind == punctuation;
                rest |= kind == other;
            }
            if (column.n == is_capitalised) return yes(first_upper);
            if (column.n == is_upper) return yes(uppers > 0 && !lowers);
            if (column.n == is_number) return yes(digits && !letters && !rest);
            if (column.n == is_title) return yes(first_upper && uppers == 1 && lowers);
            return yes(marks && !letters && !digits && !rest);
        }
        case Derive::length: {
            int length = 0;
            for (std::size_t at = 0; at < word.size() && length < 20; ++length) next(word, at);
            return std::to_string(length);
        }
        case Derive::in: return yes(dictionaries.at(static_cast<std::size_t>(column.n)).find(word) >= 0);
    }
    return value;
}

class Columns {
  public:
    Columns(int n_base, std::vector<Derived> derived, std::vector<Symbols> dictionaries)
        : n_base_(n_base), derived_(std::move(derived)), dictionaries_(std::move(dictionaries)) {
        if (n_base < 1) throw std::invalid_argument("a token needs at least one column");
        of_base_.resize(static_cast<std::size_t>(n_base));
        known_.resize(static_cast<std::size_t>(n_base));
        for (int d = 0; d < static_cast<int>(derived_.size()); ++d) {
            const Derived& column = derived_[d];
            if (column.base < 0 || column.base >= n_base)
                throw std::invalid_argument("a column is derived from an unknown column");
            if (column.of > Derive::norm) throw std::invalid_argument("strings are read as lower or norm");
            if (column.what == Derive::in &&
                (column.n < 0 || static_cast<std::size_t>(column.n) >= dictionaries_.size()))
                throw std::invalid_argument("a column reads an unknown dictionary");
            of_base_[column.base].push_back(d);
        }
        symbols_.resize(static_cast<std::size_t>(width()));
    }

    int base() const { return n_base_; }
    int width() const { return n_base_ + static_cast<int>(derived_.size()); }
    bool outside(int column) const { return column < n_base_ || derived_[column - n_base_].outside(); }
    const Symbols& symbols(int column) const { return symbols_.at(static_cast<std::size_t>(column)); }

    // Symbols of all columns from a file.
    void restore(std::vector<Symbols> symbols) {
        if (symbols.size() != symbols_.size()) throw std::invalid_argument("vocabularies and columns do not match");
        symbols_ = std::move(symbols);
        for (int b = 0; b < n_base_; ++b) {
            const Symbols& names = symbols_[b];
            known_[b].assign(static_cast<std::size_t>(names.size()) * of_base_[b].size(), LATER);
        }
    }

    // ids[0 .. width) for one token with the given cells. Unknown strings get numbers if `grow`, else no value.
    void token(const std::string_view* cells, bool grow, Id* ids) {
        for (int b = 0; b < n_base_; ++b) {
            const auto base = static_cast<std::size_t>(b);
            Symbols& names = symbols_[base];
            Id i = names.find(cells[b]);
            const std::vector<int>& mine = of_base_[base];
            if (i < 0 && grow) {
                i = names.add(cells[b]);
                know(b, cells[b], true);
            }
            if (i >= 0) {
                ids[b] = i + FIRST_ID;
                for (std::size_t j = 0; j < mine.size(); ++j) ids[n_base_ + mine[j]] = known(b, i, j);
            } else {
                ids[b] = ABSENT;
                Readings readings(cells[b]);
                for (const int d : mine) ids[n_base_ + d] = value(d, readings, false);
            }
        }
    }

    // The numbers of all columns, given those of the base columns.
    void spread(const Id* given, Id* ids) {
        for (int b = 0; b < n_base_; ++b) {
            const auto base = static_cast<std::size_t>(b);
            ids[b] = given[b];
            const std::vector<int>& mine = of_base_[base];
            for (std::size_t j = 0; j < mine.size(); ++j)
                ids[n_base_ + mine[j]] = given[b] < FIRST_ID ? ABSENT : known(b, given[b] - FIRST_ID, j);
        }
    }

    std::string text(int column, Id id) const {
        if (id == ABSENT) return "";
        if (id <= MAX_OFFSET) return "_B-" + std::to_string(id);
        if (id < FIRST_ID) return "_B+" + std::to_string(id - MAX_OFFSET);
        return std::string(symbols(column).name(id - FIRST_ID));
    }

  private:
    static constexpr Id LATER = -1;  // a value that is worked out when it is asked for

    // The j-th derived value of the i-th string of a base column. Several readers may work the same value out.
    Id known(int b, Id i, std::size_t j) {
        const std::vector<int>& mine = of_base_[b];
        Id* at = known_[b].data() + static_cast<std::size_t>(i) * mine.size() + j;
        Id found = __atomic_load_n(at, __ATOMIC_RELAXED);
        if (found == LATER) {
            Readings readings(symbols_[b].name(i));
            found = value(mine[j], readings, false);
            __atomic_store_n(at, found, __ATOMIC_RELAXED);
        }
        return found;
    }

    Id value(int d, Readings& readings, bool grow) {
        const std::string text = derive(derived_[d], readings, dictionaries_);
        if (text.empty()) return ABSENT;
        Symbols& names = symbols_[n_base_ + d];
        const Id i = grow ? names.add(text) : names.find(text);
        return i < 0 ? ABSENT : i + FIRST_ID;
    }

    void know(int b, std::string_view word, bool grow) {
        const auto base = static_cast<std::size_t>(b);
        Readings readings(word);
        for (const int d : of_base_[base]) known_[base].push_back(value(d, readings, grow));
    }

    int n_base_;
    std::vector<Derived> derived_;
    std::vector<Symbols> dictionaries_;
    std::vector<Symbols> symbols_;           // of every column
    std::vector<std::vector<int>> of_base_;  // base column → its derived ones
    std::vector<std::vector<Id>> known_;     // base column → for each of its strings the derived values
};

}  // namespace perceptive
