// The named features of one example, on their way through the hash kernel into a row.
//
// Interactions are products of two features: of every two ("all pairs"), or of those of two namespaces. The name of a
// product is the two names, the smaller first, joined by '*'.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "examples.hpp"
#include "hashing.hpp"

namespace perceptive {

struct FeatureOptions {
    HashKernel kernel;
    bool remember = false;                                   // names, in the inverted index
    bool all_pairs = false;                                  // interactions
    std::vector<std::pair<std::string, std::string>> pairs;  // of namespaces
};

constexpr std::size_t MOST_PAIRS = std::size_t{1} << 22;  // interactions in one row

class FeatureRow {
  public:
    InvertedIndex names;

    explicit FeatureRow(const FeatureOptions& options)
        : options_(options), interacts_(options.all_pairs || !options.pairs.empty()) {}

    void clear() {
        entries_.clear();
        text_.clear();
        named_.clear();
    }

    void add(std::string_view name, double value, std::string_view space = {}) {
        if (value == 0.0) return;
        enter(name, value);
        if (!interacts_) return;
        named_.push_back({text_.size(), name.size(), space.size(), value});
        text_.append(name).append(space);
    }

    // A feature whose name is in two parts.
    void add_joined(std::string_view first, std::string_view second, double value, std::string_view space = {}) {
        joined_.assign(first).append(second);
        add(joined_, value, space);
    }

    // Writes the row: sorted by bucket, what shares a bucket added up in the order of arrival. An empty message, or
    // what is wrong.
    template <class V>
    const char* end(Examples<V>& examples) {
        if (interacts_ && !interact()) return "too many interactions in one example; name the namespaces that interact";
        std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
        std::int32_t* const index = examples.indices.room(entries_.size());
        V* const value = examples.data.room(entries_.size());
        std::size_t stored = 0;
        for (std::size_t p = 0; p < entries_.size();) {
            const std::uint64_t bucket = entries_[p].key >> 32;
            double sum = entries_[p].value;
            while (++p < entries_.size() && entries_[p].key >> 32 == bucket) sum += entries_[p].value;
            if (sum == 0.0) continue;
            index[stored] = static_cast<std::int32_t>(bucket);
            value[stored] = static_cast<V>(sum);
            if (!std::isfinite(value[stored]))
                return "the features of one bucket add up to too large a number; rescale";
            ++stored;
        }
        examples.indices.advance(stored);
        examples.data.advance(stored);
        clear();
        return "";
    }

  private:
    struct Entry {
        std::uint64_t key;  // bucket and place in the row
        double value;
    };
    struct Named {
        std::size_t begin, length, space;  // name and namespace in text_
        double value;
    };

    std::string_view name_of(const Named& f) const { return std::string_view(text_).substr(f.begin, f.length); }
    std::string_view space_of(const Named& f) const {
        return std::string_view(text_).substr(f.begin + f.length, f.space);
    }

    void enter(std::string_view name, double value) {
        const std::uint32_t h = options_.kernel.hash(name), bucket = options_.kernel.bucket(h);
        if (options_.remember) names.add(bucket, name);
        entries_.push_back({std::uint64_t{bucket} << 32 | entries_.size(), options_.kernel.sign(h) * value});
    }

    bool wanted(const Named& a, const Named& b) const {
        if (options_.all_pairs) return true;
        const std::string_view s = space_of(a), t = space_of(b);
        for (const auto& [left, right] : options_.pairs)
            if ((s == left && t == right) || (s == right && t == left)) return true;
        return false;
    }

    bool interact() {
        std::size_t made = 0;
        for (std::size_t i = 0; i < named_.size(); ++i)
            for (std::size_t j = i + 1; j < named_.size(); ++j) {
                if (!wanted(named_[i], named_[j])) continue;
                if (++made > MOST_PAIRS) return false;
                std::string_view a = name_of(named_[i]), b = name_of(named_[j]);
                if (b < a) std::swap(a, b);
                product_.assign(a).append(1, '*').append(b);
                enter(product_, named_[i].value * named_[j].value);
            }
        return true;
    }

    const FeatureOptions& options_;
    bool interacts_;
    std::vector<Entry> entries_;
    std::string text_, joined_, product_;
    std::vector<Named> named_;
};

}  // namespace perceptive
