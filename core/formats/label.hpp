// The label of an example, in every kind of table. The twin is tests/support/twins/label.py.
//
// A string is missing as a value is, has no blanks around it, and a moment is written as everywhere. Whether one that
// reads as a number is one, is for the reader to say: a model knows its classes, and types tell strings from numbers.
// Other strings stay as they are written, since people see them.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "formats/examples.hpp"
#include "formats/lines.hpp"
#include "formats/meaning.hpp"

namespace perceptive {

enum class LabelReading {
    before,   // models from before read the labels of each format by rules of its own
    typed,    // numbers are numbers, and strings are words; what has no types is read as `numbers`
    numbers,  // strings that read as numbers are numbers, too
    words     // numbers are words, as they are written
};

// Notes where labels that may be codes, such as 007 and 7, are one number.
template <class V>
void note_spelling(Examples<V>& examples, double x, std::string_view value, const char* at) {
    const bool zeros = value.size() > 1 && value[0] == '0' && is_digit(value[1]);
    const bool plain = !zeros && value.find_first_of("eE") == std::string_view::npos;
    auto& codes = examples.codes;
    if (plain && codes.empty()) return;
    const auto known = codes.find(x);
    if (known == codes.end() && !examples.labels.has(x)) {
        if (!plain) codes.emplace(x, value);
    } else if (known == codes.end() ? !plain : known->second != value) {
        examples.spellings.note(at, [&] { return "the label '" + shown(value) + "' is taken as a number"; });
    }
}

// The label that a string stands for; `typed` says whether it would be a number, if it were meant as one. Throws
// BadLine.
template <class V>
std::optional<LabelTable::Value> label_of(Examples<V>& examples, std::string_view value, LabelReading how, bool typed,
                                          const char* at) {
    const bool before = how == LabelReading::before;
    if (!before) value = trim(value);
    if (is_missing(value) && !(before && typed)) {
        if (!value.empty())
            examples.missing_labels.note(at, [&] { return "the label '" + shown(value) + "' is taken as missing"; });
        return std::nullopt;
    }
    const bool numbers = how == LabelReading::numbers || (!typed && how != LabelReading::words);
    double x = 0.0;
    if (numbers && reads_as_number(value, x) && std::isfinite(x)) {
        note_spelling(examples, x, value, at);
        return LabelTable::numeral(x, value);
    }
    require_utf8(value, at, "label");
    std::string room;
    return LabelTable::Value(std::in_place_type<std::string>, before ? value : moment(value, room));
}

}  // namespace perceptive
