#include "bindings/tasks/learning.hpp"

#include "shuffle.hpp"
#include "tasks/binary.hpp"
#include "tasks/joint.hpp"

namespace perceptive {

namespace {

constexpr i64 MOST_FEATURES = i64{1} << 31;

// A model with the weights of this one, and these parts.
void begin(LinearModel* self, LinearModel model, Any z_bias, Any sum_bias, Any sigma_bias, const Options& options,
           nb::object journal, i64 width) {
    model.n_classes = length(z_bias);
    require(model.n_classes > 0 && model.n_classes <= model.stride,
            "there must be at least one class, and a weight for each");
    require(width >= 0 && width <= model.n_features, "there are fewer weights than features");
    model.z_bias = std::move(z_bias), model.sum_bias = std::move(sum_bias), model.sigma_bias = std::move(sigma_bias);
    model.width = width, model.options = options, model.journal = std::move(journal);
    new (self) LinearModel(std::move(model));
}

template <class W>
void begin_sparse(LinearModel* self, SparseWeights<W>& weights, Any z_bias, Any sum_bias, Any sigma_bias,
                  const Options& options, nb::object journal, i64 width) {
    LinearModel model;
    model.n_features = MOST_FEATURES, model.stride = weights.width();
    model.single = std::is_same_v<W, float>;
    model.sparse = &weights, model.owner = nb::find(weights);
    begin(self, std::move(model), z_bias, sum_bias, sigma_bias, options, journal, width);
}

// Add what is pending of the rows first, first + step, … to a sum.
template <class W, class Sum>
i64 add_pending_of(const LinearModel& model, const CheckedRows& data, const Weights<W>& w, Sum&& sum, i64 first,
                   i64 step) {
    require(w.pending != nullptr, "nothing was deferred");
    require(data.d <= model.n_features, "the rows have more features than the weights");
    require(first >= 0 && step > 0, "rows are counted from 0 on");
    i64 touched = 0;
    data.visit([&](const auto& rows) { touched = add_pending(rows, w, sum, first, step); });
    return touched;
}

template <class W>
void sparse_pending_sum(const LinearModel& self, const CheckedRows& data, SparseWeights<W>& sum, i64 first, i64 step) {
    const Weights<W> w = weights_of<W>(self, data.n);
    require(w.sparse && sum.width() == w.stride, "a sum has the shape of the weights");
    add_pending_of(self, data, w, sum.z, first, step);
}

}  // namespace

constexpr i64 MANY = 100'000;  // examples whose order takes a millisecond

void bind_learning(nb::module_& m) {
    m.def(
        "random_order",
        [](i64 n, std::uint64_t seed) {
            require(n >= 0, "there are no orders of fewer than 0 examples");
            std::optional<nb::gil_scoped_release> release;
            if (n > MANY) release.emplace();  // else other threads would take longer than this
            std::vector<i64> order = random_order(n, seed);
            release.reset();
            return to_numpy(std::move(order));
        },
        "n"_a, "seed"_a, "The numbers below n in a random order, the same for every seed.");
    nb::class_<Options>(m, "Options", "A rule and the conventions that a problem is played by.")
        .def(
            "__init__",
            [](Options* self, const std::string& rule, double learning_rate, double margin, double C, double r,
               double bias, double delta, bool normalize, bool ties_positive, bool average_mistakes) {
                new (self) Options{{rule_by_name(rule), learning_rate, margin, C, r},
                                   bias,
                                   delta,
                                   normalize,
                                   ties_positive,
                                   average_mistakes};
            },
            "rule"_a, "learning_rate"_a, "margin"_a, "C"_a, "r"_a, "bias"_a, "delta"_a, "normalize"_a,
            "ties_positive"_a, "average_mistakes"_a);
    nb::class_<Tally>(m, "Tally",
                      "What a learner has recorded: the sum of the hashes of its examples, their number, id features.")
        .def(
            "__init__",
            [](Tally* self, std::uint64_t fingerprint, i64 played, i64 ids) {
                new (self) Tally{fingerprint, played, ids};
            },
            "fingerprint"_a = 0, "played"_a = 0, "ids"_a = 0)
        .def_rw("fingerprint", &Tally::fingerprint)
        .def_rw("played", &Tally::played)
        .def_rw("ids", &Tally::ids)
        .def("add", &Tally::add, "fingerprint"_a, "played"_a, "ids"_a, "Record examples, all in one step.")
        .def("__reduce__", [](nb::handle self) {
            const auto& tally = nb::cast<const Tally&>(self);
            return nb::make_tuple(self.type(), nb::make_tuple(tally.fingerprint, tally.played, tally.ids));
        });
    nb::class_<Progress>(m, "Progress", "The numbers of a run so far.")
        .def(nb::init<>())
        .def_rw("rounds", &Progress::rounds)
        .def_rw("mistakes", &Progress::mistakes)
        .def_rw("updates", &Progress::updates)
        .def_rw("touched", &Progress::touched)
        .def_rw("criterion", &Progress::criterion)
        .def_rw("radius2", &Progress::radius2)
        .def_rw("norm2", &Progress::norm2)
        .def_rw("norm2_error", &Progress::norm2_error)
        .def_rw("scale", &Progress::scale)
        .def_rw("clock", &Progress::clock)
        .def_rw("open", &Progress::open)
        .def_rw("mixed_rounds", &Progress::mixed_rounds)
        .def_rw("mixed_updates", &Progress::mixed_updates)
        .def_rw("mixed_mistakes", &Progress::mixed_mistakes)
        .def_rw("weighted_updates", &Progress::weighted_updates)
        .def_rw("weighted_mistakes", &Progress::weighted_mistakes)
        .def_rw("heaviest", &Progress::heaviest)
        .def("mix", &Progress::mix, "shards"_a, "weight"_a, "updates"_a, "mistakes"_a, "most"_a,
             "Shards were mixed: their run, Σ ω_i, Σ ω_i k_i of updates and of mistakes, and the largest ω_i.")
        .def("add", &Progress::add, "other"_a, "The run of two shards together.")
        .def("average_clock", &Progress::average_clock, "of_mistakes"_a,
             "(clock, total) such that the average is (clock·z − sum)/total.");
    nb::class_<LinearModel>(m, "LinearModel",
                            "The model of one binary or joint problem: weights (NumPy arrays, or without zeros), "
                            "options, run, journal.")
        .def(
            "__init__",
            [](LinearModel* self, Any z, std::optional<Any> sum, std::optional<Any> sigma, Any z_bias, Any sum_bias,
               Any sigma_bias, const Options& options, nb::object journal, i64 width) {
                require(z.ndim() == 2, "z must be features × stride");
                LinearModel model;
                model.n_features = extent(z, 0), model.stride = extent(z, 1);
                model.single = z.dtype() == nb::dtype<float>();
                model.z = std::move(z), model.sum = std::move(sum), model.sigma = std::move(sigma);
                begin(self, std::move(model), z_bias, sum_bias, sigma_bias, options, journal, width);
            },
            "z"_array, "sum"_array.none(), "sigma"_array.none(), "z_bias"_array, "sum_bias"_array, "sigma_bias"_array,
            "options"_a, "journal"_a.none(), "width"_a)
        .def("__init__", &begin_sparse<float>, "weights"_a, "z_bias"_array, "sum_bias"_array, "sigma_bias"_array,
             "options"_a, "journal"_a.none(), "width"_a)
        .def("__init__", &begin_sparse<double>, "weights"_a, "z_bias"_array, "sum_bias"_array, "sigma_bias"_array,
             "options"_a, "journal"_a.none(), "width"_a)
        .def_prop_rw(
            "width", [](const LinearModel& self) { return self.width; },
            [](LinearModel& self, i64 width) {
                require(width >= 0 && width <= self.n_features, "there are fewer weights than features");
                self.width = width;
            },
            "Features in use; there may be room for more.")
        .def_rw("run", &LinearModel::run, nb::rv_policy::reference_internal)
        .def(
            "begin_rows",
            [](LinearModel& self, std::optional<Any> ids, std::optional<Any> pending) {
                self.ids = std::move(ids);
                self.pending = std::move(pending);
            },
            "ids"_array.none(), "pending"_array.none(),
            "Rows are numbered anew: their id features (Δ-trick) and pending shares of the sum, or None.")
        .def(
            "settle",
            [](LinearModel& self, const CheckedRows& data) {
                if (!self.pending) return;
                with_type(self.single, [&](auto type) {
                    const auto w = weights_of<decltype(type)>(self, data.n);
                    require(w.averaged(), "there is no sum to settle");
                    self.run.touched +=
                        w.sparse ? add_pending_of(self, data, w, *w.sparse->sum, 0, 1)
                                 : add_pending_of(self, data, w, DenseWeights<decltype(type)>{w.sum, w.stride}, 0, 1);
                    clear_pending(w);
                });
            },
            "rows"_a, "Add what is pending to the sums; the rows are those that were played.")
        .def(
            "pending_sum",
            [](const LinearModel& self, const CheckedRows& data, const Any& sum, i64 first, i64 step) {
                with_type(self.single, [&](auto type) {
                    using W = decltype(type);
                    W* to = data_of<W>(sum, self.n_features * self.stride, "sum");
                    const auto w = weights_of<W>(self, data.n);
                    add_pending_of(self, data, w, DenseWeights<W>{to, self.stride}, first, step);
                });
            },
            "rows"_a, "sum"_array, "first"_a, "step"_a)
        .def("pending_sum", &sparse_pending_sum<float>, "rows"_a, "sum"_a, "first"_a, "step"_a)
        .def("pending_sum", &sparse_pending_sum<double>, "rows"_a, "sum"_a, "first"_a, "step"_a,
             "Add what is pending of the rows first, first + step, … to another sum.")
        .def(
            "clear_pending",
            [](LinearModel& self) {
                const i64 size = self.pending ? length(*self.pending) : 0;
                std::fill_n(data_of<double>(self.pending, size, "pending"), size, 0.0);
            },
            "Nothing is pending any more: others have added it up.")
        .def(
            "add_deferred",
            [](LinearModel& self, const Vector<double>& shares) {
                double* pending = data_of<double>(self.pending, length(shares), "pending");
                require(pending != nullptr, "there is no room for what is deferred");
                for (std::size_t i = 0; i < shares.size(); ++i) pending[i] += shares.data()[i];
                std::fill_n(shares.data(), shares.size(), 0.0);
            },
            "shares"_array, "Let shares of the sums wait with those that do; they are 0 then.");
    m.def(
        "learn_binary",
        [](LinearModel& model, const CheckedRows& rows, const Vector<const i64>& order,
           const Vector<const int>& targets, const Maybe<double>& weights) {
            require(model.stride == 1, "two classes have one weight per feature");
            learn<BinaryTask>(model, rows, order, targets, weights, nullptr);
        },
        "model"_a, "rows"_a, "order"_array, "targets"_array, "weights"_array.none(),
        "Play the rows in the given order; targets are +1, −1, or 0 for rows that are not in this problem.");
    m.def(
        "learn_joint",
        [](LinearModel& model, const CheckedRows& rows, const Vector<const i64>& order,
           const Vector<const int>& targets, const Maybe<double>& weights, const Maybe<double>& cost) {
            require(model.stride % 4 == 0, "the classes must be padded to a multiple of 4");
            require_length(cost, model.n_classes * model.n_classes, "cost must be classes × classes");
            learn<JointTask>(model, rows, order, targets, weights, data_of(cost));
        },
        "model"_a, "rows"_a, "order"_array, "targets"_array, "weights"_array.none(), "cost"_array.none(),
        "Play the rows in the given order; targets are classes, or −1 for rows that are not in this problem.");
}

}  // namespace perceptive
