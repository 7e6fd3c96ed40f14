// Sequence models: learning and prediction.
#include "bindings/sequence/tagger.hpp"

using namespace nb::literals;

namespace perceptive {

void bind_sequence(nb::module_& m) {
    nb::class_<Sentences>(m, "Sentences", "Sentences ready to be learned from.")
        .def("__len__", &Sentences::size)
        .def_prop_ro("tokens", &Sentences::tokens)
        .def_prop_ro("fingerprint",
                     [](const Sentences& s) {
                         std::uint64_t total = 0;
                         for (const std::uint64_t hash : s.hash) total += hash;
                         return total;
                     })
        .def_prop_ro("partial",
                     [](const Sentences& s) {
                         return std::any_of(s.label.begin(), s.label.end(), [](std::int32_t said) { return said < 0; });
                     })
        .def_prop_ro("features", [](const Sentences& s) { return s.state.key.size() + s.edge.key.size(); })
        .def_prop_ro("entries", [](const Sentences& s) { return s.state.number.size() + s.edge.number.size(); });
    nb::class_<Forced>(m, "Forced", "Labels that are wanted: none, or a list for each sentence.")
        .def(nb::init<>())
        .def(
            "__init__",
            [](Forced* self, nb::list labels, nb::dict index, const std::vector<std::vector<i64>>& choices) {
                new (self) Forced{labels, index, choices_of(choices)};
            },
            "labels"_a, "index"_a, "choices"_a, "`index` numbers labels, and choices by −2, −3, …");
    nb::class_<Hypothesis>(m, "SequenceVector", "Weights of a sequence model, to predict by.");
    nb::class_<Tagger>(m, "SequenceModel", "Templates, weights and Viterbi.")
        .def(nb::init<int, const std::vector<ColumnSpec>&, const std::vector<std::vector<std::string>>&,
                      const std::vector<TemplateSpec>&, const std::vector<TemplateSpec>&, bool, bool>(),
             "n_base"_a, "derived"_a, "dictionaries"_a, "state"_a, "edge"_a, "bigrams"_a, "trigrams"_a)
        .def("set_labels", &Tagger::set_labels, "n"_a)
        .def_prop_ro("n_labels", &Tagger::n_labels)
        .def("set_constraints", &Tagger::set_constraints, "pair"_a.noconvert(), "start"_a.noconvert(),
             "stop"_a.noconvert())
        .def("set_label_sets", &Tagger::set_label_sets, "state"_a, "edge"_a, "sets"_a)
        .def("set_segments", &Tagger::set_segments, "longest"_a, "begin"_a, "inside"_a, "outside"_a)
        .def("set_segment_features", &Tagger::set_segment_features, "text"_a, "shape"_a, "phrases"_a)
        .def("set_scale", &Tagger::set_scale, "scale"_a, "The value of each state template's features; empty: 1.")
        .def("keep_log", &Tagger::keep_log, "max_voters"_a)
        .def("encode", &Tagger::encode, "X"_a, "y"_a, "index"_a, "choices"_a, "min_count"_a, "longest"_a,
             nb::rv_policy::take_ownership)
        .def("play", &Tagger::play, "lesson"_a, "order"_a.noconvert(), "rule"_a, "learning_rate"_a, "margin"_a, "C"_a,
             "hamming"_a, "k"_a, "averaged"_a, "beam"_a)
        .def("leads", &Tagger::leads, "lesson"_a, "vector"_a.none(),
             "How much better the right sequences score than the best others.")
        .def("squared_norm", &Tagger::squared_norm, "vector"_a.none())
        .def_prop_rw("fingerprint", &Tagger::fingerprint, &Tagger::set_fingerprint)
        .def("average", &Tagger::average, nb::rv_policy::take_ownership)
        .def("last", &Tagger::last, nb::rv_policy::take_ownership)
        .def("voter", &Tagger::voter, "k"_a, nb::rv_policy::take_ownership)
        .def("predict", &Tagger::predict, "X"_a, "labels"_a, "vector"_a.none(), "forced"_a, "beam"_a)
        .def("predict_kbest", &Tagger::predict_kbest, "X"_a, "k"_a, "labels"_a, "vector"_a.none(), "forced"_a, "beam"_a)
        .def("max_marginals", &Tagger::max_marginals_of, "X"_a, "n_labels"_a, "vector"_a.none(), "beam"_a)
        .def("trellis", &Tagger::trellis, "X"_a, "n_labels"_a, "vector"_a.none())
        .def("vote", &Tagger::vote, "X"_a, "labels"_a)
        .def_prop_ro("rounds", [](Tagger& t) { return t.run().rounds; })
        .def_prop_ro("mistakes", [](Tagger& t) { return t.run().mistakes; })
        .def_prop_ro("updates", [](Tagger& t) { return t.run().updates; })
        .def_prop_ro("touched", [](Tagger& t) { return t.run().touched; })
        .def_prop_ro("criterion", [](Tagger& t) { return t.run().criterion; })
        .def_prop_ro("radius2", [](Tagger& t) { return t.run().radius2; })
        .def_prop_ro("clock", [](Tagger& t) { return t.run().clock; })
        .def_prop_ro("survival", [](Tagger& t) { return t.log().survival; })
        .def_prop_ro("n_state_rows", &Tagger::n_state_rows)
        .def_prop_ro("n_edge_rows", &Tagger::n_edge_rows)
        .def("state", &state_of, "vector"_a.none(), "threshold"_a,
             "Arrays that hold all: the weights of the run, or of one vector alone without those up to a threshold.")
        .def("restore", &restore_state, "state"_a, "Put the arrays of `state` into a new model.")
        .def("heaviest", &heaviest, "vector"_a.none(), "n"_a,
             "The n largest weights of features: (kind, template, values, label or pair, weight).");
    m.def(
        "solve_mira",
        [](const std::vector<double>& gram, const std::vector<double>& loss, double C) {
            require(gram.size() == loss.size() * loss.size(), "gram must be k × k");
            double violation = 0.0;
            std::vector<double> alpha = solve_mira(gram, loss, C, &violation);
            return std::make_pair(alpha, violation);
        },
        "gram"_a, "loss"_a, "C"_a, "The step sizes of k-best MIRA, and the largest violation of the KKT conditions.");
}

}  // namespace perceptive
