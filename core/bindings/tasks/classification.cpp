// Learning from labelled rows: two classes, or several that compete.
#include "bindings/tasks/learning.hpp"
#include "tasks/binary.hpp"
#include "tasks/joint.hpp"

using namespace nb::literals;

namespace perceptive {

void bind_classification(nb::module_& m) {
    m.def(
        "learn_binary",
        [](Problem& problem, const CheckedRows& rows, const Vector<const i64>& order, const Vector<const int>& targets,
           const std::optional<Vector<const double>>& weights) {
            require(problem.stride == 1, "two classes have one weight per feature");
            learn<BinaryTask>(problem, rows, order, targets, weights, nullptr);
        },
        "problem"_a, "rows"_a, "order"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.noconvert().none(),
        "Play the rows in the given order; targets are +1, −1, or 0 for rows that are not in this problem.");
    m.def(
        "learn_joint",
        [](Problem& problem, const CheckedRows& rows, const Vector<const i64>& order, const Vector<const int>& targets,
           const std::optional<Vector<const double>>& weights, const std::optional<Vector<const double>>& cost) {
            const i64 classes = problem.n_classes;
            require(problem.stride % 4 == 0, "the classes must be padded to a multiple of 4");
            require(!cost || static_cast<i64>(cost->size()) == classes * classes, "cost must be classes × classes");
            learn<JointTask>(problem, rows, order, targets, weights, cost ? cost->data() : nullptr);
        },
        "problem"_a, "rows"_a, "order"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.noconvert().none(),
        "cost"_a.noconvert().none(),
        "Play the rows in the given order; targets are classes, or −1 for rows that are not in this problem.");
}

}  // namespace perceptive
