// A row of hashed features: sorted by bucket, and what shares a bucket added up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace perceptive {

// Sorts values whose keys are spread evenly: sharing them out by their top bits among as many groups leaves little to
// be sorted. Where many are alike, their group is sorted the usual way.
template <class T>
class SpreadSorter {
  public:
    // Fewer than 2^32 values; key(value) has so many bits, at least 12.
    template <class Key>
    void sort(std::vector<T>& values, int bits, Key key) {
        const std::size_t n = values.size();
        if (n > few / 2) {
            int g = 5;
            while (g < 12 && (n >> g) != 0) ++g;
            const int shift = bits - g;
            const std::size_t groups = std::size_t{1} << g;
            ends_.assign(groups + 1, 0);
            for (const T& value : values) ++ends_[(key(value) >> shift) + 1];
            for (std::size_t i = 1; i < groups; ++i) ends_[i + 1] += ends_[i];
            sorted_.resize(n);
            for (const T& value : values) sorted_[ends_[key(value) >> shift]++] = value;
            values.swap(sorted_);
            const auto before = [&](const T& a, const T& b) { return key(a) < key(b); };
            for (std::size_t i = 0, begin = 0; i < groups; begin = ends_[i++])  // ends_[i] is now the end of group i
                if (ends_[i] - begin > few) std::sort(values.begin() + begin, values.begin() + ends_[i], before);
        }
        for (std::size_t i = 1; i < n; ++i) {  // insertion: groups are short or sorted
            const T value = values[i];
            std::size_t p = i;
            for (; p > 0 && key(values[p - 1]) > key(value); --p) values[p] = values[p - 1];
            values[p] = value;
        }
    }

  private:
    static constexpr std::size_t few = 16;
    std::vector<T> sorted_;
    std::vector<std::uint32_t> ends_;
};

class HashedRow {
  public:
    void add(std::uint32_t bucket, double value) {
        entries_.push_back({std::uint64_t{bucket} << 32 | entries_.size(), value});
    }

    void clear() { entries_.clear(); }
    std::size_t size() const { return entries_.size(); }

    // store(bucket, sum) for the buckets (of so many bits) that do not add up to 0, ascending. What shares a bucket is
    // added up in the order of arrival. The row is then empty.
    template <class Store>
    void finish(int bits, Store store) {
        sorter_.sort(entries_, 32 + bits, [](const Entry& entry) { return entry.key; });
        for (std::size_t p = 0; p < entries_.size();) {
            const std::uint64_t bucket = entries_[p].key >> 32;
            double sum = entries_[p].value;
            while (++p < entries_.size() && entries_[p].key >> 32 == bucket) sum += entries_[p].value;
            if (sum != 0.0) store(static_cast<std::int32_t>(bucket), sum);
        }
        clear();
    }

  private:
    struct Entry {
        std::uint64_t key;  // bucket and place in the row
        double value;
    };
    std::vector<Entry> entries_;
    SpreadSorter<Entry> sorter_;
};

}  // namespace perceptive
