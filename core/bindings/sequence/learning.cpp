// A sequence model learns.
#include "bindings/sequence/tagger.hpp"

namespace perceptive {

namespace {

Columns columns_of(int n_base, const std::vector<ColumnSpec>& derived,
                   const std::vector<std::vector<std::string>>& dictionaries) {
    std::vector<Derived> columns;
    for (const auto& [what, n, base, of] : derived)
        columns.push_back({derive_by_name(what), n, base, derive_by_name(of)});
    return Columns(n_base, std::move(columns), {dictionaries.begin(), dictionaries.end()});
}

std::vector<Template> templates_of(const std::vector<TemplateSpec>& specs) {
    std::vector<Template> templates;
    for (const auto& [name, parts] : specs) {
        templates.push_back({name, {}});
        for (const auto& [column, offset] : parts) templates.back().parts.push_back({column, offset});
    }
    return templates;
}

}  // namespace

Choices choices_of(const std::vector<std::vector<i64>>& members) {
    for (const auto& labels : members)
        for (const i64 y : labels) require(y >= 0 && y < MAX_LABELS, "a choice contains an unknown label");
    return Choices(members);
}

Tagger::Tagger(int n_base, const std::vector<ColumnSpec>& derived,
               const std::vector<std::vector<std::string>>& dictionaries, const std::vector<TemplateSpec>& state,
               const std::vector<TemplateSpec>& edge, bool bigrams, bool trigrams)
    : model_(columns_of(n_base, derived, dictionaries), templates_of(state), templates_of(edge), bigrams, trigrams) {}

Sentences* Tagger::encode(nb::list X, nb::list y, nb::dict index, const std::vector<std::vector<i64>>& choices,
                          i64 min_count, i64 longest) {
    require(longest >= 0 && longest < (1 << 16), "segments have at most 65535 tokens");
    require(nb::len(X) == nb::len(y), "X and y differ in length");
    auto data = std::make_unique<Sentences>();
    data->n_base = model_.columns.base();
    data->longest = longest;
    data->choices = choices_of(choices);
    TokenReader reader(model_.columns.base(), true);
    Encoder encoder(model_);
    const i64 n = static_cast<i64>(nb::len(X));
    std::size_t tokens = 0;
    for (const nb::handle sentence : X) tokens += nb::len(sentence);
    data->state.number.reserve(tokens * model_.state.templates.size());  // growing would take half as much again
    for (i64 begin = 0; begin < n; begin += BATCH) {
        reader.batch.clear();
        for (i64 i = begin; i < std::min(n, begin + BATCH); ++i) {
            reader.sentence(X[i], i);
            reader.labels(y[i], index, i, data->label);
        }
        data->choices.check(data->label);
        edit([&](SequenceModel&) { encoder.add(reader.batch, *data); });
    }
    edit([&](SequenceModel&) { encoder.finish(*data, min_count); });
    return data.release();
}

void Tagger::meet(nb::list X) {
    TokenReader reader(model_.columns.base(), true);
    Encoder encoder(model_);
    const i64 n = static_cast<i64>(nb::len(X));
    for (i64 begin = 0; begin < n; begin += BATCH) {
        reader.batch.clear();
        for (i64 i = begin; i < std::min(n, begin + BATCH); ++i) reader.sentence(X[i], i);
        edit([&](SequenceModel&) { encoder.meet(reader.batch); });
    }
}

void Tagger::play(const Sentences& data, SentenceRows& rows, Vector<const i64> order, const std::string& rule,
                  double learning_rate, double margin, double C, bool hamming, i64 k, bool averaged, i64 beam,
                  i64 batch, int threads) {
    require(batch >= 1 && threads >= 1, "a batch has at least one sentence, and one thread plays it");
    const SequenceOptions options{
        {additive_rule_by_name(rule), learning_rate, margin, C}, hamming, k, averaged, beam, batch, threads};
    require_below(order, data.size(), "order contains an unknown sentence");
    require(rows.state.size() == data.state.key.size() && rows.edge.size() == data.edge.key.size() &&
                rows.segment.size() == data.segment.key.size(),
            "these are the rows of other sentences");
    edit([&](SequenceModel& model) {
        for (i64 i = 0; i < length(order); ++i) model.check(data, order.data()[i]);
        model.unpack();
        training_.play(data, rows, order.data(), length(order), options);
    });
}

nb::ndarray<nb::numpy, double> Tagger::leads(const Sentences& data, const LabelWeights* vector) {
    for (const std::int32_t label : data.label) require(label >= 0, "every token needs a label");
    return to_numpy(ask(vector, [&](const SequenceModel& model, const LabelWeights& v) {
        for (i64 i = 0; i < data.size(); ++i) model.check(data, i);
        const bool whole = v.state.size() == model.w.state.size() && v.edge.size() == model.w.edge.size();
        if (!whole) throw std::runtime_error(MODEL_CHANGED);
        return SequenceScores(model_).leads(data, v);
    }));
}

}  // namespace perceptive
