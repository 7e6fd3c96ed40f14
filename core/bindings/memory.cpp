#include <nanobind/nanobind.h>

#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "formats/examples.hpp"

namespace nb = nanobind;

namespace perceptive {

// glibc keeps what was freed, in a pool of each thread that had it: what is asked for by the megabyte, too, once such
// a piece was freed before.
void bind_memory(nb::module_& m) {
    m.def(
        "free_by_megabytes",
        [] {
#ifdef __GLIBC__
            mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
        },
        "From now on memory of a megabyte or more goes back to the system when it is freed.");
    m.def(
        "trim",
        [] {
            nb::gil_scoped_release release;
            Pool::clear();
#ifdef __GLIBC__
            malloc_trim(0);
#endif
        },
        "Give memory that is free back to the system; what parsers keep for the next block, too.");
}

}  // namespace perceptive
