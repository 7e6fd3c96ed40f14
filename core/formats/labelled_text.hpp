// Labelled text: one example a line, "label TAB text", or fastText's "__label__x … text"; or the text alone.
//
// Labels are words. Of several __label__ the first counts. An empty label is none. The twin is
// tests/support/twins/labelled_text.py.
#pragma once

#include <algorithm>
#include <string_view>

#include "formats/examples.hpp"
#include "formats/features.hpp"
#include "formats/lines.hpp"

namespace perceptive {

struct LabelledTextOptions {
    TextReading text;
    bool labelled = true;
    bool remember = false;  // names, in the inverted index
};

template <class V>
class LabelledTextParser : public OneLine {
  public:
    static constexpr bool tells_broken_utf8 = true;
    Examples<V> examples;

    LabelledTextParser(std::string_view text, const LabelledTextOptions& options)
        : options_(options), features_(options.text.options, options.text.idf) {
        examples.indices.room(text.size() / 8);
        examples.data.room(text.size() / 8);
    }

    InvertedIndex& names() { return names_; }
    void drop() {}  // lines are refused before their text is read

    void line(const char* p, const char* end) {
        const char* text = skip_blanks(p, end);
        if (text == end) return;
        std::string_view label;
        const char* several = nullptr;
        if (options_.labelled) {
            if (is_label(text, end)) {
                label = token_at(text, end).substr(MARK.size());
                const char* const first = text;
                text = next_token(text, end);
                if (is_label(text, end)) several = first;
                while (is_label(text, end)) text = next_token(text, end);
            } else {
                const char* const tab = std::find(p, end, '\t');
                if (tab == end)
                    refuse(text,
                           "there is no label; write label TAB text, or __label__x text, or have the lines read as "
                           "unlabelled texts");
                label = trim({p, static_cast<std::size_t>(tab - p)});
                text = tab + 1;
            }
            require_utf8(label, label.data(), "label");
        }
        features_.add({text, static_cast<std::size_t>(end - text)}, options_.remember ? &names_ : nullptr);
        features_.end_row();
        const std::size_t n = features_.buckets().size();
        std::copy_n(features_.buckets().begin(), n, examples.indices.room(n));
        std::transform(features_.values().begin(), features_.values().end(), examples.data.room(n),
                       [](double value) { return static_cast<V>(value); });
        examples.indices.advance(n);
        examples.data.advance(n);
        if (several)
            examples.several.note(several, [&] { return "of several labels '" + shown(label) + "' was taken"; });
        examples.end_row(label.empty() ? UNLABELLED : examples.labels.word(label));
    }

  private:
    static const char* next_token(const char* p, const char* end) {
        return skip_blanks(p + token_at(p, end).size(), end);
    }

    static constexpr std::string_view MARK = "__label__";

    static bool is_label(const char* p, const char* end) {
        return std::string_view(p, static_cast<std::size_t>(end - p)).substr(0, MARK.size()) == MARK;
    }

    const LabelledTextOptions& options_;
    TextFeatures features_;
    InvertedIndex names_;
};

}  // namespace perceptive
