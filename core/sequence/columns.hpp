// Tokens as numbers: the columns that are given, and those derived from them (lower case, affixes, shapes, …).
//
// Every column has its own numbers. A derived value is worked out once for each different string of its base column
// and is then a copy of a number. 0 is no value at all: a feature that would look at it does not fire.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "require.hpp"
#include "rows.hpp"
#include "text/characters.hpp"
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
    return by_name<Derive>(name,
                           {"", "lower", "norm", "prefix", "suffix", "shape", "pattern", "has", "is", "length", "in"},
                           "unknown column function " + name);
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
            const Characters& characters = Characters::all();
            for (std::size_t at = 0; at < word_.size();) {
                const std::uint32_t c = next_character(word_, at);
                const bool digit = of == Derive::norm && characters[c].shape == Shape::digit;
                append_character(text, digit ? '0' : characters.lower(c));
            }
        }
        return text;
    }

  private:
    std::string_view word_;
    std::string lower_, norm_;
};

// Words, and the value of each: what stands behind a tab in its line, else "yes". The first line of a word counts.
class Dictionary {
  public:
    explicit Dictionary(const std::vector<std::string>& lines) {
        for (const std::string& line : lines) {
            const std::size_t tab = line.find('\t');
            const std::int32_t known = words_.size();
            if (words_.add(std::string_view(line).substr(0, tab)) < known) continue;
            values_.push_back(tab == std::string::npos ? "yes" : line.substr(tab + 1));
        }
    }

    // Empty where the word is not there.
    std::string operator[](std::string_view word) const {
        const std::int32_t i = words_.find(word);
        return i < 0 ? std::string() : values_[static_cast<std::size_t>(i)];
    }

  private:
    Symbols words_;
    std::vector<std::string> values_;
};

// How often each shape comes in a word, and which comes first.
struct ShapeCounts {
    Shape first = Shape::other;
    int other = 0, upper = 0, lower = 0, digit = 0, letter = 0, punctuation = 0;

    explicit ShapeCounts(std::string_view word) {
        int* const counts[] = {&other, &upper, &lower, &digit, &letter, &punctuation};
        for (std::size_t at = 0; at < word.size();) {
            const bool begins = at == 0;
            const Shape shape = Characters::all()[next_character(word, at)].shape;
            if (begins) first = shape;
            ++*counts[static_cast<int>(shape)];
        }
    }

    bool has_letters() const { return upper + lower + letter > 0; }
};

inline bool has(std::string_view word, int what) {
    if (what == has_hyphen) return word.find('-') != std::string_view::npos;
    if (what == has_dot) return word.find('.') != std::string_view::npos;
    const ShapeCounts n(word);
    return (what == has_digit   ? n.digit
            : what == has_upper ? n.upper
            : what == has_lower ? n.lower
                                : n.punctuation) > 0;
}

inline bool is(std::string_view word, int what) {
    const ShapeCounts n(word);
    switch (what) {
        case is_capitalised: return n.first == Shape::upper;
        case is_upper: return n.upper > 0 && n.lower == 0;
        case is_number: return n.digit > 0 && !n.has_letters() && n.other == 0;
        case is_title: return n.first == Shape::upper && n.upper == 1 && n.lower > 0;
        default: return n.punctuation > 0 && !n.has_letters() && n.digit == 0 && n.other == 0;
    }
}

// "Professor" is Xxxxxxxxx, and with runs written once Xx+. At most 32 characters, each + not counted.
inline std::string shape_of(std::string_view word, bool runs_once) {
    std::string shape;
    std::uint32_t last = 0x110000;  // no character
    int count = 0;
    for (std::size_t at = 0; at < word.size() && count < 32;) {
        std::uint32_t c = next_character(word, at);
        switch (Characters::all()[c].shape) {
            case Shape::upper: c = 'X'; break;
            case Shape::lower:
            case Shape::letter: c = 'x'; break;
            case Shape::digit: c = 'd'; break;
            default: break;
        }
        if (!runs_once || c != last) {
            append_character(shape, c);
            ++count;
        } else if (shape.back() != '+') {
            shape += '+';
        }
        last = c;
    }
    return shape;
}

// The value of a derived column; empty for none.
inline std::string derive(const Derived& column, Readings& readings, const std::vector<Dictionary>& dictionaries) {
    const std::string_view word = readings(column.of);
    const auto yes = [](bool condition) { return std::string(condition ? "yes" : ""); };
    std::size_t at = 0;
    switch (column.what) {
        case Derive::itself:
        case Derive::lower:
        case Derive::norm: return std::string(readings(column.what));
        case Derive::prefix:
            for (int i = 0; i < column.n; ++i) {
                if (at >= word.size()) return {};
                next_character(word, at);
            }
            return std::string(word.substr(0, at));
        case Derive::suffix:
            at = word.size();
            for (int i = 0; i < column.n; ++i) {
                if (at == 0) return {};
                --at;
                while (at > 0 && (static_cast<std::uint8_t>(word[at]) & 0xC0) == 0x80) --at;
            }
            return std::string(word.substr(at));
        case Derive::shape: return shape_of(word, true);
        case Derive::pattern: return shape_of(word, false);
        case Derive::has: return yes(has(word, column.n));
        case Derive::is: return yes(is(word, column.n));
        case Derive::length: {
            int length = 0;
            for (; at < word.size() && length < 20; ++length) next_character(word, at);
            return std::to_string(length);
        }
        case Derive::in: return dictionaries.at(static_cast<std::size_t>(column.n))[word];
    }
    return {};
}

class Columns {
  public:
    Columns(int n_base, std::vector<Derived> derived, std::vector<Dictionary> dictionaries)
        : n_base_(n_base), derived_(std::move(derived)), dictionaries_(std::move(dictionaries)) {
        require(n_base >= 1, "a token needs at least one column");
        of_base_.resize(static_cast<std::size_t>(n_base));
        known_.resize(static_cast<std::size_t>(n_base));
        for (int d = 0; d < static_cast<int>(derived_.size()); ++d) {
            const Derived& column = derived_[d];
            require(column.base >= 0 && column.base < n_base, "a column is derived from an unknown column");
            require(column.of <= Derive::norm, "strings are read as lower or norm");
            require(column.what != Derive::in ||
                        (column.n >= 0 && static_cast<std::size_t>(column.n) < dictionaries_.size()),
                    "a column reads an unknown dictionary");
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
        require(symbols.size() == symbols_.size(), "vocabularies and columns do not match");
        symbols_ = std::move(symbols);
        for (int b = 0; b < n_base_; ++b)
            known_[b].assign(static_cast<std::size_t>(symbols_[b].size()) * of_base_[b].size(), LATER);
    }

    // The number of a string of a base column; one that is new gets its derived values, too.
    Id meet(int b, std::string_view word) {
        const auto base = static_cast<std::size_t>(b);
        const Id known = symbols_[base].size(), i = symbols_[base].add(word);
        if (i < known) return i;
        Readings readings(word);
        for (const int d : of_base_[base]) known_[base].push_back(value(d, readings, true));
        return i;
    }

    // ids[0 .. width) for one token with the given cells. Unknown strings get numbers if `grow`, else no value.
    void token(const std::string_view* cells, bool grow, Id* ids) {
        for (int b = 0; b < n_base_; ++b) {
            const auto base = static_cast<std::size_t>(b);
            Id i = symbols_[base].find(cells[b]);
            const std::vector<int>& mine = of_base_[base];
            if (i < 0 && grow) i = meet(b, cells[b]);
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

    // The number that a token has in a column, given those of its base columns.
    Id value_of(int column, const Id* given) {
        if (column < n_base_) return given[column];
        const int b = derived_[column - n_base_].base;
        if (given[b] < FIRST_ID) return ABSENT;
        const std::vector<int>& mine = of_base_[b];
        const auto j = std::find(mine.begin(), mine.end(), column - n_base_) - mine.begin();
        return known(b, given[b] - FIRST_ID, static_cast<std::size_t>(j));
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

    int n_base_;
    std::vector<Derived> derived_;
    std::vector<Dictionary> dictionaries_;
    std::vector<Symbols> symbols_;           // of every column
    std::vector<std::vector<int>> of_base_;  // base column → its derived ones
    std::vector<std::vector<Id>> known_;     // base column → for each of its strings the derived values
};

}  // namespace perceptive
