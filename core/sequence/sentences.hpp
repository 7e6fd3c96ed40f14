// Sentences ready to be learned from: for each token the features that fire, numbered within the data.
//
// A feature gets a row of weights when it first errs; until then its row is −1 and it costs a look at one number.
// Models that learn from the same sentences at the same time have rows of their own.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "require.hpp"
#include "sequence/choices.hpp"
#include "sequence/templates.hpp"

namespace perceptive {

constexpr int RAW = -1;  // the "template" of features that are given by name
// The "templates" of whole segments: how long, which words, which shapes, whether in a dictionary (the first; the next
// ones are further down).
constexpr int SEGMENT_LENGTH = -2, SEGMENT_TEXT = -3, SEGMENT_SHAPE = -4, SEGMENT_IN = -5;

// What a feature is made of: enough to write down its name.
struct FeatureName {
    std::int32_t template_index;  // or RAW
    std::vector<Id> ids;
};

// The names of many features, side by side.
class FeatureNames {
  public:
    FeatureNames() = default;
    FeatureNames(std::vector<std::int16_t> in, std::vector<Id> ids, std::vector<std::uint32_t> start)
        : in_(std::move(in)), ids_(std::move(ids)), start_(std::move(start)) {}

    void add(const FeatureName& name) {
        in_.push_back(static_cast<std::int16_t>(name.template_index));
        ids_.insert(ids_.end(), name.ids.begin(), name.ids.end());
        start_.push_back(static_cast<std::uint32_t>(ids_.size()));
    }
    std::int32_t template_of(i64 r) const { return in_[r]; }
    const Id* ids(i64 r) const { return ids_.data() + start_[r]; }
    std::size_t count(i64 r) const { return start_[r + 1] - start_[r]; }

  private:
    std::vector<std::int16_t> in_;
    std::vector<Id> ids_;
    std::vector<std::uint32_t> start_{0};
};

// Features are numbers here: a pointer to a row for each of them would take twice the memory.
struct FeatureSet {
    std::vector<i64> start{0};          // features of token t: [start[t], start[t + 1])
    std::vector<std::int32_t> number;   // of each feature
    std::vector<float> value;           // of each feature, or empty: all are 1
    std::vector<Key> key;               // by number
    std::vector<std::int32_t> seen_at;  // by number: a token where it fires
    std::vector<std::int16_t> seen_in;  // by number: its template
    KeyTable numbers;

    PERCEPTIVE_INLINE void add(Key k, i64 token, std::int32_t in, float v) {
        const std::int32_t fresh = static_cast<std::int32_t>(key.size());
        const std::int32_t i = numbers.insert(k, fresh);
        if (i == fresh) {
            if (fresh == INT32_MAX)
                throw std::length_error("too many features; raise min_count, or use fewer templates");
            key.push_back(k);
            seen_at.push_back(static_cast<std::int32_t>(token));
            seen_in.push_back(static_cast<std::int16_t>(in));
        }
        if (v != 1.0f && value.empty()) value.assign(number.size(), 1.0f);
        if (v != 1.0f || !value.empty()) value.push_back(v);
        number.push_back(i);
    }

    // Features seen less than min_count times go, unless they have a row already; the table of keys is given back.
    // Returns the row of each feature that stays.
    template <class RowOf>
    std::vector<std::int32_t> finish(i64 min_count, RowOf row_of) {
        numbers.release();
        std::vector<std::int32_t> row(key.size());
        for (std::size_t i = 0; i < key.size(); ++i) row[i] = row_of(key[i]);
        if (min_count > 1) drop(row, [&, times = counted()](std::size_t i) { return times[i] < min_count; });
        key.shrink_to_fit(), seen_at.shrink_to_fit(), seen_in.shrink_to_fit();
        return row;
    }

    // How often each is seen, by number.
    std::vector<i64> counted() const {
        std::vector<i64> times(key.size(), 0);
        for (const std::int32_t i : number) ++times[i];
        return times;
    }

    // Features that `goes` names by number go, unless they have a row.
    template <class Goes>
    void drop(std::vector<std::int32_t>& row, Goes goes) {
        std::vector<std::int32_t> moved(key.size(), -1);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < key.size(); ++i) {
            if (row[i] < 0 && goes(i)) continue;
            key[kept] = key[i], seen_at[kept] = seen_at[i], seen_in[kept] = seen_in[i], row[kept] = row[i];
            moved[i] = static_cast<std::int32_t>(kept++);
        }
        key.resize(kept), seen_at.resize(kept), seen_in.resize(kept), row.resize(kept);
        std::size_t out = 0;
        i64 at = 0;
        for (std::size_t t = 0; t + 1 < start.size(); ++t) {
            for (const i64 end = start[t + 1]; at < end; ++at) {
                const std::int32_t to = moved[number[at]];
                if (to < 0) continue;
                if (!value.empty()) value[out] = value[at];
                number[out++] = to;
            }
            start[t + 1] = static_cast<i64>(out);
        }
        number.resize(out);
        number.shrink_to_fit();
        if (!value.empty()) value.resize(out);
    }
};

// The rows of weights that the features of some sentences have in a model: by number, −1 for none.
struct SentenceRows {
    std::vector<std::int32_t> state, edge, segment;
};

// What is wrong with a sentence: which one it is, what, and what stands before its place ("forced, ").
struct SentenceError : std::invalid_argument {
    SentenceError(i64 sentence, const char* message, const char* about = "")
        : std::invalid_argument(about + ("sentence " + std::to_string(sentence)) + ": " + message),
          example(sentence),
          message(message),
          about(about) {}
    i64 example;
    const char *message, *about;  // literals
};

struct Sentences {
    int n_base = 0;
    std::vector<i64> start{0};        // tokens of sentence i: [start[i], start[i + 1])
    std::vector<std::int32_t> label;  // of each token, or what is known of it (choices.hpp)
    Choices choices;
    std::vector<Id> base;             // n_base numbers a token, to name features by
    std::vector<std::uint64_t> hash;  // of each sentence: what fires, which labels it has, and its weight
    std::vector<double> weight;       // of each sentence, or empty: all are 1
    FeatureSet state, edge;
    i64 longest = 0;            // tokens of the longest segment; 0: no segments
    std::vector<i64> segments;  // token → the slot of the segment of one token that begins there; longer ones follow
    FeatureSet segment;         // of each slot
    SentenceRows rows;          // in the model that encoded them

    void weigh(std::vector<double> given) {
        require(weight.empty() && given.size() == hash.size(), "give one weight for each sentence, once");
        for (std::size_t i = 0; i < given.size(); ++i) {
            std::uint64_t bits;
            std::memcpy(&bits, &given[i], sizeof bits);
            hash[i] = given[i] > 0 ? mix(hash[i], bits) : 0;  // those without a weight are not played
        }
        weight = std::move(given);
    }

    i64 size() const { return static_cast<i64>(start.size()) - 1; }
    i64 tokens() const { return start.back(); }
};

}  // namespace perceptive
