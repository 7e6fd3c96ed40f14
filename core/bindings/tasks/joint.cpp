#include "tasks/joint.hpp"

#include "bindings/tasks/learning.hpp"

using namespace nb::literals;

namespace perceptive {

void bind_joint(nb::module_& m) {
    m.def(
        "learn_joint",
        [](LinearModel& model, const CheckedRows& rows, const Vector<const i64>& order,
           const Vector<const int>& targets, const std::optional<Vector<const double>>& weights,
           const std::optional<Vector<const double>>& cost) {
            const i64 classes = model.n_classes;
            require(model.stride % 4 == 0, "the classes must be padded to a multiple of 4");
            require(!cost || static_cast<i64>(cost->size()) == classes * classes, "cost must be classes × classes");
            learn<JointTask>(model, rows, order, targets, weights, cost ? cost->data() : nullptr);
        },
        "model"_a, "rows"_a, "order"_array, "targets"_array, "weights"_array.none(), "cost"_array.none(),
        "Play the rows in the given order; targets are classes, or −1 for rows that are not in this problem.");
}

}  // namespace perceptive
