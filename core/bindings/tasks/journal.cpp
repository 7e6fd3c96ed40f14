#include "bindings/arrays.hpp"
#include "tasks/row_updates.hpp"

namespace perceptive {

namespace {

template <class W>
nb::dict to_arrays(const RowJournal<W>& journal) {
    const RowUpdates<W>& updates = journal.updates;
    const auto of_entries = [&](auto member) {
        std::vector<std::decay_t<decltype(Entry{}.*member)>> values;
        for (const Entry& entry : updates.entries) values.push_back(entry.*member);
        return to_numpy(std::move(values));
    };
    nb::dict arrays;
    arrays["survival"] = to_numpy(journal.survival);
    arrays["scale"] = to_numpy(updates.scale);
    arrays["first_entry"] = to_numpy(updates.first_entry);
    arrays["entry_label"] = of_entries(&Entry::label);
    arrays["entry_vector"] = of_entries(&Entry::vector);
    arrays["entry_coefficient"] = of_entries(&Entry::coefficient);
    arrays["entry_bias"] = of_entries(&Entry::bias);
    arrays["vector_start"] = to_numpy(updates.vector_start);
    arrays["index"] = to_numpy(updates.index);
    arrays["value"] = to_numpy(updates.value);
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
RowJournal<W> from_arrays(i64 max_voters, const Vector<const i64>& survival, const Vector<const double>& scale,
                          const Vector<const i64>& first_entry, const Vector<const std::int32_t>& labels,
                          const Vector<const std::int32_t>& vectors, const Vector<const double>& coefficients,
                          const Vector<const double>& biases, const Vector<const i64>& vector_start,
                          const Vector<const std::int32_t>& index, const Vector<const W>& value, i64 n_features,
                          i64 n_classes) {
    RowJournal<W> journal{max_voters};
    RowUpdates<W>& updates = journal.updates;
    journal.survival = copy_of(survival);
    updates.scale = copy_of(scale);
    updates.first_entry = copy_of(first_entry);
    updates.vector_start = copy_of(vector_start);
    updates.index = copy_of(index);
    updates.value = copy_of(value);
    const size_t n_entries = labels.size();
    require(journal.survival.size() == updates.scale.size() + 1, "journal: survival and scale do not match");
    require(updates.first_entry.size() == updates.scale.size() + 1, "journal: entries and steps do not match");
    require(vectors.size() == n_entries && coefficients.size() == n_entries && biases.size() == n_entries,
            "journal: the entries' arrays differ in length");
    require(updates.index.size() == updates.value.size(), "journal: index and value differ in length");
    require_starts(updates.first_entry, static_cast<i64>(n_entries), "journal: first_entry is wrong");
    require_starts(updates.vector_start, static_cast<i64>(updates.index.size()), "journal: vector_start is wrong");
    for (const i64 m : journal.survival) require(m >= 0, "journal: a survival is negative");
    for (const std::int32_t j : updates.index) require(j >= 0 && j < n_features, "journal: an index is out of range");
    for (size_t e = 0; e < n_entries; ++e) {
        const Entry entry{labels.data()[e], vectors.data()[e], coefficients.data()[e], biases.data()[e]};
        require(entry.label >= 0 && entry.label < n_classes, "journal: a class is out of range");
        require(entry.vector >= 0 && entry.vector < updates.vectors(), "journal: a vector is out of range");
        updates.entries.push_back(entry);
    }
    return journal;
}

template <class W, class V, class Shrink>
void replay(const RowJournal<W>& journal, i64 k, V&& v, i64 stride, const Vector<double>& v_bias, Shrink shrink) {
    const i64 n_classes = length(v_bias);
    require(k >= 0 && k < journal.voters(), "there is no such voter");
    require(n_classes <= stride, "too many bias weights");
    for (const Entry& entry : journal.updates.entries) require(entry.label < n_classes, "too few classes");
    journal.updates.replay(k, v, v_bias.data(), n_classes, shrink);
}

template <class W>
void bind(nb::module_& m, const char* name) {
    nb::class_<RowJournal<W>>(m, name, "Every update of a run, so that every v_k can be had again and can vote.")
        .def(
            "__init__", [](RowJournal<W>* self, i64 max_voters) { new (self) RowJournal<W>{max_voters}; },
            "max_voters"_a = 0)
        .def_prop_ro(
            "survival", [](const RowJournal<W>& journal) { return to_numpy(journal.survival); },
            nb::rv_policy::automatic)
        .def(
            "begin_rows", [](RowJournal<W>& journal, i64 n_rows) { journal.updates.begin_rows(n_rows); }, "n_rows"_a)
        .def(
            "relabel",
            [](RowJournal<W>& journal, const Vector<const i64>& new_label) {
                journal.updates.relabel(new_label.data(), length(new_label));
            },
            "new_label"_a)
        .def(
            "replay",
            [](const RowJournal<W>& journal, i64 k, const nb::ndarray<double, nb::ndim<2>, nb::c_contig>& v,
               const Vector<double>& v_bias) {
                const i64 n_features = extent(v, 0), stride = extent(v, 1);
                for (const std::int32_t j : journal.updates.index)
                    require(j < n_features, "the vector has too few features");
                replay(journal, k, DenseWeights<double>{v.data(), stride}, stride, v_bias, [&](double a) {
                    for (i64 j = 0; j < n_features * stride; ++j) v.data()[j] *= a;
                });
            },
            "k"_a, "v"_a.noconvert(), "v_bias"_a.noconvert())
        .def(
            "replay",
            [](const RowJournal<W>& journal, i64 k, SparseWeights<double>& v, const Vector<double>& v_bias) {
                replay(journal, k, v.z, v.width(), v_bias, [&](double a) {
                    for (i64 r = 0; r < v.z.size(); ++r) v.z.change_each(r, [a](i64, double& weight) { weight *= a; });
                });
            },
            "k"_a, "v"_a, "v_bias"_a.noconvert(), "Turn voter 0 (given in v, v_bias) into voter k.")
        .def("to_arrays", &to_arrays<W>)
        .def_static("from_arrays", &from_arrays<W>, "max_voters"_a, "survival"_a, "scale"_a, "first_entry"_a,
                    "entry_label"_a, "entry_vector"_a, "entry_coefficient"_a, "entry_bias"_a, "vector_start"_a,
                    "index"_a, "value"_a, "n_features"_a, "n_classes"_a);
}

}  // namespace

void bind_journal(nb::module_& m) {
    bind<float>(m, "Journal32");
    bind<double>(m, "Journal64");
}

}  // namespace perceptive
