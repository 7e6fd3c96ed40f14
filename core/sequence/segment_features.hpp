// Features of whole segments: how long, which words, which shapes (runs of one shape count once), in which
// dictionaries.
//
// Keys are made from the first token onward, so that all segments that begin at one token cost as much as the longest.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sequence/sentences.hpp"

namespace perceptive {

struct SegmentFeatures {
    int text = -1, shape = -1;     // columns whose values are read together; −1: not read
    std::vector<Symbols> phrases;  // dictionaries that the words, joined by spaces, are sought in

    static Key begin_key(int kind) { return mix(0xA4093822299F31D0ull, static_cast<Key>(-kind)); }
    static Key key(const FeatureName& name) {
        Key key = begin_key(name.template_index);
        for (const Id id : name.ids) key = mix(key, static_cast<Key>(id));
        return key | 1;
    }

    // each(length, kind, key) for the features of the segments of at most `most` tokens that begin at token b of a
    // window
    template <class Each>
    void each_key(const Window& window, const std::string_view* const* cells, i64 b, i64 most, Each each) const {
        Key words = begin_key(SEGMENT_TEXT), shapes = begin_key(SEGMENT_SHAPE);
        bool all_words = text >= 0, all_shapes = shape >= 0, sought = !phrases.empty() && cells;
        std::string phrase;
        for (i64 length = 1; length <= most; ++length) {
            const i64 t = b + length - 1;
            each(length, SEGMENT_LENGTH, mix(begin_key(SEGMENT_LENGTH), static_cast<Key>(length)) | 1);
            if (all_words) {
                const Id id = window.at(t)[text];
                all_words = id != ABSENT;
                words = mix(words, static_cast<Key>(id));
                if (all_words) each(length, SEGMENT_TEXT, words | 1);
            }
            if (all_shapes) {
                const Id id = window.at(t)[shape];
                all_shapes = id != ABSENT;
                if (length == 1 || id != window.at(t - 1)[shape]) shapes = mix(shapes, static_cast<Key>(id));
                if (all_shapes) each(length, SEGMENT_SHAPE, shapes | 1);
            }
            sought = sought && cells[t] && phrase.size() + cells[t][0].size() <= longest_phrase;
            if (!sought) continue;
            if (length > 1) phrase += ' ';
            phrase += cells[t][0];
            for (std::size_t d = 0; d < phrases.size(); ++d)
                if (phrases[d].find(phrase) >= 0) {
                    const int kind = SEGMENT_IN - static_cast<int>(d);
                    each(length, kind, mix(begin_key(kind), 1) | 1);
                }
        }
    }

    void add_phrases(const std::vector<std::string>& words) {
        phrases.emplace_back();
        for (const std::string& word : words) {
            phrases.back().add(word);
            longest_phrase = std::max(longest_phrase, word.size());
        }
    }

  private:
    std::size_t longest_phrase = 0;  // in bytes
};

}  // namespace perceptive
