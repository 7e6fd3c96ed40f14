// Sequence models: learning and prediction.
#include <numeric>
#include <unordered_set>

#include "bindings/sequence/named_arrays.hpp"
#include "bindings/sequence/tagger.hpp"
#include "sequence/inspection.hpp"
#include "sequence/model_state.hpp"

namespace perceptive {

namespace {

// A method of the model, called while no other thread uses it.
template <class... Args>
auto editing(void (SequenceModel::*method)(Args...)) {
    return [method](Tagger& tagger, Args... args) {
        tagger.edit([&](SequenceModel& model) { (model.*method)(std::forward<Args>(args)...); });
    };
}

nb::dict arrays_of(Tagger& tagger, const LabelWeights* vector, double threshold) {
    return to_dict(tagger.ask(
        vector, [&](const SequenceModel& model, const LabelWeights&) { return state_of(model, vector, threshold); }));
}

void restore(Tagger& tagger, const nb::dict& state) {
    const NamedArrays arrays(state);
    tagger.edit([&](SequenceModel& model) { restore_state(model, arrays.views()); });
}

// What is seen how often: for each kind of features their keys, and how often each comes.
nb::dict tally_of(const Sentences& data) {
    nb::dict found;
    for (const auto& [name, set] : {std::pair{"state", &data.state}, {"edge", &data.edge}, {"segment", &data.segment}})
        found[name] = nb::make_tuple(to_numpy(std::vector<Key>(set->key)), to_numpy(set->counted()));
    return found;
}

// The features with these keys go, but those that have a row of weights.
void drop(Sentences& data, Vector<const Key> state, Vector<const Key> edge, Vector<const Key> segment) {
    const auto without = [](FeatureSet& set, const Vector<const Key>& rare, std::vector<std::int32_t>& row) {
        const std::unordered_set<Key> gone(rare.data(), rare.data() + rare.size());
        set.drop(row, [&](std::size_t i) { return gone.count(set.key[i]) > 0; });
    };
    without(data.state, state, data.rows.state);
    without(data.edge, edge, data.rows.edge);
    without(data.segment, segment, data.rows.segment);
}

nb::list heaviest_of(Tagger& tagger, const LabelWeights* vector, i64 n) {
    nb::list found;
    for (const NamedWeight& one :
         tagger.ask(vector, [&](const SequenceModel& model, const LabelWeights& v) { return heaviest(model, v, n); })) {
        nb::list values;
        for (const std::string& text : one.values) values.append(decoded(text));
        found.append(
            nb::make_tuple(one.pairs ? "edge" : "state", one.in, values, one.label, static_cast<double>(one.weight)));
    }
    return found;
}

}  // namespace

void bind_sequence(nb::module_& m) {
    nb::exception<SentenceError>(m, "SentenceError", PyExc_ValueError);
    // what an ExampleError is made of goes with it
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* module) {
            try {
                std::rethrow_exception(thrown);
            } catch (const SentenceError& wrong) {
                const nb::object type = nb::handle(static_cast<PyObject*>(module)).attr("SentenceError");
                const nb::object error = type(wrong.what());
                error.attr("message") = wrong.message;
                error.attr("example") = wrong.example;
                error.attr("about") = wrong.about;
                PyErr_SetObject(type.ptr(), error.ptr());
            }
        },
        m.ptr());
    nb::class_<SentenceRows>(m, "SentenceRows", "The rows of weights that features of sentences have in a model.")
        .def("copy", [](const SentenceRows& rows) { return SentenceRows(rows); });
    nb::class_<Sentences>(m, "Sentences", "Sentences ready to be learned from.")
        .def("__len__", &Sentences::size)
        .def_ro("rows", &Sentences::rows, nb::rv_policy::reference_internal,
                "The rows of their features in the model that encoded them.")
        .def_prop_ro("tokens", &Sentences::tokens)
        .def("tally", &tally_of, "For each kind of features their keys, and how often each is seen.")
        .def("drop", &drop, "state"_array, "edge"_array, "segment"_array,
             "Leave out features with these keys, but those that have weights.")
        .def("weigh", &Sentences::weigh, "weights"_a, "Give each sentence a weight: how much its updates count.")
        .def_prop_ro("fingerprint",
                     [](const Sentences& s) { return std::accumulate(s.hash.begin(), s.hash.end(), std::uint64_t{0}); })
        .def_prop_ro("partial",
                     [](const Sentences& s) {
                         return std::any_of(s.label.begin(), s.label.end(), [](std::int32_t y) { return y < 0; });
                     })
        .def_prop_ro("features", [](const Sentences& s) { return s.state.key.size() + s.edge.key.size(); });
    nb::class_<Forced>(m, "Forced", "Labels that are wanted: none, or a list for each sentence.")
        .def(nb::init<>())
        .def(
            "__init__",
            [](Forced* self, nb::list labels, nb::dict index, const std::vector<std::vector<i64>>& choices) {
                new (self) Forced{labels, index, choices_of(choices)};
            },
            "labels"_a, "index"_a, "choices"_a, "`index` numbers labels, and choices by −2, −3, …");
    nb::class_<LabelWeights>(m, "SequenceVector", "Weights of a sequence model, to predict by.");
    nb::class_<Tagger>(m, "SequenceModel", "Templates, weights and Viterbi.")
        .def(nb::init<int, const std::vector<ColumnSpec>&, const std::vector<std::vector<std::string>>&,
                      const std::vector<TemplateSpec>&, const std::vector<TemplateSpec>&, bool, bool>(),
             "n_base"_a, "derived"_a, "dictionaries"_a, "state"_a, "edge"_a, "bigrams"_a, "trigrams"_a)
        .def("set_labels", editing(&SequenceModel::set_labels), "n"_a)
        .def_prop_ro("n_labels", [](Tagger& t) { return t.model().L; })
        .def(
            "set_constraints",
            [](Tagger& t, Vector<const std::uint8_t> pair, Vector<const std::uint8_t> start,
               Vector<const std::uint8_t> stop) {
                const auto chars = [](const auto& v) { return std::vector<char>(v.data(), v.data() + v.size()); };
                t.edit([&](SequenceModel& model) { model.set_constraints({chars(pair), chars(start), chars(stop)}); });
            },
            "pair"_array, "start"_array, "stop"_array)
        .def("set_label_sets", editing(&SequenceModel::set_label_sets), "state"_a, "edge"_a, "sets"_a)
        .def("set_segments", editing(&SequenceModel::set_segments), "longest"_a, "begin"_a, "inside"_a, "outside"_a)
        .def("set_segment_features", editing(&SequenceModel::set_segment_features), "text"_a, "shape"_a, "phrases"_a)
        .def("set_scale", editing(&SequenceModel::set_scale), "scale"_a,
             "The value of each state template's features; empty: 1.")
        .def("keep_journal", editing(&SequenceModel::keep_journal), "max_voters"_a)
        .def("encode", &Tagger::encode, "X"_a, "y"_a, "index"_a, "choices"_a, "min_count"_a, "longest"_a,
             nb::rv_policy::take_ownership)
        .def("meet", &Tagger::meet, "X"_a, "Know the strings of sentences.")
        .def(
            "strings",
            [](Tagger& t) { return to_dict(t.read([](const SequenceModel& model) { return strings_of(model); })); },
            "The strings that it knows, in their order.")
        .def(
            "meet_strings",
            [](Tagger& t, const nb::dict& strings) {
                const NamedArrays arrays(strings);
                t.edit([&](SequenceModel& model) { meet_strings(model, arrays.views()); });
            },
            "strings"_a, "Know the strings of another model; those that are new come behind, in their order.")
        .def("play", &Tagger::play, "sentences"_a, "rows"_a, "order"_array, "rule"_a, "learning_rate"_a, "margin"_a,
             "C"_a, "hamming"_a, "k"_a, "averaged"_a, "beam"_a, "batch"_a, "threads"_a)
        .def("leads", &Tagger::leads, "sentences"_a, "vector"_a.none(),
             "How much better the right sequences score than the best others.")
        .def(
            "squared_norm",
            [](Tagger& t, const LabelWeights* vector) {
                return t.ask(vector,
                             [](const SequenceModel& model, const LabelWeights& v) { return model.squared_norm(v); });
            },
            "vector"_a.none())
        .def_prop_rw(
            "fingerprint", [](Tagger& t) { return t.model().fingerprint; },
            [](Tagger& t, std::uint64_t value) { t.model().fingerprint = value; })
        .def("average", [](Tagger& t) { return t.read([](const SequenceModel& model) { return model.average(); }); })
        .def("last", [](Tagger& t) { return t.read([](const SequenceModel& model) { return model.w.copy(); }); })
        .def(
            "voter",
            [](Tagger& t, i64 k) {
                return t.read([&](const SequenceModel& model) {
                    require(k >= 0 && k < model.journal.voters(), "there is no such voter");
                    LabelWeights v = model.zeros();
                    model.replay(0, k, v);
                    return v;
                });
            },
            "k"_a)
        .def("predict", &Tagger::predict, "X"_a, "labels"_a, "vector"_a.none(), "forced"_a, "beam"_a)
        .def("predict_kbest", &Tagger::predict_kbest, "X"_a, "k"_a, "labels"_a, "vector"_a.none(), "forced"_a, "beam"_a)
        .def("max_marginals", &Tagger::max_marginals, "X"_a, "n_labels"_a, "vector"_a.none(), "beam"_a)
        .def("trellis", &Tagger::trellis, "X"_a, "n_labels"_a, "vector"_a.none())
        .def("vote", &Tagger::vote, "X"_a, "labels"_a)
        .def_prop_ro(
            "run", [](Tagger& t) -> Progress& { return t.model().run; }, nb::rv_policy::reference_internal)
        .def_prop_ro("survival", [](Tagger& t) { return t.model().journal.survival; })
        .def_prop_ro("n_state_rows", [](Tagger& t) { return t.model().w.state.size(); })
        .def_prop_ro("n_edge_rows", [](Tagger& t) { return t.model().w.edge.size(); })
        .def("state", &arrays_of, "vector"_a.none(), "threshold"_a,
             "Arrays that hold all: the weights of the run, or of one vector alone without those up to a threshold.")
        .def("restore", &restore, "state"_a, "Put the arrays of `state` into a new model.")
        .def("heaviest", &heaviest_of, "vector"_a.none(), "n"_a,
             "The n largest weights of features: (kind, template, values, label or pair, weight).");
    m.def(
        "norm", [](const std::string& word) { return std::string(Readings(word)(Derive::norm)); }, "word"_a,
        "A word in lower case, its digits as 0.");
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
