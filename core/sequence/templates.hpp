// Feature templates: which columns of which neighbours are read together. A feature is a template's name and the values
// it read; its key is a hash of these, 64 bits wide (two of a million features meet with probability 10⁻⁷).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "large_pages.hpp"
#include "sequence/columns.hpp"

namespace perceptive {

using Key = std::uint64_t;
constexpr Key NO_KEY = 0;

inline Key mix(Key key, Key value) {
    key = (key ^ value) * 0x9E3779B97F4A7C15ull;
    return key ^ (key >> 32);
}

struct Part {
    int column, offset;
};

struct Template {
    int name;  // templates of one name share their features, as a bag of words does
    std::vector<Part> parts;
};

// Token numbers with room for the places outside the sentence on both sides.
class Window {
  public:
    void resize(const Columns& columns, i64 n) {
        width_ = columns.width();
        ids_.assign(static_cast<std::size_t>((n + 2 * MAX_OFFSET) * width_), ABSENT);
        for (int d = 1; d <= MAX_OFFSET; ++d)
            for (int c = 0; c < width_; ++c)
                if (columns.outside(c)) {
                    at(-d)[c] = before(d);
                    at(n - 1 + d)[c] = behind(d);
                }
    }
    Id* at(i64 t) { return ids_.data() + (t + MAX_OFFSET) * width_; }
    const Id* at(i64 t) const { return ids_.data() + (t + MAX_OFFSET) * width_; }

  private:
    std::vector<Id> ids_;
    int width_ = 0;
};

class Templates {
  public:
    Templates(std::vector<Template> templates, int n_columns) : templates_(std::move(templates)) {
        for (const Template& one : templates_) {
            starts_.push_back(parts_.size());
            seeds_.push_back(mix(0x243F6A8885A308D3ull, static_cast<Key>(one.name) + 1));
            for (const Part& part : one.parts) {
                require(part.column >= 0 && part.column < n_columns, "template: no such column");
                require(part.offset >= -MAX_OFFSET && part.offset <= MAX_OFFSET,
                        "template: tokens further than 15 away cannot be read");
                parts_.push_back(part.offset * n_columns + part.column);
            }
        }
        starts_.push_back(parts_.size());
    }

    std::size_t size() const { return templates_.size(); }
    const Template& operator[](std::size_t k) const { return templates_[k]; }

    // keys[k] for every template at the token whose numbers begin at `token`; NO_KEY where a value is missing.
    void keys(const Id* token, Key* keys) const {
        const std::size_t n = templates_.size();
        for (std::size_t k = 0; k < n; ++k) {
            Key key = seeds_[k];
            bool all = true;
            for (std::size_t p = starts_[k]; p < starts_[k + 1]; ++p) {
                const Id id = token[parts_[p]];
                all &= id != ABSENT;
                key = mix(key, static_cast<Key>(id));
            }
            keys[k] = all ? key | 1 : NO_KEY;
        }
    }

    Key key(std::size_t k, const Id* values) const {
        Key key = seeds_[k];
        for (std::size_t p = 0; p < templates_[k].parts.size(); ++p) key = mix(key, static_cast<Key>(values[p]));
        return key | 1;
    }

  private:
    std::vector<Template> templates_;
    std::vector<std::size_t> starts_;
    std::vector<int> parts_;  // offset·columns + column: where the value lies, seen from the token
    std::vector<Key> seeds_;
};

// Key → number, by open addressing.
class KeyTable {
  public:
    KeyTable() { release(); }

    // Forget all, and give the memory back.
    void release() {
        slots_ = LargeVector<Slot>(64, Slot{NO_KEY, -1});
        shift_ = 58;
        size_ = 0;
    }
    std::size_t size() const { return size_; }
    void reserve(std::size_t n) {
        std::size_t wanted = slots_.size();
        while (wanted * 2 < n * 3) wanted *= 2;
        if (wanted > slots_.size()) rehash(wanted);
    }

    void prefetch(Key key) const { __builtin_prefetch(&slots_[place(key)]); }

    std::int32_t find(Key key) const {
        for (std::size_t s = place(key);; s = (s + 1) & (slots_.size() - 1)) {
            const Slot& slot = slots_[s];
            if (slot.key == key) return slot.number;
            if (slot.key == NO_KEY) return -1;
        }
    }

    // The number of a key, which becomes `number` if it is new.
    std::int32_t insert(Key key, std::int32_t number) {
        if ((size_ + 1) * 3 > slots_.size() * 2) rehash(2 * slots_.size());
        for (std::size_t s = place(key);; s = (s + 1) & (slots_.size() - 1)) {
            Slot& slot = slots_[s];
            if (slot.key == key) return slot.number;
            if (slot.key == NO_KEY) {
                slot.key = key;
                slot.number = number;
                ++size_;
                return number;
            }
        }
    }

  private:
#pragma pack(push, 4)
    struct Slot {
        Key key;
        std::int32_t number;
    };
#pragma pack(pop)
    // By the highest bits, so that keys in ascending order fill the table from front to back.
    std::size_t place(Key key) const { return static_cast<std::size_t>(key >> shift_); }
    void rehash(std::size_t n) {
        LargeVector<Slot> old(n, Slot{NO_KEY, -1});
        old.swap(slots_);
        shift_ = 64 - __builtin_ctzll(n);
        for (const Slot& slot : old)
            if (slot.key != NO_KEY) {
                std::size_t s = place(slot.key);
                while (slots_[s].key != NO_KEY) s = (s + 1) & (n - 1);
                slots_[s] = slot;
            }
    }

    LargeVector<Slot> slots_;
    int shift_ = 58;  // 64 less the binary logarithm of the number of slots
    std::size_t size_ = 0;
};

}  // namespace perceptive
