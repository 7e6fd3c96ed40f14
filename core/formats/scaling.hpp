// How large the numbers of named columns are, and how they are scaled: x becomes (x − shift)·factor, before hashing.
// What shift and factor are, src/perceptive/streams/scaling.py says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rows.hpp"
#include "text/utf8.hpp"

namespace perceptive {

struct Scale {
    double shift = 0.0, factor = 1.0;
    double operator()(double x) const { return (x - shift) * factor; }
};

// Values by name, in the order in which the names came.
template <class T>
class ByName {
  public:
    ByName() = default;
    ByName(ByName&&) = default;
    ByName(const ByName&) = delete;  // the names are looked up where they lie
    ByName& operator=(const ByName&) = delete;

    std::size_t size() const { return names_.size(); }
    const std::deque<std::string>& names() const { return names_; }
    const T* find(std::string_view name) const {
        const auto found = values_.find(name);
        return found == values_.end() ? nullptr : &found->second;
    }
    T* find(std::string_view name) { return const_cast<T*>(std::as_const(*this).find(name)); }
    T& add(std::string_view name) { return values_.try_emplace(names_.emplace_back(name)).first->second; }

  private:
    std::deque<std::string> names_;  // do not move when more come
    std::unordered_map<std::string_view, T> values_;
};

using Scaling = ByName<Scale>;

// Mean and Σ(x − mean)² as Welford has them, and those of two parts as Chan, Golub and LeVeque have them.
struct Measure {
    i64 n = 0, nonzero = 0;
    double mean = 0.0, spread = 0.0, squares = 0.0, low = 0.0, high = 0.0;

    void add(double x) {
        low = n ? std::min(low, x) : x;
        high = n ? std::max(high, x) : x;
        ++n;
        nonzero += x != 0.0;
        squares += x * x;
        const double d = x - mean;
        mean += d / static_cast<double>(n);
        spread += d * (x - mean);
    }

    void merge(const Measure& other) {
        if (other.n == 0) return;
        if (n == 0) return *this = other, void();
        low = std::min(low, other.low);
        high = std::max(high, other.high);
        nonzero += other.nonzero;
        squares += other.squares;
        const double a = static_cast<double>(n), b = static_cast<double>(other.n), d = other.mean - mean;
        n += other.n;
        mean += d * (b / (a + b));
        spread += other.spread + d * d * (a * b / (a + b));
    }
};

// How many words a column has, and the first of them that differ.
struct WordCount {
    static constexpr std::size_t MOST = 2, LONGEST = 64;
    i64 n = 0;
    std::vector<std::string> first;

    // Whether such a word only counts.
    bool knows(std::string_view word) const {
        return first.size() == MOST || std::find(first.begin(), first.end(), word.substr(0, LONGEST)) != first.end();
    }

    void add(std::string_view word) {
        ++n;
        if (!knows(word)) first.emplace_back(word.substr(0, LONGEST));
    }

    void merge(const WordCount& other) {
        n += other.n;
        for (const std::string& word : other.first)
            if (!knows(word)) first.push_back(word);
    }
};

// The numbers of columns, of which there are so many at most: others are left as they are, as are those whose name is
// not UTF-8. Codes are columns in which a string reads as a number; words are those that do not. What a line adds is
// held back until it turns out to be sound (keep) or broken (forget).
class Measures {
  public:
    static constexpr std::size_t MOST = std::size_t{1} << 16;
    i64 rows = 0;
    ByName<Measure> columns;
    ByName<WordCount> words;
    std::set<std::string> codes;

    void add(std::string_view name, double x) {
        if (Measure* const known = columns.find(name))
            numbers_.emplace_back(known, x);
        else if (columns.size() < MOST)
            new_numbers_.emplace_back(name, x);
    }

    void add_word(std::string_view name, std::string_view word) {
        WordCount* const known = words.find(name);
        if (known && known->knows(word))
            counts_.push_back(known);
        else if (known || words.size() < MOST)
            new_words_.emplace_back(name, word.substr(0, WordCount::LONGEST));
    }

    void add_code(const std::string& name) {
        if (!codes.count(name)) new_codes_.push_back(name);
    }

    void keep() {
        for (const auto& [column, x] : numbers_) column->add(x);
        for (const auto& [name, x] : new_numbers_)
            if (Measure* const column = of(columns, name)) column->add(x);
        for (WordCount* const column : counts_) ++column->n;
        for (const auto& [name, word] : new_words_)
            if (WordCount* const column = of(words, name)) column->add(word);
        for (const std::string& name : new_codes_) meet_code(name);
        forget();
    }

    void forget() {
        numbers_.clear();
        new_numbers_.clear();
        counts_.clear();
        new_words_.clear();
        new_codes_.clear();
    }

    void merge(const Measures& other) {
        rows += other.rows;
        for (const std::string& name : other.codes) meet_code(name);
        for (const std::string& name : other.columns.names())
            if (Measure* const known = of(columns, name)) known->merge(*other.columns.find(name));
        for (const std::string& name : other.words.names())
            if (WordCount* const known = of(words, name)) known->merge(*other.words.find(name));
    }

  private:
    void meet_code(const std::string& name) {
        if (codes.size() < MOST && is_utf8(name)) codes.insert(name);
    }

    template <class T>
    static T* of(ByName<T>& columns, std::string_view name) {
        T* const known = columns.find(name);
        if (known || columns.size() == MOST || !is_utf8(name)) return known;
        return &columns.add(name);
    }

    // What is held back: of columns and words that are known, and of new ones.
    std::vector<std::pair<Measure*, double>> numbers_;
    std::vector<std::pair<std::string, double>> new_numbers_;
    std::vector<WordCount*> counts_;
    std::vector<std::pair<std::string, std::string>> new_words_;
    std::vector<std::string> new_codes_;
};

}  // namespace perceptive
