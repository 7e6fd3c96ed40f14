// A set of names as three flat arrays, made to be searched where it lies (in a mapped file) without being loaded.
//
//   blob     the names in UTF-8, one after the other
//   offsets  name i is blob[offsets[i] .. offsets[i+1]);  n + 1 numbers from 0 to the length of the blob
//   table    open addressing: 2^k ≥ 2n slots, each the index of a name or −1. A name is in the first slot that was
//            free at hash(name) mod 2^k or after it, round the end (linear probing); names were entered in order.
//
// The arrays may come from a hostile file, and a mapped file may change after it was checked: so the constructor checks
// them as a whole, for a clear error early, and every access checks again what it is about to touch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "require.hpp"

namespace perceptive {

// FNV-1a, 64 bits (Fowler, Noll, Vo), then MurmurHash3's finaliser: FNV alone leaves its low bits, which
// choose the slot, poorly mixed. It is part of the file format: never change it.
inline std::uint64_t hash_name(std::string_view name) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (unsigned char byte : name) h = (h ^ byte) * 0x100000001b3u;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

// A view of the three arrays, which must outlive it.
class StringTable {
  public:
    StringTable(const char* blob, std::size_t blob_size, const std::int64_t* offsets, std::size_t n_offsets,
                const std::int32_t* table, std::size_t n_slots)
        : blob_(blob),
          blob_size_(blob_size),
          offsets_(offsets),
          n_(check_offsets(offsets, n_offsets, blob_size)),
          table_(table),
          n_slots_(n_slots) {
        check_slots(n_, n_slots);
        bool in_range = true;
        std::size_t taken = 0;
        for (std::size_t s = 0; s < n_slots; ++s) {
            in_range &= table[s] >= -1 && table[s] < static_cast<std::int64_t>(n_);
            taken += table[s] >= 0;
        }
        require(in_range, "vocabulary: the hash table points at names that do not exist");
        // As n_slots ≥ 2n this also says that there is a free slot, where the search for an unknown name ends.
        require(taken == n_, "vocabulary: the hash table does not hold each name once");
    }

    std::size_t size() const { return n_; }

    // Name i < size(), as bytes.
    std::string_view name(std::size_t i) const {
        const std::int64_t begin = offsets_[i], end = offsets_[i + 1];
        require(begin >= 0 && end >= begin && static_cast<std::size_t>(end) <= blob_size_,
                "vocabulary: the offsets were changed while in use");
        return {blob_ + begin, static_cast<std::size_t>(end - begin)};
    }

    // The index of a name, or -1.
    std::int32_t find(std::string_view wanted) const {
        const std::size_t mask = n_slots_ - 1;
        std::size_t slot = static_cast<std::size_t>(hash_name(wanted)) & mask;
        for (std::size_t probes = 0; probes < n_slots_; ++probes, slot = (slot + 1) & mask) {
            const std::int32_t i = table_[slot];
            if (i < 0 || static_cast<std::size_t>(i) >= n_) return -1;
            if (name(static_cast<std::size_t>(i)) == wanted) return i;
        }
        return -1;
    }

    static void build(const char* blob, std::size_t blob_size, const std::int64_t* offsets, std::size_t n_offsets,
                      std::int32_t* table, std::size_t n_slots) {
        const std::size_t n = check_offsets(offsets, n_offsets, blob_size);
        check_slots(n, n_slots);
        const std::size_t mask = n_slots - 1;
        std::fill(table, table + n_slots, -1);
        for (std::size_t i = 0; i < n; ++i) {
            const std::string_view name(blob + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
            std::size_t slot = static_cast<std::size_t>(hash_name(name)) & mask;
            while (table[slot] >= 0) slot = (slot + 1) & mask;  // ends: more slots than names
            table[slot] = static_cast<std::int32_t>(i);
        }
    }

  private:
    static std::size_t check_offsets(const std::int64_t* offsets, std::size_t n_offsets, std::size_t blob_size) {
        require(n_offsets > 0 && n_offsets - 1 <= INT32_MAX,
                "vocabulary: there are no offsets, or more than int32 can count");
        bool sound = offsets[0] == 0 && offsets[n_offsets - 1] == static_cast<std::int64_t>(blob_size);
        for (std::size_t i = 1; i < n_offsets; ++i) sound &= offsets[i - 1] <= offsets[i];
        require(sound, "vocabulary: the offsets do not divide the blob into names");
        return n_offsets - 1;
    }

    static void check_slots(std::size_t n, std::size_t n_slots) {
        require(n_slots > 0 && (n_slots & (n_slots - 1)) == 0 && n_slots / 2 >= n,
                "vocabulary: the hash table needs a power of two of slots, at least two a name");
    }

    const char* blob_;
    std::size_t blob_size_;
    const std::int64_t* offsets_;
    std::size_t n_;
    const std::int32_t* table_;
    std::size_t n_slots_;
};

}  // namespace perceptive
