// Names and dicts of features through the hash kernel. What is plain is read where it lies, without a Python object per
// feature; a row with anything else in it goes the long way, through Python, which checks it and explains what is
// wrong.
#include "text/hashing.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include "bindings/arrays.hpp"

using namespace nb::literals;

namespace perceptive {

namespace {

template <class T>
using Numbers = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Numbers<T> give(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Numbers<T>(kept->data(), {kept->size()}, owner);
}

class Hasher {
  public:
    Hasher(int bits, std::uint32_t seed, bool with_signs) : kernel_{bits, seed, with_signs} {
        require(bits >= 1 && bits <= 30, "bits must be 1 … 30");
    }

    // Buckets and signs of many names.
    std::tuple<Numbers<std::int32_t>, Numbers<double>> hash(const nb::list& names, bool remember) {
        std::vector<std::int32_t> buckets;
        std::vector<double> signs;
        Pass pass(*this, remember);
        for (nb::handle name : names) {
            std::string_view bytes;
            if (!PyUnicode_Check(name.ptr())) throw nb::type_error("names must be strings");
            if (!utf8(name.ptr(), bytes)) throw nb::python_error();
            const std::uint32_t h = pass.meet(bytes);
            buckets.push_back(static_cast<std::int32_t>(kernel_.bucket(h)));
            signs.push_back(kernel_.sign(h));
        }
        pass.keep();
        return {give(std::move(buckets)), give(std::move(signs))};
    }

    // Dicts as indptr, indices, data. long_way(row, features) → [(name, number), …] or raises.
    std::tuple<Numbers<std::int32_t>, Numbers<std::int32_t>, Numbers<double>> encode(const nb::object& dicts,
                                                                                     bool remember,
                                                                                     const nb::callable& long_way) {
        HashedRows rows;
        Pass pass(*this, remember);
        std::size_t row = 0;
        for (nb::handle features : dicts) {
            if (row % 4096 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
            if (!read(features, rows, pass)) {
                PyErr_Clear();
                rows.drop_row();
                for (nb::handle pair : long_way(row, features)) {
                    const nb::object name = pair[0];
                    std::string_view bytes;
                    if (!utf8(name.ptr(), bytes)) throw nb::python_error();
                    const std::uint32_t h = pass.meet(bytes);
                    rows.add(kernel_.bucket(h), kernel_.sign(h) * nb::cast<double>(pair[1]));
                }
            }
            if (!rows.end_row())
                throw std::invalid_argument("row " + std::to_string(row) +
                                            ": features of one bucket do not add up to a finite number; scale them");
            require(rows.indices.size() <= INT32_MAX, "the rows hold more than 2147483647 numbers; give fewer at once");
            ++row;
        }
        pass.keep();
        return {give(std::move(rows.indptr)), give(std::move(rows.indices)), give(std::move(rows.data))};
    }

    std::vector<std::string> names(std::uint32_t bucket) const { return index_.names(bucket); }

    nb::dict inverted(std::size_t at_least) const {
        nb::dict all;
        for (const std::uint32_t bucket : index_.buckets(at_least)) all[nb::int_(bucket)] = nb::cast(names(bucket));
        return all;
    }

  private:
    // One call: hashes names, and remembers them if asked to. What it remembered is forgotten unless the call succeeds.
    class Pass {
      public:
        Pass(Hasher& hasher, bool remember) : hasher_(hasher), remember_(remember) {}
        ~Pass() {
            for (; !met_.empty(); met_.pop_back()) hasher_.index_.forget(met_.back());
        }
        Pass(const Pass&) = delete;
        Pass& operator=(const Pass&) = delete;

        std::uint32_t meet(std::string_view name) {
            const std::uint32_t h = hasher_.kernel_.hash(name), bucket = hasher_.kernel_.bucket(h);
            if (remember_ && hasher_.index_.add(bucket, name)) met_.push_back(bucket);
            return h;
        }

        void keep() { met_.clear(); }

      private:
        Hasher& hasher_;
        bool remember_;
        std::vector<std::uint32_t> met_;
    };

    static bool utf8(PyObject* text, std::string_view& bytes) {
        Py_ssize_t size = 0;
        const char* data = PyUnicode_AsUTF8AndSize(text, &size);
        if (data == nullptr) return false;
        bytes = {data, static_cast<std::size_t>(size)};
        return true;
    }

    // False, perhaps with a Python error set, for a row that is not plain.
    bool read(nb::handle features, HashedRows& rows, Pass& pass) {
        if (!PyDict_CheckExact(features.ptr())) return false;
        PyObject *name, *value;
        Py_ssize_t at = 0;
        while (PyDict_Next(features.ptr(), &at, &name, &value)) {
            if (!PyUnicode_CheckExact(name)) return false;
            const std::optional<double> number = plain_number(value);
            if (!number || !std::isfinite(*number)) return false;
            if (*number == 0.0) continue;
            std::string_view bytes, choice;
            if (!utf8(name, bytes)) return false;
            if (PyUnicode_CheckExact(value)) {
                if (!utf8(value, choice)) return false;
                joined_.assign(bytes).append(1, '=').append(choice);
                bytes = joined_;
            }
            const std::uint32_t h = pass.meet(bytes);
            rows.add(kernel_.bucket(h), kernel_.sign(h) * *number);
        }
        return true;
    }

    HashKernel kernel_;
    InvertedIndex index_;
    std::string joined_;
};

}  // namespace

namespace {

// Names of files may not be UTF-8.
nb::list shown_names(const std::vector<std::string>& names) {
    nb::list all;
    for (const std::string& name : names) {
        PyObject* text = PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "replace");
        if (text == nullptr) throw nb::python_error();
        all.append(nb::steal(text));
    }
    return all;
}

std::tuple<Numbers<std::int32_t>, Numbers<std::int64_t>, Numbers<std::uint8_t>> pack(const InvertedIndex& index) {
    std::vector<std::int32_t> buckets;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint8_t> blob;
    index.for_each([&](std::uint32_t bucket, const std::string& name) {
        buckets.push_back(static_cast<std::int32_t>(bucket));
        blob.insert(blob.end(), name.begin(), name.end());
        offsets.push_back(static_cast<std::int64_t>(blob.size()));
    });
    return {give(std::move(buckets)), give(std::move(offsets)), give(std::move(blob))};
}

template <class T>
using Given = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

InvertedIndex unpack(const Given<std::int32_t>& buckets, const Given<std::int64_t>& offsets,
                     const Given<std::uint8_t>& blob) {
    require(buckets.size() == offsets.size(), "the names of the features are damaged");
    InvertedIndex index;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        const std::int64_t end = offsets.data()[i];
        require(buckets.data()[i] >= 0 && end >= begin && end <= static_cast<std::int64_t>(blob.size()),
                "the names of the features are damaged");
        index.add(static_cast<std::uint32_t>(buckets.data()[i]),
                  {reinterpret_cast<const char*>(blob.data()) + begin, static_cast<std::size_t>(end - begin)});
        begin = end;
    }
    return index;
}

}  // namespace

void bind_hashing(nb::module_& m) {
    m.def(
        "murmur3", [](nb::bytes bytes, std::uint32_t seed) { return murmur3({bytes.c_str(), bytes.size()}, seed); },
        "bytes"_a, "seed"_a, "MurmurHash3_x86_32.");
    nb::class_<InvertedIndex>(m, "InvertedIndex", "Bucket → the names that fell into it.")
        .def(nb::init<>())
        .def_static("from_arrays", &unpack, "bucket"_a.noconvert(), "offsets"_a.noconvert(), "blob"_a.noconvert(),
                    "What to_arrays gave.")
        .def("to_arrays", &pack, "Buckets, ends of the names in the blob, and the blob.")
        .def(
            "merge", [](InvertedIndex& self, InvertedIndex& other) { self.merge(std::move(other)); }, "other"_a,
            "Take the names of another index.")
        .def("names", [](const InvertedIndex& self, std::uint32_t bucket) { return shown_names(self.names(bucket)); })
        .def("buckets", &InvertedIndex::buckets, "at_least"_a, "The buckets with at least so many names, ascending.");
    nb::class_<Hasher>(m, "HashKernel", "The signed hash kernel, with its inverted index.")
        .def(nb::init<int, std::uint32_t, bool>(), "bits"_a, "seed"_a, "signed"_a)
        .def("hash", &Hasher::hash, "names"_a, "remember"_a, "Buckets and signs of many names.")
        .def("encode", &Hasher::encode, "dicts"_a, "remember"_a, "long_way"_a,
             "Dicts as the rows of a CSR matrix; rows that are not plain go through `long_way`.")
        .def("names", &Hasher::names, "bucket"_a)
        .def("inverted", &Hasher::inverted, "at_least"_a,
             nb::sig("def inverted(self, at_least: int) -> dict[int, list[str]]"),
             "The buckets with at least so many names, and the names.");
}

}  // namespace perceptive
