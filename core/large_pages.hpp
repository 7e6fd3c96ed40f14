// Memory for large arrays that are looked at here and there: in pages of 2 MB where the system has them. A page fault
// costs the same for 2 MB as for 4 kB, but for the clearing, and fewer pages need fewer entries in the processor's
// table of addresses.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace perceptive {

// Have the pages of memory that is about to be written made at once, where the system can: a call for all of them costs
// a tenth of their faults.
inline void populate(void* p, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    constexpr std::uintptr_t SMALL = 4096;
    const auto begin = (reinterpret_cast<std::uintptr_t>(p) + SMALL - 1) / SMALL * SMALL;
    const auto end = (reinterpret_cast<std::uintptr_t>(p) + bytes) / SMALL * SMALL;
    if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
#else
    (void)p, (void)bytes;
#endif
}

// n elements in memory that is made at once.
template <class Vector>
Vector populated(std::size_t n) {
    Vector v;
    v.reserve(n);
    populate(v.data(), n * sizeof(typename Vector::value_type));
    v.resize(n);
    return v;
}

template <class T>
struct LargePages {
    using value_type = T;
    static constexpr std::size_t PAGE = std::size_t{1} << 21;

    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}

    T* allocate(std::size_t n) {
        if (n > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
        const std::size_t bytes = n * sizeof(T);
        void* p = bytes < PAGE ? std::malloc(bytes) : nullptr;
        if (bytes >= PAGE && posix_memalign(&p, PAGE, bytes) != 0) throw std::bad_alloc();
        if (!p) throw std::bad_alloc();
#ifdef __linux__
        if (bytes >= PAGE) madvise(p, bytes / PAGE * PAGE, MADV_HUGEPAGE);  // what is left over takes no whole page
#endif
        populate(p, bytes);
        return static_cast<T*>(p);
    }
    void deallocate(T* p, std::size_t) { std::free(p); }

    friend bool operator==(const LargePages&, const LargePages&) { return true; }
    friend bool operator!=(const LargePages&, const LargePages&) { return false; }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace perceptive
