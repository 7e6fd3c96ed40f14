// The journal of the dual: updates are written down, every v_k can vote.
#include "dual/dual_journal.hpp"

#include <limits>

#include "bindings/arrays.hpp"
#include "bindings/tasks/lists.hpp"

namespace perceptive {

namespace {

using Ints = Vector<const i64>;
using Doubles = Vector<const double>;
constexpr i64 MANY = std::numeric_limits<std::int32_t>::max();

// Updates of one term each: row u of `step` has what x adds to the outputs. They are of the output `problem`, or joint
// (−1): from the lowest of the row to the highest.
void write(DualJournal& journal, const Ints& slot, const Ints& at, const MatrixOf<const double>& step,
           const Doubles& margin, const Doubles& tau, const Doubles& q, std::int32_t problem) {
    const std::size_t n = slot.size(), outputs = step.shape(1);
    for (const std::size_t size : {at.size(), step.shape(0), margin.size(), tau.size(), q.size()})
        require(size == n, "the updates' arrays differ in length");
    require(problem >= -1 && problem < static_cast<std::int32_t>(outputs) && outputs > 0, "there is no such output");
    for (std::size_t u = 0; u < n; ++u) {
        const double* row = step.data() + u * outputs;
        const auto to = problem < 0 ? std::max_element(row, row + outputs) - row : problem;
        const auto from = problem < 0 ? std::min_element(row, row + outputs) - row : -1;
        journal.updates.add(static_cast<std::int32_t>(slot.data()[u]), row[to], static_cast<std::int32_t>(to),
                            static_cast<std::int32_t>(from));
        const double t = tau.data()[u], m = margin.data()[u];
        const double grown = 2.0 * t * m + t * t * q.data()[u];
        journal.close_step_at(at.data()[u], journal.updates.length2.back() + grown);
    }
}

// One update of several supports, of the one output.
void write_together(DualJournal& journal, const Ints& slot, const Doubles& step, i64 at, double margin, double tau,
                    double q) {
    require(step.size() == slot.size(), "the update's arrays differ in length");
    for (std::size_t u = 0; u < slot.size(); ++u)
        journal.updates.add(static_cast<std::int32_t>(slot.data()[u]), step.data()[u], 0, -1);
    journal.close_step_at(at, journal.updates.length2.back() + 2.0 * tau * margin + tau * tau * q);
}

void meet_output(DualJournal& journal, std::int32_t place) {
    for (auto* outputs : {&journal.updates.gain, &journal.updates.loss})
        for (std::int32_t& c : *outputs) c += c >= place;
}

void check(const DualJournal& journal, i64 supports, i64 outputs) {
    const SupportUpdates& updates = journal.updates;
    for (i64 u = 0; u < updates.terms(); ++u) {
        require(updates.slot[u] >= 0 && updates.slot[u] < supports, "the journal has a slot that does not exist");
        require(updates.gain[u] >= 0 && updates.gain[u] < outputs, "the journal has a gain that does not exist");
        require(updates.loss[u] >= -1 && updates.loss[u] < outputs, "the journal has a loss that does not exist");
    }
}

void add_coefficients(const DualJournal& journal, const Doubles& weights, const Matrix& into) {
    require(length(weights) == journal.voters(), "give one weight per voter");
    const i64 outputs = extent(into, 1);
    check(journal, extent(into, 0), outputs);
    journal.add_coefficients(weights.data(), into.data(), outputs);
}

void votes(const DualJournal& journal, const Floats& K, i64 rounds, bool joint, const Matrix& start,
           const MatrixOf<i64>& votes) {
    const i64 n = extent(K, 0), supports = extent(K, 1), outputs = extent(start, 1);
    require(extent(start, 0) == n && extent(votes, 0) == n && extent(votes, 1) == outputs && outputs > 0 &&
                (joint || outputs == 1),
            "start and votes must have a row per row of K");
    check(journal, supports, joint ? outputs : MANY);
    const std::vector<i64> survival = journal.survivals(rounds);
    with_floats(K, [&](const auto* values) {
        nb::gil_scoped_release release;
        for (i64 i = 0; i < n; ++i) {
            double* scores = start.data() + i * outputs;
            i64* mine = votes.data() + i * outputs;
            if (joint)
                journal.votes(values + i * supports, survival, scores, outputs, mine);
            else
                *mine = journal.votes(values + i * supports, survival, *scores);
        }
    });
}

void list_votes(const DualJournal& journal, const Floats& K, i64 rounds, const Ints& starts, const Vector<i64>& votes) {
    const i64 n = extent(K, 0), supports = extent(K, 1), n_lists = check_starts(n, starts);
    require(length(votes) == n, "votes must have a number per row of K");
    check(journal, supports, 1);
    const std::vector<i64> survival = journal.survivals(rounds);
    with_floats(K, [&](const auto* values) {
        nb::gil_scoped_release release;
        for (i64 t = 0; t < n_lists; ++t) {
            const i64 first = starts.data()[t];
            journal.list_votes(values + first * supports, supports, survival, starts.data()[t + 1] - first,
                               votes.data() + first);
        }
    });
}

// As files have it, term by term: what lies between the terms of one step survives no round.
nb::dict to_arrays(const DualJournal& journal) {
    const SupportUpdates& updates = journal.updates;
    std::vector<i64> at;
    std::vector<double> length2{updates.length2.front()};
    i64 round = 0;
    for (i64 k = 0; k + 1 < journal.voters(); ++k) {
        round += journal.survival[k];
        const auto terms = static_cast<std::size_t>(updates.first[k + 1] - updates.first[k]);
        at.insert(at.end(), terms, round);
        length2.insert(length2.end(), terms, updates.length2[k + 1]);
    }
    const auto whole = [](const std::vector<std::int32_t>& some) {
        return to_numpy(std::vector<i64>(some.begin(), some.end()));
    };
    nb::dict arrays;
    arrays["slot"] = whole(updates.slot);
    arrays["gain"] = whole(updates.gain);
    arrays["loss"] = whole(updates.loss);
    arrays["step"] = to_numpy(updates.step);
    arrays["at"] = to_numpy(std::move(at));
    arrays["length2"] = to_numpy(std::move(length2));
    return arrays;
}

// Arrays from a file, of a dual with so many supports, outputs and rounds: nothing is believed.
DualJournal from_arrays(const Ints& slot, const Ints& gain, const Ints& loss, const Doubles& step, const Ints& at,
                        const Doubles& length2, i64 supports, i64 outputs, i64 rounds) {
    const std::size_t n = slot.size();
    for (const std::size_t size : {gain.size(), loss.size(), step.size(), at.size(), length2.size() - 1})
        require(size == n, "the journal's arrays differ in length");
    DualJournal journal;
    journal.updates.length2 = {length2.data()[0]};
    for (std::size_t u = 0; u < n; ++u) {
        const auto within = [&](const Ints& array, i64 low, i64 high, const char* message) {
            require(array.data()[u] >= low && array.data()[u] < high, message);
            return static_cast<std::int32_t>(array.data()[u]);
        };
        const auto support = within(slot, 0, supports, "the journal has a slot that does not exist");
        const auto to = within(gain, 0, outputs, "the journal has a gain that does not exist");
        const auto from = within(loss, -1, outputs, "the journal has a loss that does not exist");
        within(at, std::max<i64>(1, journal.rounds), rounds + 1, "the rounds of the journal are out of order");
        journal.updates.add(support, step.data()[u], to, from);
        if (u + 1 == n || at.data()[u + 1] != at.data()[u]) journal.close_step_at(at.data()[u], length2.data()[u + 1]);
    }
    return journal;
}

}  // namespace

void bind_dual_journal(nb::module_& m) {
    nb::class_<DualJournal>(m, "DualJournal", "The updates of one problem in the dual, so that every v_k can be had.")
        .def(
            "__init__",
            [](DualJournal* self, double length2) { (new (self) DualJournal)->updates.length2 = {length2}; },
            "length2"_a = 0.0, "‖v_0‖².")
        .def("write", &write, "slot"_array, "at"_array, "step"_a, "margin"_a, "tau"_a, "q"_a, "problem"_a,
             "Write updates down: of the output `problem`, or joint (−1).")
        .def("write_together", &write_together, "slot"_array, "step"_array, "at"_a, "margin"_a, "tau"_a, "q"_a,
             "Write down one update of several supports.")
        .def("meet_output", &meet_output, "place"_a, "Renumber the outputs, since a new one came in this place.")
        .def_prop_ro(
            "length2", [](const DualJournal& journal) { return to_numpy(journal.updates.length2); },
            nb::rv_policy::automatic, "‖v_k‖² of every voter.")
        .def(
            "survivals", [](const DualJournal& journal, i64 rounds) { return to_numpy(journal.survivals(rounds)); },
            "rounds"_a, "m_k: for how many examples v_k made the prediction, the one it erred on included.")
        .def("add_coefficients", &add_coefficients, "weights"_array, "into"_array,
             "into += Σ_k weights[k]·(v_k − v_0).")
        .def("votes", &votes, "K"_array, "rounds"_a, "joint"_a, "start"_array, "votes"_array,
             "Votes of every v_k, by survival: K is rows × supports; `start`, the scores under v_0, is used up.")
        .def("list_votes", &list_votes, "K"_array, "rounds"_a, "starts"_array, "votes"_array,
             "Votes of every v_k for the best of each list, by survival: K is candidates × supports.")
        .def("to_arrays", &to_arrays)
        .def_static("from_arrays", &from_arrays, "slot"_array, "gain"_array, "loss"_array, "step"_array, "at"_array,
                    "length2"_array, "supports"_a, "outputs"_a, "rounds"_a)
        .def("__copy__", [](const DualJournal& journal) { return journal; })
        .def(
            "__deepcopy__", [](const DualJournal& journal, nb::handle) { return journal; }, "memo"_a)
        .def("__getstate__", &to_arrays)
        .def("__setstate__", [](DualJournal& journal, const nb::dict& arrays) {
            const auto of = [&](const char* name) { return nb::cast<Ints>(arrays[name]); };
            new (&journal) DualJournal(
                from_arrays(of("slot"), of("gain"), of("loss"), nb::cast<Doubles>(arrays["step"]), of("at"),
                            nb::cast<Doubles>(arrays["length2"]), MANY, MANY, std::numeric_limits<i64>::max() - 1));
        });
}

}  // namespace perceptive
