// Names and dicts of features through the hash kernel. What is plain is read where it lies, without a Python object per
// feature; a row with anything else in it goes the long way, through Python, which checks it and explains what is
// wrong.
#include "text/hashing.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include "bindings/text/inverted.hpp"

using namespace nb::literals;

namespace perceptive {

namespace {

template <class T>
using Given = nb::ndarray<nb::numpy, T>;

class Hasher {
  public:
    Hasher(int bits, std::uint32_t seed, bool with_signs) : kernel_{bits, seed, with_signs} {
        require(bits >= 1 && bits <= 30, "bits must be 1 … 30");
    }

    // Buckets and signs of many names.
    std::tuple<Given<std::int32_t>, Given<double>> hash(const nb::list& names, bool remember) {
        std::vector<std::int32_t> buckets;
        std::vector<double> signs;
        Pass pass(*this, remember);
        for (nb::handle name : names) {
            if (!PyUnicode_Check(name.ptr())) throw nb::type_error("names must be strings");
            const auto bytes = utf8_of(name);
            if (!bytes) throw nb::python_error();
            const std::uint32_t h = pass.meet(*bytes);
            buckets.push_back(static_cast<std::int32_t>(kernel_.bucket(h)));
            signs.push_back(kernel_.sign(h));
        }
        pass.keep();
        return {to_numpy(std::move(buckets)), to_numpy(std::move(signs))};
    }

    // Dicts as indptr, indices, data. long_way(row, features) → [(name, number), …] or raises.
    std::tuple<Given<std::int32_t>, Given<std::int32_t>, Given<double>> encode(const nb::object& dicts, bool remember,
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
                    const auto bytes = utf8_of(name);
                    if (!bytes) throw nb::python_error();
                    const std::uint32_t h = pass.meet(*bytes);
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
        return {to_numpy(std::move(rows.indptr)), to_numpy(std::move(rows.indices)), to_numpy(std::move(rows.data))};
    }

    const InvertedIndex& index() const { return index_; }

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
            auto bytes = utf8_of(name);
            if (!bytes) return false;
            if (PyUnicode_CheckExact(value)) {
                const auto choice = utf8_of(value);
                if (!choice) return false;
                joined_.assign(*bytes).append(1, '=').append(*choice);
                bytes = joined_;
            }
            const std::uint32_t h = pass.meet(*bytes);
            rows.add(kernel_.bucket(h), kernel_.sign(h) * *number);
        }
        return true;
    }

    HashKernel kernel_;
    InvertedIndex index_;
    std::string joined_;
};

nb::list decoded_names(const InvertedIndex& index, std::uint32_t bucket) {
    nb::list all;
    for (const std::string& name : index.names(bucket)) all.append(decoded(name));
    return all;
}

std::tuple<Given<std::int32_t>, Given<std::int64_t>, Given<std::uint8_t>> pack(const InvertedIndex& index) {
    std::vector<std::int32_t> buckets;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint8_t> blob;
    index.for_each([&](std::uint32_t bucket, const std::string& name) {
        buckets.push_back(static_cast<std::int32_t>(bucket));
        blob.insert(blob.end(), name.begin(), name.end());
        offsets.push_back(static_cast<std::int64_t>(blob.size()));
    });
    return {to_numpy(std::move(buckets)), to_numpy(std::move(offsets)), to_numpy(std::move(blob))};
}

InvertedIndex unpack(const Vector<const std::int32_t>& buckets, const Vector<const i64>& offsets,
                     const Vector<const std::uint8_t>& blob) {
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
        .def("names", &decoded_names)
        .def("buckets", &InvertedIndex::buckets, "at_least"_a, "The buckets with at least so many names, ascending.");
    nb::class_<Hasher> hasher(m, "HashKernel", "The signed hash kernel, with its inverted index.");
    hasher.def(nb::init<int, std::uint32_t, bool>(), "bits"_a, "seed"_a, "signed"_a)
        .def("hash", &Hasher::hash, "names"_a, "remember"_a, "Buckets and signs of many names.")
        .def("encode", &Hasher::encode, "dicts"_a, "remember"_a, "long_way"_a,
             "Dicts as the rows of a CSR matrix; rows that are not plain go through `long_way`.");
    def_names(hasher);
}

}  // namespace perceptive
