// What the bindings share: checked NumPy arrays, rows of any kind, text.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "inspect.hpp"
#include "linear.hpp"
#include "require.hpp"
#include "rows.hpp"

namespace nb = nanobind;

namespace perceptive {

using namespace nb::literals;

using Any = nb::ndarray<nb::c_contig, nb::device::cpu>;
using ReadOnly = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using MatrixOf = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = MatrixOf<double>;
template <class T>
using Maybe = std::optional<Vector<const T>>;  // an array that may be left out
using Floats = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The name of an argument that is an array, which must not be converted: what is written to it would be lost.
inline auto operator""_array(const char* name, std::size_t) { return nb::arg(name).noconvert(); }

template <class Numbers>
i64 length(const Numbers& numbers) {
    return static_cast<i64>(numbers.size());
}
template <class Array>
i64 extent(const Array& array, int dimension) {
    return static_cast<i64>(array.shape(dimension));
}
template <class T>
const T* data_of(const Maybe<T>& array) {
    return array ? array->data() : nullptr;
}
inline void require_length(const Maybe<double>& array, i64 n, const char* message) {
    require(!array || length(*array) == n, message);
}
inline void require_below(const Vector<const i64>& numbers, i64 n, const char* message) {
    for (i64 t = 0; t < length(numbers); ++t) require(numbers.data()[t] >= 0 && numbers.data()[t] < n, message);
}

// with(W{}), W being the type of weights
template <class With>
auto with_type(bool single, With with) {
    return single ? with(float{}) : with(double{});
}

// use(pointer to the numbers, of their type)
template <class Use>
auto with_floats(const Floats& array, Use use) {
    if (array.dtype() == nb::dtype<float>()) return use(static_cast<const float*>(array.data()));
    require(array.dtype() == nb::dtype<double>(), "the numbers must be float32 or float64");
    return use(static_cast<const double*>(array.data()));
}

using AnyRows = std::variant<DenseRows<float>, DenseRows<double>, CsrRows<float>, CsrRows<double>>;

// Rows that have passed inspect(); holds on to the arrays they lie in.
struct CheckedRows {
    AnyRows rows;
    std::vector<ReadOnly> arrays;
    std::vector<std::uint64_t> hashes;
    i64 n, d, stored;

    // use(rows) with their type, without the GIL
    template <class Use>
    void visit(Use use) const {
        nb::gil_scoped_release release;
        std::visit(use, rows);
    }
};

template <class T>
T* data_of(const std::optional<Any>& array, i64 size, const char* name) {
    if (!array) return nullptr;
    if (array->dtype() != nb::dtype<T>()) throw std::invalid_argument(std::string(name) + " has the wrong dtype");
    if (length(*array) < size) throw std::invalid_argument(std::string(name) + " is too small");
    return static_cast<T*>(array->data());
}

// The number of a dict's plain value: a float, int or bool, or 1 for a str. None for anything else, perhaps with a
// Python error set.
inline std::optional<double> plain_number(PyObject* value) {
    if (PyFloat_CheckExact(value)) return PyFloat_AsDouble(value);
    if (PyUnicode_CheckExact(value)) return 1.0;
    if (PyBool_Check(value)) return value == Py_True;
    if (!PyLong_CheckExact(value)) return std::nullopt;
    const double number = PyLong_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) return std::nullopt;
    return number;
}

// The numbers of a vector or Buffer, without a copy where it is moved here.
template <class Numbers>
auto to_numpy(Numbers values) {
    auto* kept = new Numbers(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Numbers*>(p); });
    return nb::ndarray<nb::numpy, std::remove_pointer_t<decltype(kept->data())>>(kept->data(), {kept->size()}, owner);
}

// The same, of any type.
template <class T>
ReadOnly kept(std::vector<T> values) {
    return ReadOnly(to_numpy(std::move(values)));
}

// Text that may not be UTF-8; without `errors` it raises where it is not.
inline nb::str decoded(std::string_view bytes, const char* errors = "replace") {
    PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), errors);
    if (!text) throw nb::python_error();
    return nb::steal<nb::str>(text);
}

// The bytes of a str, which must live on; none, with a Python error set, where it has no UTF-8 form.
inline std::optional<std::string_view> utf8_of(nb::handle text) {
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (!bytes) return std::nullopt;
    return std::string_view(bytes, static_cast<std::size_t>(size));
}

}  // namespace perceptive
