// Text as hashed features: word n-grams and character n-grams. Its twin is tests/support/twins/text.py.
//
//   φ[h] = idf[h] · Σ_{j: bucket(j) = h} ξ(j) weight(tf_j),   then φ / ‖φ‖₂
//
// Names: a word is its lower-cased bytes; a word n-gram is its words joined by one space; a character n-gram is "c:"
// and its characters, taken within a run set between < and >. No word holds a space or a colon, so no two kinds meet.
// The hash of a feature is murmur3 of its name. Features are told apart by all 32 bits of it. Part of every model that
// reads text: never change it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "text/hashed_row.hpp"
#include "text/hashing.hpp"
#include "text/tokens.hpp"

namespace perceptive {

enum class Weighting { binary, tf, log_tf };  // 1, tf, 1 + ln tf

struct TextOptions {
    static constexpr int longest = 32;  // n-gram

    int words_least = 1, words_most = 1;  // word n-grams, 1 … longest; 0 and 0 for none
    int chars_least = 0, chars_most = 0;  // character n-grams
    bool lowercase = true;
    Weighting weighting = Weighting::tf;
    bool normalize = true;
    HashKernel kernel{20, 0, true};
};

// The features of one row after the other. Holds on to its buffers: nothing is allocated per token, nor per row once
// they have grown. Make one for each thread.
class TextFeatures {
  public:
    // idf: 2^bits factors, which must outlive this; or nullptr.
    explicit TextFeatures(const TextOptions& options, const float* idf = nullptr)
        : options_(options), idf_(idf), tokens_(options.lowercase, options.chars_most > 0) {}

    // Counts the features of a text into the present row, and enters their names into an index, if there is one.
    void add(std::string_view utf8, InvertedIndex* names = nullptr) {
        tokens_.read(utf8);
        const auto count = [&](auto meet) {
            if (options_.words_most > 0) add_words(meet);
            if (options_.chars_most > 0) add_chars(meet);
        };
        if (names)
            count([&](std::uint32_t h, std::string_view name) { names->add(options_.kernel.bucket(h), name); });
        else
            count([](std::uint32_t, std::string_view) {});
    }

    // Ends the row, which is then in buckets() and values(): ascending, without zeros.
    void end_row() {
        if (keys_.size() > UINT32_MAX) throw std::length_error("a row has 2^32 features or more; split the text");
        sorter_.sort(keys_, 32, [](std::uint32_t key) { return key; });
        weigh();
        keys_.clear();
    }
    const std::vector<std::int32_t>& buckets() const { return buckets_; }
    const std::vector<double>& values() const { return values_; }

    std::uint64_t broken() const { return tokens_.broken(); }  // sequences of bytes that are not UTF-8, so far

  private:
    template <class Meet>
    void add_words(Meet& meet) {
        const std::size_t n_words = tokens_.n_words();
        const auto least = static_cast<std::size_t>(options_.words_least);
        const auto most = static_cast<std::size_t>(options_.words_most);
        for (std::size_t i = 0; i < n_words; ++i) {
            Murmur3 murmur(tokens_.words(i, 1).data(), options_.kernel.seed);
            for (std::size_t n = least; n <= most && i + n <= n_words; ++n) {
                const std::string_view name = tokens_.words(i, n);
                count(murmur.hash_padded(name.size()), name, meet);
            }
        }
    }

    template <class Meet>
    void add_chars(Meet& meet) {
        const auto least = static_cast<std::size_t>(options_.chars_least);
        const auto most = static_cast<std::size_t>(options_.chars_most);
        for (std::size_t r = 0, begin = 0; r < tokens_.n_runs(); begin = tokens_.run_end(r++)) {
            const std::size_t end = tokens_.run_end(r);
            if (end - begin < least) add_char_gram(tokens_.characters(begin, end - begin), meet);
            for (std::size_t i = begin; i < end; ++i)
                for (std::size_t n = least; n <= most && i + n <= end; ++n)
                    add_char_gram(tokens_.characters(i, n), meet);
        }
    }

    // At most TextOptions::longest characters.
    template <class Meet>
    void add_char_gram(std::string_view characters, Meet& meet) {
        std::memcpy(name_ + 2, characters.data(), characters.size());
        const std::string_view name(name_, characters.size() + 2);
        count(options_.kernel.hash(name), name, meet);
    }

    template <class Meet>
    void count(std::uint32_t hash, std::string_view name, Meet& meet) {
        const int bits = options_.kernel.bits;
        keys_.push_back(hash << (32 - bits) | hash >> bits);  // the bucket first: sorted keys are sorted buckets
        meet(hash, name);
    }

    void weigh() {
        const int bits = options_.kernel.bits, shift = 32 - bits;
        const double xi[2] = {1.0,
                              options_.kernel.with_signs ? -1.0 : 1.0};  // not by a branch, which nothing foretells
        const std::size_t n = keys_.size();
        buckets_.resize(n);
        values_.resize(n);
        std::size_t size = 0;
        double square = 0.0;
        for (std::size_t p = 0; p < n;) {
            const std::uint32_t bucket = keys_[p] >> shift;
            double value = 0.0;
            do {
                const std::uint32_t key = keys_[p];
                std::size_t tf = 1;
                while (++p < n && keys_[p] == key) ++tf;
                value += xi[key >> (shift - 1) & 1] * weight(tf);
            } while (p < n && keys_[p] >> shift == bucket);
            const bool kept = value != 0.0;
            if (idf_ != nullptr) value *= static_cast<double>(idf_[bucket]);
            square += value * value;
            buckets_[size] = static_cast<std::int32_t>(bucket);
            values_[size] = value;
            size += kept;
        }
        buckets_.resize(size);
        values_.resize(size);
        if (!options_.normalize) return;
        const double norm = std::sqrt(square);
        for (double& value : values_) value /= norm;
    }

    double weight(std::size_t tf) const {
        if (tf == 1 || options_.weighting == Weighting::binary) return 1.0;
        const auto times = static_cast<double>(tf);
        return options_.weighting == Weighting::tf ? times : 1.0 + std::log(times);
    }

    TextOptions options_;
    const float* idf_;
    Tokens tokens_;
    SpreadSorter<std::uint32_t> sorter_;
    std::vector<std::uint32_t> keys_;
    std::vector<std::int32_t> buckets_;  // the row when it is weighed
    std::vector<double> values_;
    char name_[2 + 4 * TextOptions::longest] = {'c', ':'};
};

// The smooth idf[h] = ln((1 + n) / (1 + df[h])) + 1, where bucket h is in df[h] of the n texts.
inline std::vector<float> smooth_idf(const std::int32_t* df, std::size_t buckets, std::int64_t n) {
    const auto smooth = [n](std::int32_t df) {
        return static_cast<float>(std::log((1.0 + static_cast<double>(n)) / (1.0 + static_cast<double>(df))) + 1.0);
    };
    std::vector<float> idf(buckets, smooth(0));  // that of most: no text has them
    for (std::size_t h = 0; h < buckets; ++h)
        if (df[h] != 0) idf[h] = smooth(df[h]);
    return idf;
}

}  // namespace perceptive
