// Exponents of Gaussian kernels from a matrix of dot products: K_ij ← min(0, f·K_ij − (a_i + b_j)), in one pass.
// The sum comes first since it is the same either way round: a symmetric K stays symmetric to the bit.
// With f = 2γ, a_i = γ‖x_i‖², b_j = γ‖x_j‖² that is −γ‖x_i − x_j‖², which rounding must not make positive.
#pragma once

#include <algorithm>

#include "rows.hpp"

namespace perceptive {

template <class T>
void gaussian_exponents(T* K, i64 rows, i64 columns, T factor, const T* a, const T* b) {
    for (i64 i = 0; i < rows; ++i) {
        T* row = K + i * columns;
        const T mine = a[i];
        for (i64 j = 0; j < columns; ++j) row[j] = std::min(T(0), factor * row[j] - (mine + b[j]));
    }
}

}  // namespace perceptive
