// JSON lines: one object a line. The twin is tests/support/twins/json_lines.py.
//
//   label, weight, text   members of their own (their names are options)
//   features              an object whose members are features like those beside it
//   "a": 2.5              feature a, of value 2.5
//   "a": "x"              feature a=x, of value 1
//   "a": true             feature a=True; models from before: feature a, of value 1, and none for false
//   "a": null             no feature, or a=missing where that is asked for
//   "a": {"b": …}         as "a.b": …
//   "a": ["x", 2.5, …]    strings as features a=x; anything else as "a[1]": …, counted from 0
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "formats/examples.hpp"
#include "formats/features.hpp"
#include "formats/json.hpp"
#include "formats/label.hpp"
#include "formats/lines.hpp"

namespace perceptive {

struct JsonOptions {
    FeatureOptions features;
    TextReading text;
    std::string label = "label", text_key = "text", weight = "weight";
    // Of a table that such lines stand for: its columns, if others are to be left out; whether a string that is a
    // number is one, as in comma-separated values; and the columns in which a number is a word.
    std::optional<std::unordered_set<std::string>> columns;
    bool numerals = false;
    std::unordered_set<std::string> words;
    LabelReading labels = LabelReading::typed;
    std::unordered_set<std::string> ignored;  // names of what is left out, and of all within
};

template <class V>
class JsonParser : public FeatureParser<V> {
  public:
    using FeatureParser<V>::examples, FeatureParser<V>::features;

    JsonParser(std::string_view, const JsonOptions& options)
        : FeatureParser<V>(options.features), options_(options), text_(options.text.options, options.text.idf) {}

    void line(const char* p, const char* end) {
        json_.start(p, end);
        if (json_.peek() == '\0' && json_.at() == end) return;
        label_ = std::nullopt;
        double weight = 1.0;
        json_.object([&](std::string_view key) {
            const char kind = json_.peek();
            if (key == options_.label)
                label(kind);
            else if (key == options_.weight)
                weight = weight_of(kind);
            else if (key == options_.text_key && kind == '"' && !is_ignored(key))
                json_.string(value_), features.add_text(text_, value_);
            else if (key == "features" && kind == '{' && !is_ignored(key))
                json_.object([&](std::string_view inner) { member(inner); });
            else
                member(key);
        });
        json_.finish();
        features.end(examples, end);
        examples.weight.push_back(weight);
        examples.end_row(examples.labels.find(label_));
    }

  private:
    void label(char kind) {
        const char* const at = json_.at();
        if (label_) refuse(at, "there are two labels; give one");
        if (kind == '"') {
            json_.string(value_);
            label_ = label_of(examples, value_, options_.labels, true, at);
        } else if (options_.features.alike && (kind == 't' || kind == 'f')) {
            label_.emplace(std::in_place_type<std::string>, *scalar(kind) ? "True" : "False");
        } else if (kind == '{' || kind == '[') {
            refuse(at, "the label must be a number, a string, true, false or null");
        } else if (const std::optional<double> x = scalar(kind)) {
            const std::string_view written(at, static_cast<std::size_t>(json_.at() - at));
            if (options_.labels == LabelReading::words)
                label_.emplace(std::in_place_type<std::string>, written);
            else
                label_ = LabelTable::numeral(*x, written);
        }
    }

    double weight_of(char kind) {
        const char* const at = json_.at();
        if (kind == '"' || kind == '{' || kind == '[') refuse(at, "the weight must be a number, 0 or more");
        const double weight = scalar(kind).value_or(1.0);
        if (weight < 0.0) refuse(at, "the weight is negative; give 0 or more");
        return weight + 0.0;  // −0 is 0
    }

    // A number; 1 and 0 for true and false; none for null.
    std::optional<double> scalar(char kind) {
        if (kind == 't') return json_.word("true"), 1.0;
        if (kind == 'f') return json_.word("false"), 0.0;
        if (kind == 'n') return json_.word("null"), std::nullopt;
        if (kind != '-' && !is_digit(kind)) json_.expected("a value");
        return json_.number();
    }

    // A member whose key is also its namespace.
    void member(std::string_view key) {
        space_ = key;
        name_ = key;
        value();
    }

    bool is_ignored(std::string_view name) const {
        return !options_.ignored.empty() && options_.ignored.count(std::string(name));
    }

    // Reads a value that is left out.
    void skip() {
        const char kind = json_.peek();
        if (kind == '{')
            json_.object([&](std::string_view) { skip(); });
        else if (kind == '[')
            json_.array([&](std::size_t) { skip(); });
        else if (kind == '"')
            json_.string(value_);
        else
            scalar(kind);
    }

    // Whether what is called name_ is a feature.
    bool counts() const { return !options_.columns || options_.columns->count(name_); }

    // Whether the numbers of a column are names.
    bool is_word(const std::string& name) const { return !options_.words.empty() && options_.words.count(name); }

    void number(double x, const char* at) {
        const double scaled = features.number(name_, x);
        if (!std::isfinite(static_cast<V>(scaled)))
            refuse(at, std::string("the number is too large for ") + type_name<V> + "; rescale");
        if (counts()) features.add_number(name_, scaled, space_);
    }

    // A string: it may be missing, or a number.
    void word(const char* at) {
        const bool alike = options_.features.alike, named = is_word(name_);
        const std::string_view value = alike ? trim(value_) : value_;
        double x = 0.0;
        if ((alike || options_.numerals) && is_missing(value)) {
            if (counts()) features.add_missing(name_, space_);
            return;
        }
        if (!named && options_.numerals) {
            if (reads_as_number(value, x)) return number(x, at);
            if (is_not_finite(value)) refuse_number(value, "value", "", type_name<V>, at);
        }
        if (features.measures && reads_as_number(value, x)) features.measures->add_code(name_);
        if (counts()) features.add_word(name_, value, space_);
    }

    void value() {
        if (is_ignored(name_)) return skip();
        const char kind = json_.peek();
        const std::size_t length = name_.size();
        if (kind == '{') {
            require_short(name_, json_.at());
            json_.object([&](std::string_view key) {
                name_.append(1, '.').append(key);
                value();
                name_.resize(length);
            });
        } else if (kind == '[') {
            require_short(name_, json_.at());
            json_.array([&](std::size_t i) {
                if (json_.peek() != '"') name_ += '[' + std::to_string(i) + ']';
                value();
                name_.resize(length);
            });
        } else if (kind == '"') {
            const char* const at = json_.at();
            json_.string(value_);
            word(at);
        } else {
            const char* const at = json_.at();
            const std::optional<double> found = scalar(kind);
            const bool numeric = kind == '-' || is_digit(kind);
            if (numeric && !is_word(name_)) return number(*found, at);
            if (!counts()) return;
            if (numeric)
                features.add_word(name_, {at, static_cast<std::size_t>(json_.at() - at)}, space_);
            else if (found && options_.features.alike)
                features.add_word(name_, *found ? "True" : "False", space_);
            else if (found)
                features.add_number(name_, *found, space_);
            else
                features.add_missing(name_, space_);
        }
    }

    const JsonOptions& options_;
    JsonReader json_;
    TextFeatures text_;
    std::optional<LabelTable::Value> label_;
    std::string name_, space_, value_;
};

}  // namespace perceptive
