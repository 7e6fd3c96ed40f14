// One named example at a time: a dict goes straight to the core, without arrays in between.
//
// Only what is plain is taken: str and int names, float, int, bool and str values in range. For anything
// else the functions answer None, and the caller goes the long way, which explains what is wrong.
#include <cfloat>

#include "binary.hpp"
#include "joint.hpp"
#include "learning.hpp"

namespace perceptive {

namespace {

// A row read from a dict; indices ascend as in every other row, so that sums round alike.
class NamedRow {
  public:
    NamedRow(const nb::dict& indices, const nb::dict& x, i64 n_features, bool skip_unknown)
        : plain_(read(indices, x, n_features, skip_unknown)) {
        PyErr_Clear();
    }

    nb::list unknown;  // names that are not in the dict of indices

    bool plain() const { return plain_; }
    SparseRow<double, std::int32_t> row() const {
        return {value_.data(), index_.data(), static_cast<i64>(index_.size())};
    }

  private:
    bool read(const nb::dict& indices, const nb::dict& x, i64 n_features, bool skip_unknown) {
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
            double number = 1.0;
            if (PyFloat_CheckExact(value)) {
                number = PyFloat_AsDouble(value);
            } else if (PyLong_CheckExact(value)) {
                number = PyLong_AsDouble(value);
                if (number == -1.0 && PyErr_Occurred()) return false;
            } else if (PyBool_Check(value)) {
                number = value == Py_True;
            } else if (PyUnicode_CheckExact(value)) {
                owned = nb::steal(PyUnicode_FromFormat("%U=%U", name, value));
                name = owned.ptr();
                if (!name) return false;
            } else {
                return false;
            }
            if (!(number >= -FLT_MAX && number <= FLT_MAX)) return false;
            if (number == 0.0) continue;
            PyObject* found = PyDict_GetItemWithError(indices.ptr(), name);
            if (!found && PyErr_Occurred()) return false;
            if (!found) {
                if (!skip_unknown) unknown.append(nb::borrow(name));
                continue;
            }
            const long j = PyLong_AsLong(found);
            if (j < 0 || j >= n_features) return false;
            if (!entries_.empty() && j <= entries_.back().first) ascending = false;
            entries_.emplace_back(static_cast<std::int32_t>(j), number);
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

    std::vector<std::pair<std::int32_t, double>> entries_;
    std::vector<std::int32_t> index_;
    std::vector<double> value_;
    bool plain_;
};

// Returns (share of the fingerprint, whether it was a mistake), or a list of unknown names, nothing learned yet.
nb::object learn_named(Problem& problem, const nb::dict& indices, const nb::dict& x, int target,
                       std::uint64_t label_hash) {
    const NamedRow named(indices, x, problem.n_features, false);
    if (!named.plain() || problem.ids || problem.pending) return nb::none();
    if (named.unknown.size() > 0) return named.unknown;
    const Lessons lessons{&target, nullptr, nullptr};
    const auto row = named.row();
    const i64 mistakes = problem.run.mistakes;
    if (problem.stride == 1)
        with_task<BinaryTask>(problem, 1, lessons, [&](auto& task) { task.round(row, 0); });
    else
        with_task<JointTask>(problem, 1, lessons, [&](auto& task) { task.round(row, 0); });
    return nb::make_tuple(example_hash(row_hash(row), label_hash), problem.run.mistakes > mistakes);
}

template <class W>
std::vector<double> scores_of(const Problem& problem, const SparseRow<double, std::int32_t>& row, double clock,
                              double total) {
    const Weights<W> w = weights_of<W>(problem, 0);
    const auto dots = [&](const W* first, const double* bias) {
        std::vector<double> scores(static_cast<size_t>(w.stride));
        if (w.stride == 1)
            scores[0] = dot(first, row);
        else
            class_scores(first, w.stride, row, scores.data());
        scores.resize(static_cast<size_t>(w.n_classes));
        for (i64 c = 0; c < w.n_classes; ++c) scores[c] += problem.options.bias * bias[c];
        return scores;
    };
    std::vector<double> scores = dots(w.z, w.z_bias);
    if (total == 0.0) {
        for (double& score : scores) score *= problem.run.scale;
    } else {
        const std::vector<double> sums = dots(w.sum, w.sum_bias);
        for (i64 c = 0; c < w.n_classes; ++c) scores[c] = (clock * scores[c] - sums[c]) / total;
    }
    return scores;
}

// Scores of the vector in force (total 0) or of the lazy average (clock·z − sum)/total.
std::optional<std::vector<double>> named_scores(const Problem& problem, const nb::dict& indices, const nb::dict& x,
                                                bool skip_unknown, double clock, double total) {
    const NamedRow named(indices, x, problem.n_features, skip_unknown);
    if (!named.plain() || problem.options.normalize || named.unknown.size() > 0) return std::nullopt;
    require(total == 0.0 || problem.sum, "there is no average");
    return problem.z.dtype() == nb::dtype<float>() ? scores_of<float>(problem, named.row(), clock, total)
                                                   : scores_of<double>(problem, named.row(), clock, total);
}

}  // namespace

void bind_stream(nb::module_& m) {
    m.def("learn_named", &learn_named, nb::arg("problem"), nb::arg("indices"), nb::arg("x"), nb::arg("target"),
          nb::arg("label_hash"),
          nb::sig("def learn_named(problem: Problem, indices: dict, x: dict, target: int, label_hash: int)"
                  " -> tuple[int, bool] | list[str] | None"),
          "Play one dict: (share of the fingerprint, mistake), or the names that are unknown, or None if not plain.");
    m.def("named_scores", &named_scores, nb::arg("problem"), nb::arg("indices"), nb::arg("x"), nb::arg("skip_unknown"),
          nb::arg("clock"), nb::arg("total"), "Scores of one dict as it learns, or None if it is not plain.");
}

}  // namespace perceptive
