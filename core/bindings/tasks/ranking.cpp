#include "tasks/ranking.hpp"

#include "bindings/tasks/learning.hpp"
#include "bindings/tasks/lists.hpp"
#include "tasks/predict.hpp"

namespace perceptive {

namespace {

void learn_lists(LinearModel& model, const CheckedRows& data, const Vector<const i64>& order,
                 const Vector<const i64>& starts, const Vector<const double>& grades, const Maybe<double>& gains,
                 const Maybe<double>& weights, const std::string& pairs) {
    const i64 n_lists = check_lists(data.n, starts, grades);
    require(model.stride == 1, "ranking has one weight per feature");
    require(model.options.bias == 0.0 && model.run.scale == 1.0,
            "ranking has no bias, and takes no rule that scales v");
    require(model.options.rule.name <= RuleName::mira, "this rule does not rank");
    require_length(gains, length(grades), "gains and rows differ in number");
    require_length(weights, n_lists, "weights and lists differ in number");
    require_below(order, n_lists, "order contains an unknown list");
    require(data.d <= model.n_features, "the rows have more features than the weights");
    const Lists lists{starts.data(), grades.data(), data_of(gains), data_of(weights), pairs_by_name(pairs)};
    const std::optional<Any> ids = model.ids;  // alive, whatever another thread begins
    with_task<RankTask>(model, data.n, lists, [&](auto& task) {
        data.visit([&](const auto& rows) { play_lists(rows, order.data(), length(order), task); });
    });
}

template <class W>
void votes_for_items(const CheckedRows& data, const RowJournal<W>& journal, const Vector<const i64>& survival,
                     const Vector<const double>& initial, const Vector<const i64>& list, bool normalize,
                     const Vector<i64>& out) {
    require(length(survival) == journal.voters(), "give one survival per voter");
    for (const i64 size : {length(initial), length(list), length(out)})
        require(size == data.n, "give one number per row");
    for (const Entry& entry : journal.updates.entries)
        require(entry.label == 0, "the journal is one of several classes");
    data.visit([&](const auto& rows) {
        rank_votes(rows, journal, survival.data(), initial.data(), list.data(), normalize, out.data());
    });
}

}  // namespace

void bind_ranking(nb::module_& m) {
    m.def("learn_lists", &learn_lists, "model"_a, "rows"_a, "order"_array, "starts"_array, "grades"_array,
          "gains"_array.none(), "weights"_array.none(), "pairs"_a,
          "Play lists in the given order; list t is the rows from starts[t] up to starts[t + 1].");
    m.def(
        "list_margins",
        [](const Vector<const double>& scores, const Vector<const i64>& starts, const Vector<const double>& grades,
           const std::string& pairs, const Vector<double>& out) {
            const i64 n_lists = check_lists(length(scores), starts, grades);
            require(length(out) == n_lists, "out has the wrong shape");
            const Pairs kind = pairs_by_name(pairs);
            nb::gil_scoped_release release;
            list_margins(scores.data(), starts.data(), n_lists, grades.data(), kind, out.data());
        },
        "scores"_array, "starts"_array, "grades"_array, "pairs"_a, "out"_array,
        "The smallest margin of each list under some scores; inf where it has no pair.");
    m.def(
        "list_lengths",
        [](const CheckedRows& data, const Vector<const i64>& starts, const Vector<const double>& grades,
           const std::string& pairs, bool normalize, const Vector<double>& shortest, const Vector<double>& longest,
           const Vector<i64>& equal) {
            const i64 n_lists = check_lists(data.n, starts, grades);
            for (const i64 size : {length(shortest), length(longest), length(equal)})
                require(size == n_lists, "out has the wrong shape");
            const Pairs kind = pairs_by_name(pairs);
            data.visit([&](const auto& rows) {
                list_lengths(rows, starts.data(), n_lists, grades.data(), kind, normalize, shortest.data(),
                             longest.data(), equal.data());
            });
        },
        "rows"_a, "starts"_array, "grades"_array, "pairs"_a, "normalize"_a, "shortest"_array, "longest"_array,
        "equal"_array, "Of each list's pairs the shortest ‖x_i − x_j‖² above 0, the longest, and how many are 0.");
    m.def("rank_votes", &votes_for_items<float>, "rows"_a, "journal"_a, "survival"_array, "initial"_array, "list"_array,
          "normalize"_a, "out"_array);
    m.def("rank_votes", &votes_for_items<double>, "rows"_a, "journal"_a, "survival"_array, "initial"_array,
          "list"_array, "normalize"_a, "out"_array,
          "Votes of the journal's voters for the rows of each list: Σ m_k [k picks i].");
}

}  // namespace perceptive
