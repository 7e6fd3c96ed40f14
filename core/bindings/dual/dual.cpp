// The dual perceptron: blocks of scores are played.
#include "dual/dual.hpp"

#include "bindings/arrays.hpp"

namespace perceptive {

namespace {

class Player {
  public:
    Player(const std::string& task, const std::string& rule, double learning_rate, double margin, double C,
           bool ties_positive)
        : player_{by_name<DualTask>(task, {"binary", "ovr", "joint"}, "unknown task"),
                  {additive_rule_by_name(rule), learning_rate, margin, C},
                  ties_positive} {}

    std::pair<i64, i64> scan(const Matrix& scores, const Vector<const std::int32_t>& target,
                             const Vector<const double>& q, const Maybe<double>& weight, i64 begin,
                             const Vector<double>& step, const Vector<double>& margin, const Vector<double>& tau,
                             const Vector<i64>& mistakes, const Vector<double>& criterion) const {
        const DualBlock block = block_of(scores, target, q, weight);
        require(begin >= 0, "begin must not be negative");
        const DualStep made = step_of(step, margin, tau, mistakes, criterion, block.outputs);
        nb::gil_scoped_release release;
        const Stop stop = player_.scan(block, begin, made);
        return {stop.row, stop.rounds};
    }

    // Rows and rounds of the updates, steps, margins and τ one after the other, and the rounds played.
    std::tuple<nb::ndarray<nb::numpy, i64>, nb::ndarray<nb::numpy, i64>, nb::ndarray<nb::numpy, double>,
               nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, double>, i64>
    play(const Matrix& scores, const Floats& table, const Vector<const std::int32_t>& target,
         const Vector<const double>& q, const Maybe<double>& weight, bool whole, const Vector<double>& step,
         const Vector<double>& margin, const Vector<double>& tau, const Vector<i64>& mistakes,
         const Vector<double>& criterion) const {
        const DualBlock block = block_of(scores, target, q, weight);
        require(extent(table, 0) == block.n && extent(table, 1) == block.n,
                "the table must be square, a row per example");
        const DualStep made = step_of(step, margin, tau, mistakes, criterion, block.outputs);
        DualUpdates updates;
        const i64 rounds = with_floats(table, [&](const auto* K) {
            nb::gil_scoped_release release;
            return player_.play(block, scores.data(), K, whole, made, updates);
        });
        return {to_numpy(std::move(updates.row)),  to_numpy(std::move(updates.at)),
                to_numpy(std::move(updates.step)), to_numpy(std::move(updates.margin)),
                to_numpy(std::move(updates.tau)),  rounds};
    }

  private:
    // What a call learns, per output and per problem, in Python's arrays.
    DualStep step_of(const Vector<double>& step, const Vector<double>& margin, const Vector<double>& tau,
                     const Vector<i64>& mistakes, const Vector<double>& criterion, i64 outputs) const {
        const i64 problems = player_.task == DualTask::rest ? outputs : 1;
        require(length(step) == outputs, "give one step per output");
        for (const i64 size : {length(margin), length(tau), length(mistakes), length(criterion)})
            require(size == problems, "give one number per problem");
        return {step.data(), margin.data(), tau.data(), mistakes.data(), criterion.data(), problems};
    }

    DualBlock block_of(const Matrix& scores, const Vector<const std::int32_t>& target, const Vector<const double>& q,
                       const Maybe<double>& weight) const {
        const i64 n = extent(scores, 0), outputs = extent(scores, 1);
        require(outputs > 0, "there must be at least one output");
        require(player_.task != DualTask::binary || outputs == 1, "two classes have one output");
        require(length(target) == n && length(q) == n, "give one target and one q per row");
        require_length(weight, n, "give one weight per row");
        for (i64 i = 0; i < n; ++i) {
            const std::int32_t y = target.data()[i];
            require(player_.task == DualTask::binary ? y == 1 || y == -1 : y >= 0 && y < outputs,
                    "a target is not one of the classes");
        }
        return {scores.data(), target.data(), q.data(), data_of(weight), n, outputs};
    }

    DualPlayer player_;
};

void scores_of(const Floats& K, const MatrixOf<const double>& alpha, const Matrix& out) {
    require(alpha.shape(0) == K.shape(0), "give one row of coefficients per support");
    require(out.shape(0) == K.shape(1) && out.shape(1) == alpha.shape(1), "out has the wrong shape");
    with_floats(K, [&](const auto* values) {
        nb::gil_scoped_release release;
        dual_scores(values, extent(K, 0), extent(K, 1), alpha.data(), extent(alpha, 1), out.data());
    });
}

}  // namespace

void bind_dual(nb::module_& m) {
    nb::class_<Player>(m, "DualPlayer", "Plays blocks of scores by a rule.")
        .def(nb::init<const std::string&, const std::string&, double, double, double, bool>(), "task"_a, "rule"_a,
             "learning_rate"_a, "margin"_a, "C"_a, "ties_positive"_a)
        .def("scan", &Player::scan, "scores"_array, "target"_array, "q"_array, "weight"_array.none(), "begin"_a,
             "step"_array, "margin"_array, "tau"_array, "mistakes"_array, "criterion"_array,
             "The row that is learned from next (or their number), and the rounds played up to and with it.")
        .def("play", &Player::play, "scores"_array, "table"_array, "target"_array, "q"_array, "weight"_array.none(),
             "whole"_a, "step"_array, "margin"_array, "tau"_array, "mistakes"_array, "criterion"_array,
             "Play a block whose kernel values are at hand.");
    m.def("dual_scores", &scores_of, "K"_array, "alpha"_array, "out"_array, "out[j, c] += Σ_i alpha[i, c]·K[i, j].");
}

}  // namespace perceptive
