#include "text/vocabulary.hpp"

#include "bindings/arrays.hpp"

namespace perceptive {

namespace {

const char* chars(const Vector<const std::uint8_t>& blob) { return reinterpret_cast<const char*>(blob.data()); }

// The core's view together with the arrays it looks at.
class StoredNames {
  public:
    StoredNames(Vector<const std::uint8_t> blob, Vector<const std::int64_t> offsets, Vector<const std::int32_t> table)
        : blob_(blob),
          offsets_(offsets),
          table_(table),
          view_(chars(blob), blob.size(), offsets.data(), offsets.size(), table.data(), table.size()) {}

    std::size_t size() const { return view_.size(); }

    std::int32_t find(nb::str name) const {
        if (const auto bytes = utf8_of(name)) return view_.find(*bytes);
        PyErr_Clear();  // a lone surrogate: such a name cannot have been stored
        return -1;
    }

    nb::str name(std::size_t i) const {
        if (i >= view_.size()) throw nb::index_error("vocabulary: no such index");
        return decoded(view_.name(i), nullptr);  // UnicodeDecodeError is a ValueError
    }

    nb::list names() const {
        nb::list all;
        for (std::size_t i = 0; i < view_.size(); ++i) all.append(name(i));
        return all;
    }

  private:
    Vector<const std::uint8_t> blob_;
    Vector<const std::int64_t> offsets_;
    Vector<const std::int32_t> table_;
    StringTable view_;
};

void build(Vector<const std::uint8_t> blob, Vector<const std::int64_t> offsets, Vector<std::int32_t> table) {
    nb::gil_scoped_release release;
    StringTable::build(chars(blob), blob.size(), offsets.data(), offsets.size(), table.data(), table.size());
}

}  // namespace

void bind_vocabulary(nb::module_& m) {
    nb::class_<StoredNames>(m, "StringTable", "Names in a blob, found by a stored hash table.")
        .def(nb::init<Vector<const std::uint8_t>, Vector<const std::int64_t>, Vector<const std::int32_t>>(),
             "blob"_array, "offsets"_array, "table"_array)
        .def("__len__", &StoredNames::size)
        .def("find", &StoredNames::find, "name"_a, "The index of a name, or -1.")
        .def("name", &StoredNames::name, "i"_a)
        .def("names", &StoredNames::names, nb::sig("def names(self) -> list[str]"))
        .def_static("build", &build, "blob"_array, "offsets"_array, "table"_array,
                    "Fill `table` for the names of a blob.");
}

}  // namespace perceptive
