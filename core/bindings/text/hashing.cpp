// Names and dicts of features through the hash kernel. What is plain is read where it lies, without a Python object per
// feature; a row with anything else in it goes the long way, through Python, which checks it and explains what is
// wrong.
#include "text/hashing.hpp"

#include "bindings/text/csr_builder.hpp"
#include "text/hashed_row.hpp"

namespace perceptive {

namespace {

class Hasher {
  public:
    Hasher(int bits, std::uint32_t seed, bool with_signs) : kernel_{bits, seed, with_signs} {
        require(bits >= 1 && bits <= 30, "bits must be 1 … 30");
    }

    std::tuple<Given<std::int32_t>, Given<double>> hash(const nb::list& names, bool remember) {
        std::vector<std::int32_t> buckets;
        std::vector<double> signs;
        InvertedIndex met;  // names are kept only if all is sound
        for (nb::handle name : names) {
            if (!PyUnicode_Check(name.ptr())) throw nb::type_error("names must be strings");
            const auto bytes = utf8_of(name);
            if (!bytes) throw nb::python_error();
            const std::uint32_t h = meet(*bytes, remember ? &met : nullptr);
            buckets.push_back(static_cast<std::int32_t>(kernel_.bucket(h)));
            signs.push_back(kernel_.signed_value(h, 1.0));
        }
        index_.merge(std::move(met));
        return {to_numpy(std::move(buckets)), to_numpy(std::move(signs))};
    }

    // long_way(row, features) → [(name, number), …] or raises
    CsrArrays encode(const nb::object& dicts, bool remember, const nb::callable& long_way) {
        CsrBuilder rows;
        InvertedIndex met;  // names are kept only if all is sound
        std::size_t row = 0;
        row_.clear();  // of a call that failed
        for (nb::handle features : dicts) {
            if (row % 4096 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
            if (!read(features, remember ? &met : nullptr)) {
                PyErr_Clear();
                row_.clear();
                for (nb::handle pair : long_way(row, features)) {
                    const nb::object name = pair[0];
                    const auto bytes = utf8_of(name);
                    if (!bytes) throw nb::python_error();
                    const std::uint32_t h = meet(*bytes, remember ? &met : nullptr);
                    row_.add(kernel_.bucket(h), kernel_.signed_value(h, nb::cast<double>(pair[1])));
                }
            }
            row_.finish(kernel_.bits, [&](std::int32_t bucket, double sum) {
                if (!std::isfinite(sum))
                    throw std::invalid_argument(
                        "row " + std::to_string(row) +
                        ": features of one bucket do not add up to a finite number; scale them");
                rows.indices.push_back(bucket);
                rows.data.push_back(sum);
            });
            rows.end_row();
            ++row;
        }
        index_.merge(std::move(met));
        return rows.arrays();
    }

    const InvertedIndex& index() const { return index_; }

  private:
    std::uint32_t meet(std::string_view name, InvertedIndex* met) const {
        const std::uint32_t h = kernel_.hash(name);
        if (met) met->add(kernel_.bucket(h), name);
        return h;
    }

    // False, perhaps with a Python error set, for a row that is not plain.
    bool read(nb::handle features, InvertedIndex* met) {
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
            const std::uint32_t h = meet(*bytes, met);
            row_.add(kernel_.bucket(h), kernel_.signed_value(h, *number));
        }
        return true;
    }

    HashKernel kernel_;
    InvertedIndex index_;
    HashedRow row_;
    std::string joined_;
};

nb::list names_in(const InvertedIndex& index, std::uint32_t bucket) {
    nb::list all;
    for (const std::string& name : index.names(bucket)) all.append(decoded(name));
    return all;
}

nb::dict all_names(const InvertedIndex& index, std::size_t at_least) {
    nb::dict all;
    for (const std::uint32_t bucket : index.buckets(at_least)) all[nb::int_(bucket)] = names_in(index, bucket);
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
        .def_static("from_arrays", &unpack, "bucket"_array, "offsets"_array, "blob"_array, "What to_arrays gave.")
        .def("to_arrays", &pack, "Buckets, ends of the names in the blob, and the blob.")
        .def(
            "merge", [](InvertedIndex& self, InvertedIndex& other) { self.merge(std::move(other)); }, "other"_a,
            "Take the names of another index.")
        .def("names", &names_in, "bucket"_a, nb::sig("def names(self, bucket: int) -> list[str]"))
        .def("buckets", &InvertedIndex::buckets, "at_least"_a, "The buckets with at least so many names, ascending.")
        .def("inverted", &all_names, "at_least"_a, nb::sig("def inverted(self, at_least: int) -> dict[int, list[str]]"),
             "These buckets, and the names.");
    nb::class_<Hasher>(m, "HashKernel", "The signed hash kernel, with its inverted index.")
        .def(nb::init<int, std::uint32_t, bool>(), "bits"_a, "seed"_a, "signed"_a)
        .def("hash", &Hasher::hash, "names"_a, "remember"_a, "Buckets and signs of many names.")
        .def("encode", &Hasher::encode, "dicts"_a, "remember"_a, "long_way"_a,
             "Dicts as the rows of a CSR matrix; rows that are not plain go through `long_way`.")
        .def_prop_ro("index", &Hasher::index);
}

}  // namespace perceptive
