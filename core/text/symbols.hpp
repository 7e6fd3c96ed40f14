// Strings with numbers, as they come: a growing set in the layout of vocabulary.hpp.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "text/vocabulary.hpp"

namespace perceptive {

class Symbols {
  public:
    Symbols() : offsets_{0}, table_(16, -1) {}

    Symbols(const char* blob, std::size_t blob_size, const std::int64_t* offsets, std::size_t n_offsets)
        : blob_(blob, blob + blob_size), offsets_(offsets, offsets + n_offsets) {
        if (n_offsets == 0) throw std::invalid_argument("symbols: there are no offsets");
        std::size_t slots = 16;
        while (slots < 2 * n_offsets) slots *= 2;
        table_.resize(slots);
        StringTable::build(blob_.data(), blob_.size(), offsets_.data(), offsets_.size(), table_.data(), slots);
    }

    std::int32_t size() const { return static_cast<std::int32_t>(offsets_.size() - 1); }
    const std::vector<char>& blob() const { return blob_; }
    const std::vector<std::int64_t>& offsets() const { return offsets_; }

    std::string_view name(std::int32_t i) const {
        return {blob_.data() + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
    }

    // The number of a string, or -1.
    std::int32_t find(std::string_view wanted) const { return table_[slot_of(wanted)]; }

    std::int32_t add(std::string_view wanted) {
        std::size_t slot = slot_of(wanted);
        if (table_[slot] >= 0) return table_[slot];
        if (offsets_.size() > INT32_MAX / 2) throw std::length_error("too many different strings");
        if (2 * offsets_.size() > table_.size()) {
            table_.assign(2 * table_.size(), -1);
            StringTable::build(blob_.data(), blob_.size(), offsets_.data(), offsets_.size(), table_.data(),
                               table_.size());
            slot = slot_of(wanted);
        }
        table_[slot] = size();
        blob_.insert(blob_.end(), wanted.begin(), wanted.end());
        offsets_.push_back(static_cast<std::int64_t>(blob_.size()));
        return table_[slot];
    }

  private:
    std::size_t slot_of(std::string_view wanted) const {
        const std::size_t mask = table_.size() - 1;
        std::size_t slot = static_cast<std::size_t>(hash_name(wanted)) & mask;
        while (table_[slot] >= 0 && name(table_[slot]) != wanted) slot = (slot + 1) & mask;
        return slot;
    }

    std::vector<char> blob_;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> table_;
};

}  // namespace perceptive
