// A sequence model as Python sees it: arguments converted and checked, the GIL released, many readers or one writer.
#pragma once

#include "bindings/lock.hpp"
#include "bindings/sequence/token_reader.hpp"
#include "sequence/decoder.hpp"
#include "sequence/encoding.hpp"
#include "sequence/structured_perceptron.hpp"

namespace perceptive {

using ColumnSpec = std::tuple<std::string, int, int, std::string>;  // function, its number, base, how it is read
using TemplateSpec = std::pair<int, std::vector<std::pair<int, int>>>;

// Labels that are wanted: a list for each sentence, and the number of each label and choice.
struct Forced {
    nb::object labels = nb::none(), index = nb::none();
    Choices choices;
};

Choices choices_of(const std::vector<std::vector<i64>>& members);

class Tagger {
  public:
    Tagger(int n_base, const std::vector<ColumnSpec>& derived,
           const std::vector<std::vector<std::string>>& dictionaries, const std::vector<TemplateSpec>& state,
           const std::vector<TemplateSpec>& edge, bool bigrams, bool trigrams);

    explicit Tagger(SequenceModel model) : model_(std::move(model)) {}

    // edit(model), alone
    template <class Edit>
    void edit(Edit edit) {
        Held held(lock_, Hold::exclusive);
        nb::gil_scoped_release release;
        edit(model_);
    }
    // ask(model, v), while no thread edits; v is the given vector or the present one. Weights are unpacked before.
    template <class Ask>
    auto ask(const LabelWeights* vector, Ask ask) {
        edit([](SequenceModel& model) { model.unpack(); });
        Held held(lock_, Hold::shared);
        nb::gil_scoped_release release;
        const LabelWeights& v = vector ? *vector : model_.w;
        if (!model_.has(v)) throw std::runtime_error(MODEL_CHANGED);
        return ask(static_cast<const SequenceModel&>(model_), v);
    }
    // read(model), in the same way
    template <class Read>
    auto read(Read read) {
        return ask(nullptr, [&](const SequenceModel& model, const LabelWeights&) { return read(model); });
    }
    SequenceModel& model() { return model_; }  // to look at single numbers

    // `longest`: tokens of the longest segment, 0 without segments
    Sentences* encode(nb::list X, nb::list y, nb::dict index, const std::vector<std::vector<i64>>& choices,
                      i64 min_count, i64 longest);
    void meet(nb::list X);
    void play(const Sentences& data, SentenceRows& rows, Vector<const i64> order, const std::string& rule,
              double learning_rate, double margin, double C, bool hamming, i64 k, bool averaged, i64 beam, i64 batch,
              int threads);
    nb::ndarray<nb::numpy, double> leads(const Sentences& data, const LabelWeights* vector);

    nb::list predict(nb::list X, nb::list labels, LabelWeights* vector, const Forced& forced, i64 beam);
    // for each sentence a list of (labels, score)
    nb::list predict_kbest(nb::list X, i64 k, nb::list labels, LabelWeights* vector, const Forced& forced, i64 beam);
    // for each sentence (path, max-marginals as a flat array of tokens × labels)
    nb::list max_marginals(nb::list X, i64 n_labels, LabelWeights* vector, i64 beam);
    // The trellis of one sentence: unary scores, and the matrices of pairs.
    nb::tuple trellis(nb::list X, i64 n_labels, LabelWeights* vector);
    // The majority of the voters, weighted by survival; ties to the sequence that was voted for first.
    nb::list vote(nb::list X, nb::list labels);

  private:
    static constexpr i64 BATCH = 64;  // sentences read at once
    static constexpr i64 WORTH_UNPACKING =
        50'000;  // tokens: rows add up faster than packed ones, by what unpacking costs

    // decode(decoder, n) for each sentence without the GIL, which gives the score of the best path; then
    // collect(batch) for each batch with it. Between batches others may learn: a batch is decoded for `n_labels`
    // labels or not at all.
    template <class Decode, class Collect>
    void each_batch(nb::list X, i64 n_labels, LabelWeights* vector, const Forced& forced, bool scored, Decode decode,
                    Collect collect) {
        TokenReader reader(model_.columns.base());
        Decoder decoder(model_);
        std::vector<std::int32_t> wanted;
        const i64 n = static_cast<i64>(nb::len(X));
        const bool forcing = !forced.labels.is_none();
        if (forcing) require(nb::len(forced.labels) == nb::len(X), "forced: give one list of labels for each sentence");
        for (i64 begin = 0; begin < n; begin += BATCH) {
            reader.batch.clear();
            wanted.clear();
            for (i64 i = begin; i < std::min(n, begin + BATCH); ++i) {
                reader.sentence(X[i], i);
                if (forcing) reader.labels(forced.labels[i], nb::borrow<nb::dict>(forced.index), i, wanted);
            }
            forced.choices.check(wanted);
            for (i64 i = 0; i < reader.batch.size(); ++i) tagged_ += reader.batch.tokens(i);
            if (tagged_ > WORTH_UNPACKING)
                edit([](SequenceModel& model) {
                    if (model.S <= WIDEST_VECTOR) model.unpack();
                });
            {
                Held held(lock_, Hold::shared);
                nb::gil_scoped_release release;
                const ForcedLabels labels{forcing ? wanted.data() : nullptr, static_cast<i64>(wanted.size()),
                                          forced.choices};
                decoder.each(reader.batch, begin, n_labels, vector ? *vector : model_.w, labels, scored,
                             [&](i64 tokens) { return decode(decoder, tokens); });
            }
            collect(reader.batch);
        }
    }

    SequenceModel model_;
    StructuredPerceptron training_{model_};
    i64 tagged_ = 0;  // tokens
    ModelLock lock_;
};

}  // namespace perceptive
