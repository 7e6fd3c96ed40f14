// Examples that a parser has made: labels, importance, query, and the rows of a CSR matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "formats/lines.hpp"
#include "formats/numbers.hpp"
#include "rows.hpp"

namespace perceptive {

// Memory that was let go, kept for what comes next: of a stream of blocks each needs the same again, and pages that are
// fresh from the system cost more than the parsing.
class Pool {
  public:
    // At least so many bytes, which are raised to what there is.
    static void* take(std::size_t& bytes) {
        bytes = std::max(bytes, SMALLEST);
        while (bytes & (bytes - 1)) bytes += bytes & (~bytes + 1);  // up to a power of two
        {
            const std::lock_guard<std::mutex> lock(mutex());
            auto& kept = chunks();
            for (std::size_t i = kept.size(); i-- > 0;)
                if (kept[i].second == bytes) {
                    void* const found = kept[i].first;
                    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
                    return found;
                }
        }
        return ::operator new(bytes);
    }

    // The smallest go where there are too many: the large ones cost most.
    static void give(void* chunk, std::size_t bytes) noexcept {
        if (bytes > SMALLEST && bytes <= LARGEST) {
            const std::lock_guard<std::mutex> lock(mutex());
            auto& kept = chunks();
            if (kept.size() < MOST) return kept.emplace_back(chunk, bytes), void();
            auto smallest = std::min_element(kept.begin(), kept.end(),
                                             [](const auto& a, const auto& b) { return a.second < b.second; });
            if (smallest->second < bytes) std::swap(chunk, smallest->first), smallest->second = bytes;
        }
        ::operator delete(chunk);
    }

    // Nothing comes next: let all of it go.
    static void clear() {
        const std::lock_guard<std::mutex> lock(mutex());
        for (const auto& [chunk, bytes] : chunks()) ::operator delete(chunk);
        chunks().clear();
    }

  private:
    static constexpr std::size_t SMALLEST = 1 << 10, LARGEST = 4 << 20, MOST = 24;

    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    static std::vector<std::pair<void*, std::size_t>>& chunks() {
        static auto* const kept = [] {  // outlives every array that Python still holds
            auto* all = new std::vector<std::pair<void*, std::size_t>>;
            all->reserve(MOST);
            return all;
        }();
        return *kept;
    }
};

// An array that grows without writing the new places.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() {
        if (data_) Pool::give(data_, bytes_);
    }

    std::size_t size() const { return size_; }
    T* data() const { return data_; }
    T back() const { return data_[size_ - 1]; }

    // Room for n more; what is written there counts after `advance`.
    T* room(std::size_t n) {
        if ((size_ + n) * sizeof(T) > bytes_) grow(size_ + n);
        return data_ + size_;
    }
    void advance(std::size_t n) { size_ += n; }
    void push_back(T value) {
        *room(1) = value;
        ++size_;
    }
    void shrink(std::size_t size) { size_ = size; }

  private:
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(bytes_, other.bytes_);
    }

    void grow(std::size_t least) {
        std::size_t bytes = least * sizeof(T);
        T* const larger = static_cast<T*>(Pool::take(bytes));
        if (size_) std::memcpy(larger, data_, size_ * sizeof(T));
        if (data_) Pool::give(data_, bytes_);
        data_ = larger;
        bytes_ = bytes;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0, bytes_ = 0;
};

constexpr std::int32_t UNLABELLED = -1;

// A whole number that no double equals, as digits.
struct WholeNumber {
    std::string digits;
};

// The different labels, numbers or words, in the order of their arrival.
class LabelTable {
  public:
    using Value = std::variant<double, WholeNumber, std::string>;

    // A number that was read as y; where y is rounded, what was written tells whole numbers apart.
    static Value numeral(double y, std::string_view written) {
        if (std::abs(y) < static_cast<double>(EXACT)) return y;
        const bool negative = written.front() == '-';
        if (negative || written.front() == '+') written.remove_prefix(1);
        written.remove_prefix(std::min(written.size(), written.find_first_not_of('0')));
        if (!std::all_of(written.begin(), written.end(), is_digit)) return y;
        char nearest[std::numeric_limits<double>::max_exponent10 + 3];  // all its digits
        std::snprintf(nearest, sizeof nearest, "%.0f", std::abs(y));
        if (written == nearest) return y;
        return WholeNumber{(negative ? "-" : "") + std::string(written)};
    }

    std::int32_t number(double y) {
        if (y == 0.0) y = 0.0;  // −0 is 0
        if (last_ >= 0 && y == last_number_) return last_;
        const auto [found, added] = numbers_.try_emplace(y, size());
        if (added) values_.emplace_back(y);
        last_number_ = y;
        return last_ = found->second;
    }

    std::int32_t word(std::string_view y) {
        word_.assign(y);
        const auto [found, added] = words_.try_emplace(word_, size());
        if (added) values_.emplace_back(word_);
        return found->second;
    }

    // None, and an empty word, are no label.
    std::int32_t find(const std::optional<Value>& y) {
        if (!y) return UNLABELLED;
        if (const double* const x = std::get_if<double>(&*y)) return number(*x);
        if (const WholeNumber* const x = std::get_if<WholeNumber>(&*y)) {
            const auto [found, added] = wholes_.try_emplace(x->digits, size());
            if (added) values_.emplace_back(*x);
            return found->second;
        }
        const std::string& text = std::get<std::string>(*y);
        return text.empty() ? UNLABELLED : word(text);
    }

    bool has(double y) const { return numbers_.count(y == 0.0 ? 0.0 : y) > 0; }

    const std::vector<Value>& values() const { return values_; }

  private:
    std::int32_t size() const { return static_cast<std::int32_t>(values_.size()); }

    std::vector<Value> values_;
    std::unordered_map<double, std::int32_t> numbers_;
    std::unordered_map<std::string, std::int32_t> wholes_, words_;
    std::string word_;
    std::int32_t last_ = -1;
    double last_number_ = 0.0;
};

template <class V>
struct Examples {
    LabelTable labels;
    Buffer<std::int32_t> which;  // label of each example, or UNLABELLED
    Buffer<double> weight;       // importance; empty where the format has none
    Buffer<i64> qid;             // -1 where there is none; empty where the format has none
    Buffer<std::int32_t> indptr, indices;
    Buffer<V> data;
    Oddity several;                                 // labels, of which one was taken
    Oddity missing_labels;                          // that were written as a word, such as NA
    Oddity spellings;                               // of one number, as labels
    Oddity spans;                                   // values in quotes, that seem to hold other records
    std::unordered_map<double, std::string> codes;  // labels that are numbers, and may be meant as words

    Examples() { indptr.push_back(0); }

    void end_row(std::int32_t label) {
        which.push_back(label);
        indptr.push_back(static_cast<std::int32_t>(indices.size()));
    }

    // Forget what a line that turned out to be broken has left.
    void drop_row() {
        const auto stored = static_cast<std::size_t>(indptr.back());
        indices.shrink(stored);
        data.shrink(stored);
    }
};

}  // namespace perceptive
