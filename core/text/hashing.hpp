// The signed hash kernel (Shi, Petterson, Dror, Langford, Smola, Vishwanathan: Hash Kernels for Structured Data):
//
//   φ[h] = Σ_{j: bucket(j) = h} ξ(j)·x_j,   ξ(j) ∈ {−1, +1}
//
// The hash of a name is MurmurHash3_x86_32 of its UTF-8 bytes; the bucket is its low b ≤ 30 bits, ξ is −1 where the
// top bit is set, so that no bit serves both. The hash is part of every model that uses it: never change it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace perceptive {

// MurmurHash3_x86_32 (Appleby), the same on machines of either byte order: the hashes of longer and longer beginnings
// of some bytes, each going on where the last one stopped.
class Murmur3 {
  public:
    Murmur3(const char* bytes, std::uint32_t seed) : bytes_(bytes), h_(seed) {}

    // The hash of the first n bytes; n may not fall from call to call.
    std::uint32_t hash(std::size_t n) {
        go_on(n);
        std::uint32_t tail = 0;
        for (std::size_t p = done_; p < n; ++p) tail |= byte(p) << 8 * (p - done_);
        return end(tail, n);
    }

    // The same, where 4 bytes past the first n may be read.
    std::uint32_t hash_padded(std::size_t n) {
        go_on(n);
        return end(word(done_) & ((std::uint32_t{1} << 8 * (n - done_)) - 1), n);
    }

  private:
    static std::uint32_t rotate(std::uint32_t k, int r) { return (k << r) | (k >> (32 - r)); }
    static std::uint32_t mix(std::uint32_t k) { return rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u; }
    std::uint32_t byte(std::size_t i) const { return static_cast<unsigned char>(bytes_[i]); }
    std::uint32_t word(std::size_t i) const {
        std::uint32_t four;
        std::memcpy(&four, bytes_ + i, 4);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        four = __builtin_bswap32(four);
#endif
        return four;
    }

    void go_on(std::size_t n) {
        for (; done_ + 4 <= n; done_ += 4) h_ = rotate(h_ ^ mix(word(done_)), 13) * 5 + 0xe6546b64u;
    }

    std::uint32_t end(std::uint32_t tail, std::size_t n) const {
        std::uint32_t h = h_ ^ mix(tail) ^ static_cast<std::uint32_t>(n);  // mix(0) = 0
        h = (h ^ (h >> 16)) * 0x85ebca6bu;
        h = (h ^ (h >> 13)) * 0xc2b2ae35u;
        return h ^ (h >> 16);
    }

    const char* bytes_;
    std::uint32_t h_;
    std::size_t done_ = 0;  // a multiple of 4
};

inline std::uint32_t murmur3(std::string_view bytes, std::uint32_t seed) {
    return Murmur3(bytes.data(), seed).hash(bytes.size());
}

struct HashKernel {
    int bits;  // 1 … 30
    std::uint32_t seed;
    bool with_signs;

    std::uint32_t hash(std::string_view name) const { return murmur3(name, seed); }
    std::uint32_t bucket(std::uint32_t hash) const { return hash & ((std::uint32_t{1} << bits) - 1); }

    // ξ·value, without a branch, which nothing foretells.
    double signed_value(std::uint32_t hash, double value) const {
        std::uint64_t bits;
        std::memcpy(&bits, &value, 8);
        bits ^= std::uint64_t{with_signs & hash >> 31} << 63;
        std::memcpy(&value, &bits, 8);
        return value;
    }
};

// Bucket → the names that fell into it, in the order of their arrival.
class InvertedIndex {
  public:
    void add(std::uint32_t bucket, std::string_view name) {
        std::vector<std::string>& names = names_[bucket];
        if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    }

    bool empty() const { return names_.empty(); }

    void merge(InvertedIndex&& other) {
        names_.merge(other.names_);  // leaves the buckets that both have
        for (const auto& [bucket, names] : other.names_)
            for (const std::string& name : names) add(bucket, name);
    }

    // Calls see(bucket, name) for all names, by bucket and then in the order of their arrival.
    template <class See>
    void for_each(See see) const {
        for (const std::uint32_t bucket : buckets(1))
            for (const std::string& name : names_.at(bucket)) see(bucket, name);
    }

    std::vector<std::string> names(std::uint32_t bucket) const {
        const auto found = names_.find(bucket);
        return found == names_.end() ? std::vector<std::string>{} : found->second;
    }

    // The buckets with so many names, ascending.
    std::vector<std::uint32_t> buckets(std::size_t at_least) const {
        std::vector<std::uint32_t> all;
        for (const auto& [bucket, names] : names_)
            if (names.size() >= at_least) all.push_back(bucket);
        std::sort(all.begin(), all.end());
        return all;
    }

  private:
    std::unordered_map<std::uint32_t, std::vector<std::string>> names_;
};

}  // namespace perceptive
