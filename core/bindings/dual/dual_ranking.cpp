// Ranking in the dual: blocks of scores are played list by list.
#include "dual/dual_ranking.hpp"

#include "bindings/arrays.hpp"
#include "bindings/tasks/lists.hpp"

namespace perceptive {

namespace {

class ListPlayer {
  public:
    ListPlayer(const std::string& rule, double learning_rate, double margin, double C, const std::string& pairs)
        : rule_{additive_rule_by_name(rule), learning_rate, margin, C}, pairs_(pairs_by_name(pairs)) {}

    // The list, the rounds, mistakes and criterion up to and with it, v·δ and its cost; its shares are in `shares`.
    std::tuple<i64, i64, i64, double, double, double> scan(const Vector<const double>& scores,
                                                           const Vector<const i64>& starts,
                                                           const Vector<const double>& grades,
                                                           const Maybe<double>& gains, const Maybe<double>& weights,
                                                           const Vector<const double>& extra, i64 begin,
                                                           const Vector<double>& shares) const {
        const i64 n_lists = check_lists(length(scores), starts, grades);
        require_length(gains, length(grades), "gains and candidates differ in number");
        require_length(weights, n_lists, "weights and lists differ in number");
        require(length(extra) == n_lists, "extra and lists differ in number");
        require(shares.size() == scores.size(), "shares and candidates differ in number");
        require(begin >= 0, "begin must not be negative");
        const Lists lists{starts.data(), grades.data(), data_of(gains), data_of(weights), pairs_};
        nb::gil_scoped_release release;
        ListPairs chosen;
        const ListStop stop = scan_lists(scores.data(), lists, extra.data(), n_lists, begin, rule_, chosen);
        if (stop.list < n_lists)
            std::copy(chosen.shares.begin(), chosen.shares.end(), shares.data() + starts.data()[stop.list]);
        return {stop.list, stop.run.rounds, stop.run.mistakes, stop.run.criterion, stop.margin, stop.cost};
    }

    double step(double m, double q, double cost, double weight) const {
        require(q > 0.0, "δ has length 0; there is nothing to learn from it");
        return rule_.step(m, q, 0.0, cost, weight).tau;
    }

  private:
    Rule rule_;
    Pairs pairs_;
};

}  // namespace

void bind_dual_ranking(nb::module_& m) {
    nb::class_<ListPlayer>(m, "ListPlayer", "Plays scores of lists by a rule.")
        .def(nb::init<const std::string&, double, double, double, const std::string&>(), "rule"_a, "learning_rate"_a,
             "margin"_a, "C"_a, "pairs"_a)
        .def("scan", &ListPlayer::scan, "scores"_array, "starts"_array, "grades"_array, "gains"_array.none(),
             "weights"_array.none(), "extra"_array, "begin"_a, "shares"_array,
             "The list that is learned from next (or their number), and the rounds, mistakes and criterion up to it.")
        .def("step", &ListPlayer::step, "m"_a, "q"_a, "cost"_a, "weight"_a, "How far to go along δ.");
}

}  // namespace perceptive
