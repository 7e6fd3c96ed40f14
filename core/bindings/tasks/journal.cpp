#include "bindings/arrays.hpp"

namespace perceptive {

namespace {

template <class W>
nb::dict to_arrays(const Journal<W>& journal) {
    std::vector<std::int32_t> labels, vectors;
    std::vector<double> coefficients, biases;
    for (const Entry& entry : journal.entries) {
        labels.push_back(entry.label);
        vectors.push_back(entry.vector);
        coefficients.push_back(entry.coefficient);
        biases.push_back(entry.bias);
    }
    nb::dict arrays;
    arrays["survival"] = to_numpy(journal.survival);
    arrays["scale"] = to_numpy(journal.scale);
    arrays["first_entry"] = to_numpy(journal.first_entry);
    arrays["entry_label"] = to_numpy(labels);
    arrays["entry_vector"] = to_numpy(vectors);
    arrays["entry_coefficient"] = to_numpy(coefficients);
    arrays["entry_bias"] = to_numpy(biases);
    arrays["vector_start"] = to_numpy(journal.vector_start);
    arrays["index"] = to_numpy(journal.index);
    arrays["value"] = to_numpy(journal.value);
    return arrays;
}

template <class T>
std::vector<T> copy_of(const Vector<const T>& array) {
    return std::vector<T>(array.data(), array.data() + array.size());
}

void require_starts(const std::vector<i64>& starts, i64 total, const char* message) {
    require(!starts.empty() && starts.front() == 0 && starts.back() == total, message);
    require(std::is_sorted(starts.begin(), starts.end()), message);
}

// Arrays from a file: nothing is believed.
template <class W>
Journal<W> from_arrays(i64 max_voters, const Vector<const i64>& survival, const Vector<const double>& scale,
                       const Vector<const i64>& first_entry, const Vector<const std::int32_t>& labels,
                       const Vector<const std::int32_t>& vectors, const Vector<const double>& coefficients,
                       const Vector<const double>& biases, const Vector<const i64>& vector_start,
                       const Vector<const std::int32_t>& index, const Vector<const W>& value, i64 n_features,
                       i64 n_classes) {
    Journal<W> journal(max_voters);
    journal.survival = copy_of(survival);
    journal.scale = copy_of(scale);
    journal.first_entry = copy_of(first_entry);
    journal.vector_start = copy_of(vector_start);
    journal.index = copy_of(index);
    journal.value = copy_of(value);
    const size_t n_entries = labels.size();
    require(journal.survival.size() == journal.scale.size() + 1, "journal: survival and scale do not match");
    require(journal.first_entry.size() == journal.scale.size() + 1, "journal: entries and steps do not match");
    require(vectors.size() == n_entries && coefficients.size() == n_entries && biases.size() == n_entries,
            "journal: the entries' arrays differ in length");
    require(journal.index.size() == journal.value.size(), "journal: index and value differ in length");
    require_starts(journal.first_entry, static_cast<i64>(n_entries), "journal: first_entry is wrong");
    require_starts(journal.vector_start, static_cast<i64>(journal.index.size()), "journal: vector_start is wrong");
    for (const i64 m : journal.survival) require(m >= 0, "journal: a survival is negative");
    for (const std::int32_t j : journal.index) require(j >= 0 && j < n_features, "journal: an index is out of range");
    for (size_t e = 0; e < n_entries; ++e) {
        const Entry entry{labels.data()[e], vectors.data()[e], coefficients.data()[e], biases.data()[e]};
        require(entry.label >= 0 && entry.label < n_classes, "journal: a class is out of range");
        require(entry.vector >= 0 && entry.vector < journal.vectors(), "journal: a vector is out of range");
        journal.entries.push_back(entry);
    }
    return journal;
}

template <class W>
void bind(nb::module_& m, const char* name) {
    nb::class_<Journal<W>>(m, name, "Every update of a run, so that every v_k can be had again and can vote.")
        .def(nb::init<i64>(), nb::arg("max_voters") = 0)
        .def_prop_ro(
            "survival", [](const Journal<W>& journal) { return to_numpy(journal.survival); }, nb::rv_policy::automatic)
        .def_prop_ro("voters", &Journal<W>::voters)
        .def("begin_rows", &Journal<W>::begin_rows, nb::arg("n_rows"))
        .def(
            "relabel",
            [](Journal<W>& journal, const Vector<const i64>& new_label) {
                journal.relabel(new_label.data(), static_cast<i64>(new_label.size()));
            },
            nb::arg("new_label"))
        .def(
            "replay",
            [](const Journal<W>& journal, i64 k, const nb::ndarray<double, nb::ndim<2>, nb::c_contig>& v,
               const Vector<double>& v_bias) {
                const i64 n_features = static_cast<i64>(v.shape(0)), stride = static_cast<i64>(v.shape(1));
                const i64 n_classes = static_cast<i64>(v_bias.size());
                require(k >= 0 && k < journal.voters(), "no such voter");
                require(n_classes <= stride, "too many bias weights");
                for (const std::int32_t j : journal.index) require(j < n_features, "the vector has too few features");
                for (const Entry& entry : journal.entries) require(entry.label < n_classes, "too few classes");
                journal.replay(k, v.data(), v_bias.data(), n_features, stride, n_classes);
            },
            nb::arg("k"), nb::arg("v").noconvert(), nb::arg("v_bias").noconvert(),
            "Turn voter 0 (given in v, v_bias) into voter k.")
        .def("to_arrays", &to_arrays<W>)
        .def_static("from_arrays", &from_arrays<W>, nb::arg("max_voters"), nb::arg("survival"), nb::arg("scale"),
                    nb::arg("first_entry"), nb::arg("entry_label"), nb::arg("entry_vector"),
                    nb::arg("entry_coefficient"), nb::arg("entry_bias"), nb::arg("vector_start"), nb::arg("index"),
                    nb::arg("value"), nb::arg("n_features"), nb::arg("n_classes"));
}

}  // namespace

void bind_journal(nb::module_& m) {
    bind<float>(m, "Journal32");
    bind<double>(m, "Journal64");
}

}  // namespace perceptive
