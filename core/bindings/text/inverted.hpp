// The inverted index of a class that has one, to Python.
#pragma once

#include "bindings/arrays.hpp"
#include "text/hashing.hpp"

namespace perceptive {

template <class Owner>
void def_names(nb::class_<Owner>& owner) {
    owner.def(
        "names", [](const Owner& self, std::uint32_t bucket) { return self.index().names(bucket); }, nb::arg("bucket"));
    owner.def(
        "inverted",
        [](const Owner& self, std::size_t at_least) {
            nb::dict all;
            for (const std::uint32_t bucket : self.index().buckets(at_least))
                all[nb::int_(bucket)] = nb::cast(self.index().names(bucket));
            return all;
        },
        nb::arg("at_least"), nb::sig("def inverted(self, at_least: int) -> dict[int, list[str]]"),
        "The buckets with at least so many names, and the names.");
}

}  // namespace perceptive
