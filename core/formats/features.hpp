// The named features of one example, on their way through the hash kernel into a row.
//
// Interactions are products of two features: of every two ("all pairs"), or of those of two namespaces. The name of a
// product is the two names, the smaller first, joined by '*'. Numbers are scaled before that.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/examples.hpp"
#include "formats/lines.hpp"
#include "formats/meaning.hpp"
#include "formats/scaling.hpp"
#include "text/hashed_row.hpp"
#include "text/hashing.hpp"
#include "text/text.hpp"

namespace perceptive {

// The columns of names that are known, and that of all others; these are left out where it is negative.
struct NamedColumns {
    ByName<std::int32_t> known;
    std::int32_t others = -1;
};

struct FeatureOptions {
    HashKernel kernel;
    bool remember = false;                                   // names, in the inverted index
    bool all_pairs = false;                                  // interactions
    std::vector<std::pair<std::string, std::string>> pairs;  // of namespaces
    std::shared_ptr<const Scaling> scaling;                  // of numbers, by the names of their columns
    bool missing = false;                                    // what is missing has a feature, too
    bool apart = false;                                      // numbers of columns are no words of texts
    bool alike = false;                                      // a value means the same in every format
    std::shared_ptr<const NamedColumns> columns;             // of names that are not hashed
};

// How text becomes features, by the same hash kernel.
struct TextReading {
    TextOptions options;
    const float* idf = nullptr;         // 2^bits factors
    std::shared_ptr<const void> owner;  // of idf
};

constexpr std::size_t MOST_PAIRS = std::size_t{1} << 22;  // interactions in one row

class FeatureRow {
  public:
    InvertedIndex names;
    Measures* measures = nullptr;  // where given, numbers are measured, words counted, and there are no features

    explicit FeatureRow(const FeatureOptions& options)
        : options_(options), interacts_(options.all_pairs || !options.pairs.empty()) {
        for (const auto& [left, right] : options.pairs) {
            const int a = number_of(left), b = number_of(right);
            partners_[a].push_back(b);
            if (a != b) partners_[b].push_back(a);
        }
        for (std::vector<int>& mine : partners_) {  // a:b may be given twice, and as b:a
            std::sort(mine.begin(), mine.end());
            mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
        }
        members_.resize(partners_.size());
    }

    void clear() {
        row_.clear();
        text_.clear();
        named_.clear();
        if (measures) measures->forget();
    }

    // `padded`: 4 bytes past the name may be read, which is faster.
    void add(std::string_view name, double value, std::string_view space = {}, bool padded = false) {
        if (value == 0.0 || measures) return;
        Murmur3 murmur(name.data(), options_.kernel.seed);
        enter(padded ? murmur.hash_padded(name.size()) : murmur.hash(name.size()), name, value);
        if (!interacts_) return;
        named_.push_back({text_.size(), name.size(), space.size(), value});
        text_.append(name).append(space);
    }

    // A number of a column; no word has its name where columns are set apart from texts.
    void add_number(std::string_view column, double value, std::string_view space) {
        if (!options_.apart) return add(column, value, space);
        apart_.assign(column).append(1, ':');
        add(apart_, value, space);
    }

    void add_word(std::string_view column, std::string_view value, std::string_view space) {
        double x = 0.0;
        if (measures && !reads_as_number(value, x)) measures->add_word(column, value);
        if (measures) return;
        word_.assign(column).append(1, '=').append(options_.alike ? meant(value, meant_) : value);
        add(word_, 1.0, space);
    }

    // How the numbers of a column are scaled.
    Scale scale_of(std::string_view column) const {
        const Scale* const known = options_.scaling ? options_.scaling->find(column) : nullptr;
        return known ? *known : Scale();
    }

    // A number of a column as it becomes the value of a feature.
    double number(std::string_view column, double x) {
        return measures || options_.scaling ? measured_and_scaled(column, x) : x;
    }

    void add_missing(std::string_view column, std::string_view space) {
        if (!options_.missing) return;
        missing_.assign(column).append("=missing");
        add(missing_, 1.0, space);
    }

    // The features of a text, weighted as its options say. They do not interact.
    void add_text(TextFeatures& text, std::string_view utf8) {
        if (measures) return;
        text.add(utf8, options_.remember ? &names : nullptr);
        text.end_row();
        for (std::size_t i = 0; i < text.buckets().size(); ++i)
            row_.add(static_cast<std::uint32_t>(text.buckets()[i]), text.values()[i]);
    }

    // Writes the row of the line that ends `at`.
    template <class V>
    void end(Examples<V>& examples, const char* at) {
        if (interacts_ && !interact())
            refuse(at, "too many interactions in one example; name the namespaces that interact");
        std::int32_t* index = examples.indices.room(row_.size());
        V* value = examples.data.room(row_.size());
        std::size_t stored = 0;
        row_.finish(options_.kernel.bits, [&](std::int32_t bucket, double sum) {
            index[stored] = bucket;
            value[stored] = static_cast<V>(sum);
            if (!std::isfinite(value[stored++]))
                refuse(at, "the features of one bucket add up to too large a number; rescale");
        });
        examples.indices.advance(stored);
        examples.data.advance(stored);
        keep();
        clear();
    }

    // The line is sound: what was measured in it counts.
    void keep() {
        if (measures) measures->keep();
    }

  private:
    struct Named {
        std::size_t begin, length, space;  // name and namespace in text_
        double value;
    };

    std::string_view name_of(const Named& f) const { return std::string_view(text_).substr(f.begin, f.length); }
    std::string_view space_of(const Named& f) const {
        return std::string_view(text_).substr(f.begin + f.length, f.space);
    }

    double measured_and_scaled(std::string_view column, double x) {
        if (measures) measures->add(column, x);
        return scale_of(column)(x);
    }

    PERCEPTIVE_INLINE void enter(std::uint32_t hash, std::string_view name, double value) {
        if (options_.columns) return enter_known(name, value);
        const std::uint32_t bucket = options_.kernel.bucket(hash);
        if (options_.remember) names.add(bucket, name);
        row_.add(bucket, options_.kernel.signed_value(hash, value));
    }

    void enter_known(std::string_view name, double value) {
        const std::int32_t* const known = options_.columns->known.find(name);
        const std::int32_t column = known ? *known : options_.columns->others;
        if (column >= 0) row_.add(static_cast<std::uint32_t>(column), known ? value : 1.0);
    }

    // Namespaces that interact are numbered; the key lies in the options.
    int number_of(std::string_view space) {
        const auto [place, is_new] = number_.try_emplace(space, static_cast<int>(partners_.size()));
        if (is_new) partners_.emplace_back();
        return place->second;
    }

    void multiply(const Named& one, const Named& other) {
        std::string_view a = name_of(one), b = name_of(other);
        if (b < a) std::swap(a, b);
        product_.assign(a).append(1, '*').append(b);
        enter(options_.kernel.hash(product_), product_, one.value * other.value);
    }

    // Products of features i < j, in the order of i and then of j. How many there are is known beforehand, and nothing
    // is done for features that do not interact. False where there are too many.
    bool interact() {
        const std::size_t n = named_.size();
        if (!options_.all_pairs) return interact_by_spaces();
        if (n > 1 && n - 1 > 2 * MOST_PAIRS / n) return false;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = i + 1; j < n; ++j) multiply(named_[i], named_[j]);
        return true;
    }

    bool interact_by_spaces() {
        for (std::vector<std::size_t>& mine : members_) mine.clear();
        of_.clear();
        for (std::size_t i = 0; i < named_.size(); ++i) {
            const auto known = number_.find(space_of(named_[i]));
            of_.push_back(known == number_.end() ? -1 : known->second);
            if (of_[i] >= 0) members_[of_[i]].push_back(i);
        }
        std::size_t twice = 0;
        for (std::size_t a = 0; a < partners_.size(); ++a)
            for (const int b : partners_[a]) {
                const std::size_t mine = members_[a].size(), theirs = members_[b].size();
                if (static_cast<int>(a) == b)
                    twice += mine ? mine * (mine - 1) : 0;
                else
                    twice += mine * theirs;
                if (twice > 2 * MOST_PAIRS) return false;
            }
        for (std::size_t i = 0; twice && i < named_.size(); ++i) {
            if (of_[i] < 0) continue;
            later_.clear();
            for (const int b : partners_[of_[i]])
                later_.insert(later_.end(), std::upper_bound(members_[b].begin(), members_[b].end(), i),
                              members_[b].end());
            if (partners_[of_[i]].size() > 1) std::sort(later_.begin(), later_.end());
            for (const std::size_t j : later_) multiply(named_[i], named_[j]);
        }
        return true;
    }

    const FeatureOptions& options_;
    bool interacts_;
    HashedRow row_;
    std::string text_, product_, missing_, apart_, word_, meant_;
    std::vector<Named> named_;
    std::unordered_map<std::string_view, int> number_;  // of the namespaces that interact
    std::vector<std::vector<int>> partners_;            // of each, those that it interacts with
    std::vector<std::vector<std::size_t>> members_;     // of each, its features in this row
    std::vector<int> of_;                               // of each feature the number of its namespace, or -1
    std::vector<std::size_t> later_;
};

// What the parsers of formats with named features have in common.
template <class V>
class FeatureParser : public OneLine {
  public:
    Examples<V> examples;
    FeatureRow features;

    explicit FeatureParser(const FeatureOptions& options) : features(options) {}

    InvertedIndex& names() { return features.names; }

    // Forget what a line that turned out to be broken has left.
    void drop() {
        examples.drop_row();
        features.clear();
    }
};

}  // namespace perceptive
