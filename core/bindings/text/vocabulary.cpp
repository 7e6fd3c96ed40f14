#include "text/vocabulary.hpp"

#include "bindings/arrays.hpp"

using namespace nb::literals;

namespace {

template <typename T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

const char* chars(const Array<const std::uint8_t>& blob) { return reinterpret_cast<const char*>(blob.data()); }

// The core's view together with the arrays it looks at.
class StoredNames {
  public:
    StoredNames(Array<const std::uint8_t> blob, Array<const std::int64_t> offsets, Array<const std::int32_t> table)
        : blob_(blob),
          offsets_(offsets),
          table_(table),
          view_(chars(blob), blob.size(), offsets.data(), offsets.size(), table.data(), table.size()) {}

    std::size_t size() const { return view_.size(); }

    std::int32_t find(nb::str name) const {
        Py_ssize_t size = 0;
        const char* utf8 = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
        if (utf8 == nullptr) {  // a lone surrogate: such a name cannot have been stored
            PyErr_Clear();
            return -1;
        }
        return view_.find({utf8, static_cast<std::size_t>(size)});
    }

    nb::str name(std::size_t i) const {
        if (i >= view_.size()) throw nb::index_error("vocabulary: no such index");
        const std::string_view bytes = view_.name(i);
        PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), nullptr);
        if (text == nullptr) throw nb::python_error();  // UnicodeDecodeError is a ValueError
        return nb::steal<nb::str>(text);
    }

    nb::list names() const {
        nb::list all;
        for (std::size_t i = 0; i < view_.size(); ++i) all.append(name(i));
        return all;
    }

  private:
    Array<const std::uint8_t> blob_;
    Array<const std::int64_t> offsets_;
    Array<const std::int32_t> table_;
    perceptive::StringTable view_;
};

void build(Array<const std::uint8_t> blob, Array<const std::int64_t> offsets, Array<std::int32_t> table) {
    nb::gil_scoped_release release;
    perceptive::StringTable::build(chars(blob), blob.size(), offsets.data(), offsets.size(), table.data(),
                                   table.size());
}

}  // namespace

void perceptive::bind_vocabulary(nb::module_& m) {
    nb::class_<StoredNames>(m, "StringTable", "Names in a blob, found by a stored hash table.")
        .def(nb::init<Array<const std::uint8_t>, Array<const std::int64_t>, Array<const std::int32_t>>(),
             "blob"_a.noconvert(), "offsets"_a.noconvert(), "table"_a.noconvert())
        .def("__len__", &StoredNames::size)
        .def("find", &StoredNames::find, "name"_a, "The index of a name, or -1.")
        .def("name", &StoredNames::name, "i"_a)
        .def("names", &StoredNames::names, nb::sig("def names(self) -> list[str]"))
        .def_static("build", &build, "blob"_a.noconvert(), "offsets"_a.noconvert(), "table"_a.noconvert(),
                    "Fill `table` for the names of a blob.");
}
