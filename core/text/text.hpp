// Text as hashed features: word n-grams and character n-grams. Its twin is reference/text.py.
//
//   φ[h] = idf[h] · Σ_{j: bucket(j) = h} ξ(j) weight(tf_j),   then φ / ‖φ‖₂
//
// Names: a word is its lower-cased bytes; a word n-gram is its words joined by one space; a character n-gram is "c:"
// and its characters, taken within a run set between < and >. No word holds a space or a colon, so no two kinds meet.
// The hash of a feature is murmur3 of its name. Features are told apart by all 32 bits of it. Part of every model that
// reads text: never change it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

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

// Sorts hashes. They are spread evenly, so that sharing them out by their top bits among as many groups leaves little
// to be sorted; where many are alike, their group is sorted the usual way.
class HashSorter {
  public:
    // Fewer than 2^32 of them.
    void sort(std::vector<std::uint32_t>& keys) {
        const std::size_t n = keys.size();
        if (n > few / 2) {
            int g = 5;
            while (g < 12 && (n >> g) != 0) ++g;
            const int shift = 32 - g;
            const std::size_t groups = std::size_t{1} << g;
            at_.assign(groups + 1, 0);
            for (const std::uint32_t key : keys) ++at_[(key >> shift) + 1];
            for (std::size_t i = 1; i < groups; ++i) at_[i + 1] += at_[i];
            sorted_.resize(n);
            for (const std::uint32_t key : keys) sorted_[at_[key >> shift]++] = key;
            keys.swap(sorted_);
            for (std::size_t i = 0, begin = 0; i < groups; begin = at_[i++])  // at_[i] is now the end of group i
                if (at_[i] - begin > few) std::sort(keys.begin() + begin, keys.begin() + at_[i]);
        }
        for (std::size_t i = 1; i < n; ++i) {  // insertion: groups are short or sorted
            const std::uint32_t key = keys[i];
            std::size_t p = i;
            for (; p > 0 && keys[p - 1] > key; --p) keys[p] = keys[p - 1];
            keys[p] = key;
        }
    }

  private:
    static constexpr std::size_t few = 16;
    std::vector<std::uint32_t> sorted_, at_;
};

// The features of one row after the other. Holds on to its buffers: nothing is allocated per token, nor per row once
// they have grown. Make one for each thread.
class TextFeatures {
  public:
    // idf: 2^bits factors, which must outlive this; or nullptr.
    explicit TextFeatures(const TextOptions& options, const float* idf = nullptr)
        : options_(options), idf_(idf), tokens_(options.lowercase, options.chars_most > 0) {}

    // Counts the features of a text into the present row. meet(hash, name) is called for each occurrence; the name is
    // gone after the call.
    template <class Meet>
    void add(std::string_view utf8, Meet&& meet) {
        tokens_.read(utf8);
        if (options_.words_most > 0) add_words(meet);
        if (options_.chars_most > 0) add_chars(meet);
    }

    void add(std::string_view utf8) {
        add(utf8, [](std::uint32_t, std::string_view) {});
    }

    // Ends the row: sink(bucket, value) for each bucket that is not 0, ascending.
    template <class Sink>
    void finish(Sink&& sink) {
        weigh();
        for (std::size_t i = 0; i < buckets_.size(); ++i) sink(static_cast<std::uint32_t>(buckets_[i]), values_[i]);
    }

    // Ends the row in a matrix, together with what the matrix' present row holds already. False where a sum is not
    // finite, as HashedRows::end_row.
    bool finish_row(HashedRows& rows) {
        if (rows.nothing_added()) {
            weigh();
            rows.append(buckets_, values_);
        } else {
            finish([&](std::uint32_t bucket, double value) { rows.add(bucket, value); });
        }
        return rows.end_row();
    }

    // Forgets the present row.
    void drop_row() { keys_.clear(); }

    const TextOptions& options() const { return options_; }
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

    // The row from its keys.
    void weigh() {
        if (keys_.size() > UINT32_MAX) throw std::length_error("a row has 2^32 features or more; split the text");
        sorter_.sort(keys_);
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
        keys_.clear();
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
    HashSorter sorter_;
    std::vector<std::uint32_t> keys_;
    std::vector<std::int32_t> buckets_;  // the row when it is weighed
    std::vector<double> values_;
    char name_[2 + 4 * TextOptions::longest] = {'c', ':'};
};

// How many rows each bucket is in, and from that the smooth idf[h] = ln((1 + n) / (1 + df[h])) + 1.
class DocumentFrequencies {
  public:
    explicit DocumentFrequencies(int bits) : df_(std::size_t{1} << bits) {}

    // All rows of a matrix of 2^bits columns.
    void count(const HashedRows& rows) {
        for (const std::int32_t bucket : rows.indices) ++df_[static_cast<std::size_t>(bucket)];
        n_ += rows.indptr.size() - 1;
    }

    // What another one, of as many bits, has counted.
    void add(const DocumentFrequencies& other) {
        for (std::size_t h = 0; h < df_.size(); ++h) df_[h] += other.df_[h];
        n_ += other.n_;
    }

    std::vector<float> idf() const {
        std::vector<float> idf(df_.size());
        const auto smooth = [&](std::uint64_t df) {
            return static_cast<float>(std::log((1.0 + static_cast<double>(n_)) / (1.0 + static_cast<double>(df))) +
                                      1.0);
        };
        const float unseen = smooth(0);  // most of them
        for (std::size_t h = 0; h < idf.size(); ++h) idf[h] = df_[h] == 0 ? unseen : smooth(df_[h]);
        return idf;
    }

  private:
    std::vector<std::uint64_t> df_;
    std::uint64_t n_ = 0;
};

}  // namespace perceptive
