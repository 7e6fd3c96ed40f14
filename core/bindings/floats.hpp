// Arrays of float32 or float64: what is done with them is written once.
#pragma once

#include "bindings/arrays.hpp"

namespace perceptive {

using Floats = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// use(pointer to the numbers, of their type)
template <class Use>
auto with_floats(const Floats& array, Use use) {
    if (array.dtype() == nb::dtype<float>()) return use(static_cast<const float*>(array.data()));
    require(array.dtype() == nb::dtype<double>(), "the numbers must be float32 or float64");
    return use(static_cast<const double*>(array.data()));
}

}  // namespace perceptive
