#include "tasks/binary.hpp"

#include "bindings/tasks/learning.hpp"

using namespace nb::literals;

namespace perceptive {

void bind_binary(nb::module_& m) {
    m.def(
        "learn_binary",
        [](LinearModel& model, const CheckedRows& rows, const Vector<const i64>& order,
           const Vector<const int>& targets, const std::optional<Vector<const double>>& weights) {
            require(model.stride == 1, "two classes have one weight per feature");
            learn<BinaryTask>(model, rows, order, targets, weights, nullptr);
        },
        "model"_a, "rows"_a, "order"_array, "targets"_array, "weights"_array.none(),
        "Play the rows in the given order; targets are +1, −1, or 0 for rows that are not in this problem.");
}

}  // namespace perceptive
