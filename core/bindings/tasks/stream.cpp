// One named example at a time: a dict goes straight to the core, without arrays in between.
//
// Only what is plain is taken: str and int names, float, int, bool and str values in range. For anything
// else the functions answer None, and the caller goes the long way, which explains what is wrong.
//
// Each call keeps the GIL from beginning to end, so that it needs no hold on the model. Where others have one, or the
// model has other classes than the caller knew, the answer is None as well: the long way waits.
#include <cfloat>

#include "bindings/lock.hpp"
#include "bindings/tasks/learning.hpp"
#include "tasks/binary.hpp"
#include "tasks/joint.hpp"

namespace perceptive {

namespace {

// What happens to a name that is new.
enum class Unknown { refuse, skip, add };

// A row read from a dict; indices ascend as in every other row, so that sums round alike.
class NamedRow {
  public:
    // indices: name → index; added: names that came after the n_stored first ones, in their order.
    NamedRow(const nb::dict& indices, const nb::list& added, i64 n_stored, const nb::dict& x, Unknown unknown)
        : indices_(indices), added_(added), n_stored_(n_stored), known_(static_cast<i64>(added.size())) {
        plain_ = read(x, unknown);
        if (!plain_) forget();
        PyErr_Clear();
    }

    bool plain() const { return plain_; }
    // Take back the names that were added.
    void forget() {
        while (static_cast<i64>(added_.size()) > known_) {
            const Py_ssize_t last = static_cast<Py_ssize_t>(added_.size()) - 1;
            PyDict_DelItem(indices_.ptr(), PyList_GetItem(added_.ptr(), last));
            PyList_SetSlice(added_.ptr(), last, last + 1, nullptr);
        }
    }
    i64 width() const { return index_.empty() ? 0 : index_.back() + 1; }
    SparseRow<double> row() const { return {value_.data(), index_.data(), static_cast<i64>(index_.size())}; }

  private:
    bool read(const nb::dict& x, Unknown unknown) {
        bool ascending = true;
        PyObject *name, *value;
        Py_ssize_t at = 0;
        while (PyDict_Next(x.ptr(), &at, &name, &value)) {
            nb::object owned;  // a name made here
            if (PyLong_CheckExact(name)) {
                owned = nb::steal(PyObject_Str(name));
                name = owned.ptr();
            }
            if (!name || !PyUnicode_CheckExact(name)) return false;
            const std::optional<double> number = plain_number(value);
            if (!number || !(*number >= -FLT_MAX && *number <= FLT_MAX)) return false;
            if (*number == 0.0) continue;
            if (PyUnicode_CheckExact(value)) {
                owned = nb::steal(PyUnicode_FromFormat("%U=%U", name, value));
                name = owned.ptr();
                if (!name) return false;
            }
            PyObject* found = PyDict_GetItemWithError(indices_.ptr(), name);
            if (!found && PyErr_Occurred()) return false;
            if (!found && unknown == Unknown::skip) continue;
            if (!found && unknown == Unknown::refuse) return false;
            const i64 j = found ? PyLong_AsLongLong(found) : add(name);
            if (j < 0 || j >= (i64{1} << 31) - 1) return false;
            if (!entries_.empty() && j <= entries_.back().first) ascending = false;
            entries_.emplace_back(static_cast<std::int32_t>(j), *number);
        }
        if (!ascending) {
            std::sort(entries_.begin(), entries_.end());
            for (size_t p = 1; p < entries_.size(); ++p)
                if (entries_[p].first == entries_[p - 1].first) return false;  // two names for one feature
        }
        for (const auto& [j, v] : entries_) {
            index_.push_back(j);
            value_.push_back(v);
        }
        return true;
    }

    i64 add(PyObject* name) {
        Py_ssize_t size;
        if (!PyUnicode_AsUTF8AndSize(name, &size)) return -1;  // it could not be saved
        const i64 index = n_stored_ + static_cast<i64>(added_.size());
        if (PyDict_SetItem(indices_.ptr(), name, nb::int_(index).ptr()) < 0) return -1;
        added_.append(nb::borrow(name));
        return index;
    }

    nb::dict indices_;
    nb::list added_;
    i64 n_stored_, known_;
    std::vector<std::pair<std::int32_t, double>> entries_;
    std::vector<std::int32_t> index_;
    std::vector<double> value_;
    bool plain_ = false;
};

// Returns whether it was a mistake; or the number of features that there must be room for first, nothing learned yet;
// or None.
nb::object learn_named(const Lock& lock, LinearModel& model, Tally& tally, i64 n_classes, const nb::dict& indices,
                       const nb::list& added, i64 n_stored, bool may_add, const nb::dict& x, int target,
                       std::uint64_t label_hash) {
    if (!lock.of_model->teachable() || model.ids || model.pending) return nb::none();
    if (model.stride > 1 && model.n_classes != n_classes) return nb::none();
    if (model.run.updates >= FLOAT32_UPDATES && model.single) return nb::none();  // widen
    NamedRow named(indices, added, n_stored, x, may_add ? Unknown::add : Unknown::refuse);
    if (!named.plain()) return nb::none();
    if (named.width() > model.n_features) {
        named.forget();
        return nb::int_(named.width());
    }
    const Labels labels{&target, nullptr, nullptr};
    const auto row = named.row();
    const i64 mistakes = model.run.mistakes;
    const auto play = [&](auto& task) {
        if (task.journal) task.journal->updates.begin_rows(1);
        task.round(row, 0);
    };
    if (model.stride == 1)
        with_task<BinaryTask>(model, 1, labels, play);
    else
        with_task<JointTask>(model, 1, labels, play);
    model.width = std::max(model.width, named.width());
    model.run.open = true;
    tally.add(example_hash(row_hash(row), label_hash), 1, 1);
    return nb::bool_(model.run.mistakes > mistakes);
}

template <class W>
std::vector<double> scores_of(const LinearModel& model, const SparseRow<double>& row, double clock, double total) {
    const Weights<W> w = weights_of<W>(model, 0);
    const auto dots = [&](const W* first, const SparseRows<W>* sparse, const double* bias) {
        std::vector<double> scores(static_cast<size_t>(w.padded()));
        if (w.stride == 1) {
            scores[0] = dot(first, row);
        } else if (sparse) {
            std::vector<W> room(static_cast<size_t>(w.stride));
            class_scores(*sparse, w.padded(), row, room.data(), scores.data());
        } else {
            class_scores(first, w.stride, w.padded(), row, scores.data());
        }
        scores.resize(static_cast<size_t>(w.n_classes));
        for (i64 c = 0; c < w.n_classes; ++c) scores[c] += model.options.bias * bias[c];
        return scores;
    };
    std::vector<double> scores = dots(w.z, w.sparse ? &w.sparse->z : nullptr, w.z_bias);
    if (total == 0.0) {
        for (double& score : scores) score *= model.run.scale;
    } else {
        const std::vector<double> sums = dots(w.sum, w.sparse ? &*w.sparse->sum : nullptr, w.sum_bias);
        for (i64 c = 0; c < w.n_classes; ++c) scores[c] = (clock * scores[c] - sums[c]) / total;
    }
    return scores;
}

// Scores of the last vector or of the lazy average, which is (clock·z − sum)/total.
std::optional<std::vector<double>> named_scores(const Lock& lock, const LinearModel& model, const nb::dict& indices,
                                                bool skip_unknown, const nb::dict& x, bool averaged) {
    if (!lock.of_model->readable() || model.pending) return std::nullopt;
    const NamedRow named(indices, nb::list(), 0, x, skip_unknown ? Unknown::skip : Unknown::refuse);
    if (!named.plain() || model.options.normalize || named.width() > model.n_features) return std::nullopt;
    std::pair<double, double> clock{0.0, 0.0};
    if (averaged) clock = model.run.average_clock(model.options.average_mistakes);
    return with_type(model.single, [&](auto type) {
        using W = decltype(type);
        require(!averaged || weights_of<W>(model, 0).averaged(), "there is no average");
        return scores_of<W>(model, named.row(), clock.first, clock.second);
    });
}

}  // namespace

void bind_stream(nb::module_& m) {
    m.attr("FLOAT32_UPDATES") = FLOAT32_UPDATES;
    m.def("learn_named", &learn_named, "lock"_a, "model"_a, "tally"_a, "n_classes"_a, "indices"_a, "added"_a,
          "n_stored"_a, "may_add"_a, "x"_a, "target"_a, "label_hash"_a,
          nb::sig("def learn_named(lock: Lock, model: LinearModel, tally: Tally, n_classes: int, indices: dict, "
                  "added: list, n_stored: int, may_add: bool, x: dict, target: int, label_hash: int) "
                  "-> bool | int | None"),
          "Play one dict, all in one step: whether it was a mistake, or the features to make room for first, or None.");
    m.def("named_scores", &named_scores, "lock"_a, "model"_a, "indices"_a, "skip_unknown"_a, "x"_a, "averaged"_a,
          "Scores of one dict as it learns, or None if it is not plain.");
}

}  // namespace perceptive
