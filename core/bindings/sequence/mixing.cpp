// Sequence models are replicated, learn apart, and are mixed.
#include "sequence/mixing.hpp"

#include "bindings/sequence/named_arrays.hpp"
#include "bindings/sequence/tagger.hpp"

namespace perceptive {

void bind_sequence_mixing(nb::module_& m) {
    nb::class_<SequenceMixture>(m, "SequenceMixture", "What shards made of a sequence model.")
        .def(
            "__init__",
            [](SequenceMixture* self, Tagger& model, Tagger& replica, const SentenceRows& rows, bool by_updates) {
                model.read([&](const SequenceModel& from) {
                    new (self) SequenceMixture(from, replica.model(), rows, by_updates);
                });
            },
            "model"_a, "replica"_a, "rows"_a, "by_updates"_a,
            "A replica as it has become, which has played the sentences of these rows.")
        .def(
            "add",
            [](SequenceMixture& self, const SequenceMixture& other) {
                nb::gil_scoped_release release;
                self.add(other);
            },
            "other"_a, "Let others join.")
        .def(
            "apply",
            [](const SequenceMixture& self, Tagger& model, SentenceRows* rows) {
                model.edit([&](SequenceModel& to) { self.apply(to, rows); });
            },
            "model"_a, "rows"_a.none(),
            "Move the model that they started from, and tell the sentences, if they are here, of rows that are new.")
        .def("__copy__", [](const SequenceMixture& self) { return SequenceMixture(self); })
        .def("__getstate__", [](const SequenceMixture& self) { return to_dict(self.state()); })
        .def("__setstate__", [](SequenceMixture& self,
                                const nb::dict& state) { new (&self) SequenceMixture(NamedArrays(state).views()); })
        .def_ro("run", &SequenceMixture::run, "Of all shards.");
    m.def(
        "replica_of",
        [](Tagger& model) { return new Tagger(model.read([](const SequenceModel& from) { return from.replica(); })); },
        "model"_a, nb::rv_policy::take_ownership, "The same model with the same v, at the start of a run of its own.");
    m.def(
        "find_rows",
        [](Tagger& model, const Sentences& data, SentenceRows& rows) {
            model.edit([&](SequenceModel& in) { in.find_rows(data, rows); });
        },
        "model"_a, "sentences"_a, "rows"_a, "Write down the rows that features have got by now.");
}

}  // namespace perceptive
