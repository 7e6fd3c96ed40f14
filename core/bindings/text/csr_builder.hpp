// The rows of a CSR matrix, as they are made for Python.
#pragma once

#include "bindings/arrays.hpp"

namespace perceptive {

template <class T>
using Given = nb::ndarray<nb::numpy, T>;
using CsrArrays = std::tuple<Given<std::int32_t>, Given<std::int32_t>, Given<double>>;  // indptr, indices, data

struct CsrBuilder {
    std::vector<std::int32_t> indptr{0}, indices;
    std::vector<double> data;

    void end_row() {
        require(indices.size() <= INT32_MAX, "the rows hold more than 2147483647 numbers; give fewer at once");
        indptr.push_back(static_cast<std::int32_t>(indices.size()));
    }

    CsrArrays arrays() {
        return {to_numpy(std::move(indptr)), to_numpy(std::move(indices)), to_numpy(std::move(data))};
    }
};

}  // namespace perceptive
