#include "bindings/tasks/learning.hpp"

#include "shuffle.hpp"
#include "tasks/binary.hpp"

namespace perceptive {

namespace {

RuleName rule_by_name(const std::string& name) {
    if (name == "perceptron") return RuleName::perceptron;
    if (name == "pa") return RuleName::pa;
    if (name == "pa1") return RuleName::pa1;
    if (name == "pa2") return RuleName::pa2;
    if (name == "mira") return RuleName::mira;
    if (name == "romma") return RuleName::romma;
    if (name == "aggressive-romma") return RuleName::aggressive_romma;
    if (name == "arow") return RuleName::arow;
    throw std::invalid_argument("unknown rule " + name);
}

}  // namespace

void bind_learning(nb::module_& m) {
    m.def(
        "shuffle",
        [](const Vector<i64>& order, std::uint64_t seed) {
            nb::gil_scoped_release release;
            shuffle(order.data(), static_cast<i64>(order.size()), seed);
        },
        nb::arg("order").noconvert(), nb::arg("seed"), "Put the numbers into a random order, the same for every seed.");
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
            nb::arg("rule"), nb::arg("learning_rate"), nb::arg("margin"), nb::arg("C"), nb::arg("r"), nb::arg("bias"),
            nb::arg("delta"), nb::arg("normalize"), nb::arg("ties_positive"), nb::arg("average_mistakes"));
    nb::class_<Progress>(m, "Progress", "The numbers of a run so far.")
        .def(nb::init<>())
        .def_rw("rounds", &Progress::rounds)
        .def_rw("mistakes", &Progress::mistakes)
        .def_rw("updates", &Progress::updates)
        .def_rw("touched", &Progress::touched)
        .def_rw("criterion", &Progress::criterion)
        .def_rw("radius2", &Progress::radius2)
        .def_rw("norm2", &Progress::norm2)
        .def_rw("scale", &Progress::scale)
        .def_rw("clock", &Progress::clock);
    nb::class_<Problem>(m, "Problem", "One binary or joint problem: weights (NumPy arrays), options, run, journal.")
        .def(
            "__init__",
            [](Problem* self, Any z, std::optional<Any> sum, std::optional<Any> sigma, Any z_bias, Any sum_bias,
               Any sigma_bias, const Options& options, nb::object journal) {
                require(z.ndim() == 2, "z must be features × stride");
                const i64 n_features = static_cast<i64>(z.shape(0)), stride = static_cast<i64>(z.shape(1));
                const i64 n_classes = static_cast<i64>(z_bias.size());
                require(n_classes > 0 && n_classes <= stride, "impossible shape");
                new (self) Problem{std::move(z),        std::move(sum),
                                   std::move(sigma),    std::move(z_bias),
                                   std::move(sum_bias), std::move(sigma_bias),
                                   std::nullopt,        std::nullopt,
                                   n_features,          stride,
                                   n_classes,           options,
                                   Progress{},          std::move(journal)};
            },
            nb::arg("z").noconvert(), nb::arg("sum").noconvert().none(), nb::arg("sigma").noconvert().none(),
            nb::arg("z_bias").noconvert(), nb::arg("sum_bias").noconvert(), nb::arg("sigma_bias").noconvert(),
            nb::arg("options"), nb::arg("journal").none())
        .def_rw("run", &Problem::run, nb::rv_policy::reference_internal)
        .def(
            "begin_rows",
            [](Problem& self, std::optional<Any> ids, std::optional<Any> pending) {
                self.ids = std::move(ids);
                self.pending = std::move(pending);
            },
            nb::arg("ids").noconvert().none(), nb::arg("pending").noconvert().none(),
            "Rows are numbered anew: their id features (Δ-trick) and pending shares of the sum, or None.")
        .def(
            "settle",
            [](Problem& self, const CheckedRows& data) {
                if (!self.pending) return;
                require(self.sum.has_value(), "there is no sum to settle");
                require(data.d <= self.n_features, "the rows have more features than the weights");
                const auto settled = [&](auto w) {
                    nb::gil_scoped_release release;
                    std::visit([&](const auto& rows) { settle(rows, w, self.run); }, data.rows);
                };
                if (self.z.dtype() == nb::dtype<float>())
                    settled(weights_of<float>(self, data.n));
                else
                    settled(weights_of<double>(self, data.n));
            },
            nb::arg("rows"), "Add what is pending to the sums; the rows are those that were played.");
}

}  // namespace perceptive
