// A sequence model as Python sees it: checked arguments, the GIL let go, many readers or one writer.
#pragma once

#include <cmath>
#include <limits>
#include <mutex>
#include <shared_mutex>

#include "bindings/sequence/cells.hpp"
#include "bindings/sequence/tagger_names.hpp"
#include "sequence/structured_perceptron.hpp"

namespace perceptive {

// A vector that predicts.
struct Hypothesis {
    LabelWeights v;
    std::vector<float> edge;
};

// Labels that are wanted: a list for each sentence, and the number of each label and choice.
struct Forced {
    nb::object labels = nb::none(), index = nb::none();
    Choices choices;
};

inline Choices choices_of(const std::vector<std::vector<i64>>& members) {
    for (const auto& labels : members)
        for (const i64 y : labels) require(y >= 0 && y < MAX_LABELS, "a choice names a label that is not there");
    return Choices(members);
}

constexpr i64 BATCH = 64;                // sentences read at once
constexpr i64 WORTH_UNPACKING = 50'000;  // tokens: rows add up faster than packed ones, by what unpacking costs
constexpr const char* CHANGED = "the model has changed while it was predicting; ask again";
constexpr double NO_PATH = -std::numeric_limits<double>::infinity();

class Tagger {
  public:
    Tagger(int n_base, const std::vector<ColumnSpec>& derived,
           const std::vector<std::vector<std::string>>& dictionaries, const std::vector<TemplateSpec>& state,
           const std::vector<TemplateSpec>& edge, bool bigrams, bool trigrams)
        : model_(columns_of(n_base, derived, dictionaries), templates_of(state), templates_of(edge), bigrams,
                 trigrams) {
        model_.edge_names.add({RAW, {}});
    }

    // ------------------------------------------------------------ set-up

    void set_labels(i64 n) {
        const auto lock = writing();
        model_.set_labels(n);
    }
    i64 n_labels() const { return model_.L; }

    void set_constraints(Vector<const std::uint8_t> pair, Vector<const std::uint8_t> start,
                         Vector<const std::uint8_t> stop) {
        const auto chars = [](const auto& v) { return std::vector<char>(v.data(), v.data() + v.size()); };
        const auto lock = writing();
        model_.set_constraints({chars(pair), chars(start), chars(stop)});
    }

    // which set each template has (−1: none), and the labels (or pairs) of each
    void set_label_sets(std::vector<int> state, std::vector<int> edge, const std::vector<std::vector<i64>>& sets);

    void set_scale(std::vector<float> scale) {
        require(scale.empty() || scale.size() == model_.state_templates.size(), "one scale a template");
        for (const float s : scale) require(s > 0 && s <= FLT_MAX, "a scale must be positive");
        model_.scale = std::move(scale);
    }

    void keep_log(i64 max_voters) {
        log_.max_voters = max_voters;
        model_.log = &log_;
    }

    // The columns that segments are read in, and the dictionaries of whole segments.
    void set_segment_features(int text, int shape, const std::vector<std::vector<std::string>>& phrases) {
        require(text < model_.columns.width() && shape < model_.columns.width() && phrases.size() < 1000,
                "bad segments");
        model_.segment_features = {};
        model_.segment_features.text = text;
        model_.segment_features.shape = shape;
        for (const auto& words : phrases) model_.segment_features.add_phrases(words);
    }

    // Segments of at most `longest` tokens; labels B-X, I-X (−1: none) of each type, and O (−1: none).
    void set_segments(i64 longest, std::vector<int> begin, std::vector<int> inside, int outside) {
        const auto lock = writing();
        const auto label = [&](int y) { return y >= -1 && y < model_.L; };
        require(longest >= 1 && longest < (1 << 16) && begin.size() == inside.size() && label(outside), "bad segments");
        for (std::size_t X = 0; X < begin.size(); ++X)
            require(begin[X] >= 0 && label(begin[X]) && label(inside[X]), "bad segments");
        model_.types = {longest, std::move(begin), std::move(inside), outside};
    }

    // ------------------------------------------------------------ learning

    // `longest`: tokens of the longest segment, 0 without segments
    Sentences* encode(nb::list X, nb::list y, nb::dict index, const std::vector<std::vector<i64>>& choices,
                      i64 min_count, i64 longest);
    void play(Sentences& lesson, Vector<const i64> order, const std::string& rule, double learning_rate, double margin,
              double C, bool hamming, i64 k, bool averaged, i64 beam);
    nb::ndarray<nb::numpy, double> leads(const Sentences& lesson, const Hypothesis* vector);
    double squared_norm(const Hypothesis* vector);
    std::uint64_t fingerprint() const { return model_.fingerprint; }
    void set_fingerprint(std::uint64_t value) { model_.fingerprint = value; }

    Hypothesis* average();
    // A copy of the present vector.
    Hypothesis* last();
    // v_k of the log
    Hypothesis* voter(i64 k) const;

    // ------------------------------------------------------------ prediction

    nb::list predict(nb::list X, nb::list labels, Hypothesis* vector, const Forced& forced, i64 beam);
    // for each sentence a list of (labels, score)
    nb::list predict_kbest(nb::list X, i64 k, nb::list labels, Hypothesis* vector, const Forced& forced, i64 beam);
    // for each sentence (path, max-marginals as a flat array of tokens × labels)
    nb::list max_marginals_of(nb::list X, i64 n_labels, Hypothesis* vector, i64 beam);
    // The trellis of one sentence: unary scores, and the matrices of pairs.
    nb::tuple trellis(nb::list X, i64 n_labels, Hypothesis* vector);
    // The majority of the voters, weighted by survival; ties to the sequence that was voted for first.
    nb::list vote(nb::list X, nb::list labels);

    // ------------------------------------------------------------ the run, the file

    Progress& run() { return model_.run; }
    UpdateLog& log() { return log_; }
    i64 n_state_rows() const { return model_.w.state.size(); }
    i64 n_edge_rows() const { return model_.w.edge.size(); }
    // Before rows are looked at: see RowStore.
    void unpack() {
        nb::gil_scoped_release release;
        std::unique_lock lock(mutex_);
        model_.unpack();
    }
    SequenceModel& model() { return model_; }
    const SequenceModel& model() const { return model_; }
    const UpdateLog& log() const { return log_; }

    // A lock is waited for without the GIL, so that whoever holds one may wait for the GIL.
    std::shared_lock<std::shared_mutex> reading() const {
        nb::gil_scoped_release release;
        return std::shared_lock(mutex_);
    }
    std::unique_lock<std::shared_mutex> writing() const {
        nb::gil_scoped_release release;
        return std::unique_lock(mutex_);
    }

  private:
    struct Decoder {
        Potentials x;
        Viterbi viterbi;
        SegmentViterbi segments;
        std::vector<const std::string_view*> views;
        Window window;
        SequenceScores::Keys keys;
    };

    static Columns columns_of(int n_base, const std::vector<ColumnSpec>& derived,
                              const std::vector<std::vector<std::string>>& dictionaries);

    static void need_known(const std::vector<std::int32_t>& said, const Choices& choices) {
        for (const std::int32_t one : said) require(choices.known(one), "a choice that is not there");
    }

    // Labels are there, and segments are no longer than the model's.
    void need_fitting(const Sentences& lesson) const;

    static void cells_of(const CellReader& reader, i64 i, i64 n, std::vector<const std::string_view*>& views) {
        views.resize(static_cast<std::size_t>(n));
        for (i64 t = 0; t < n; ++t) views[t] = reader.cells(i, t);
    }

    void add(const CellReader& reader, Sentences& lesson);

    // decode(decoder, n) for each sentence without the GIL, which gives the score of the best path; then
    // collect(reader) for each batch with it. Between batches others may learn: a batch is decoded for `n_labels`
    // labels or not at all. `scored`: a best path whose score is not finite is an error.
    template <class Decode, class Collect>
    void each_batch(nb::list X, i64 n_labels, Hypothesis* vector, const Forced& forced, bool scored, Decode decode,
                    Collect collect) {
        CellReader reader(model_.columns.base());
        Decoder decoder;
        std::vector<std::int32_t> wanted;
        const i64 n = static_cast<i64>(nb::len(X));
        const bool forcing = !forced.labels.is_none();
        if (forcing) require(nb::len(forced.labels) == nb::len(X), "forced: one list of labels a sentence");
        const LabelWeights& v = vector ? vector->v : model_.w;
        for (i64 begin = 0; begin < n; begin += BATCH) {
            reader.clear();
            wanted.clear();
            const i64 end = std::min(n, begin + BATCH);
            for (i64 i = begin; i < end; ++i) {
                reader.sentence(X[i], i);
                if (forcing) reader.labels(forced.labels[i], nb::borrow<nb::dict>(forced.index), i, wanted);
            }
            need_known(wanted, forced.choices);
            for (i64 i = 0; i < reader.size(); ++i) tagged_ += reader.tokens(i);
            if (tagged_ > WORTH_UNPACKING) unpack();
            {
                nb::gil_scoped_release release;
                std::shared_lock lock(mutex_);
                if (model_.L != n_labels || !model_.has(v)) throw std::runtime_error(CHANGED);
                for (const std::int32_t y : wanted)
                    if (y >= n_labels) throw std::runtime_error(CHANGED);
                const std::vector<float> edge = model_.masked_edges(v);
                const std::int32_t* label = wanted.data();
                for (i64 i = 0; i < reader.size(); ++i) {
                    const i64 m = reader.tokens(i);
                    gather(reader, i, m, v, edge.data(), decoder);
                    if (forcing)
                        for (i64 t = 0; t < m; ++t, ++label) scores_.force(decoder.x, t, *label, forced.choices);
                    const double best = decode(decoder, m);
                    if (forcing && !(best > NO_PATH))
                        throw std::invalid_argument("forced, sentence " + std::to_string(begin + i) +
                                                    ": no labels that keep to the scheme fit those given");
                    if (scored && m > 0 && !std::isfinite(best))
                        throw std::invalid_argument("sentence " + std::to_string(begin + i) +
                                                    ": no labels have a finite score; learn with smaller steps");
                }
            }
            collect(reader);
        }
    }

    void gather(const CellReader& reader, i64 i, i64 n, const LabelWeights& v, const float* edge, Decoder& decoder) {
        decoder.window.resize(model_.columns, n);
        SequenceScores::Keys& keys = decoder.keys;
        keys.raw.clear();
        keys.raw_start.assign(1, 0);
        for (i64 t = 0; t < n; ++t) {
            const std::string_view* cells = reader.cells(i, t);
            if (cells) model_.columns.token(cells, false, decoder.window.at(t));
            if (!reader.named()) continue;
            reader.features(i, t, [&](std::string_view name, float value) {
                const Id id = model_.raw.find(name);
                if (id >= 0) keys.raw.emplace_back(id, value);
            });
            keys.raw_start.push_back(static_cast<i64>(keys.raw.size()));
        }
        scores_.keys(decoder.window, n, keys);
        scores_.gather(keys, n, v, edge, decoder.x);
        if (!model_.types.on()) return;
        cells_of(reader, i, n, decoder.views);
        scores_.gather_segments(decoder.window, decoder.views.data(), n, v, decoder.x);
    }

    // v ← voter `to`, given v = voter `from`
    void replay(i64 from, i64 to, LabelWeights& v) const {
        for (i64 at = log_.first[from]; at < log_.first[to]; ++at) model_.write(v, log_.place[at], log_.step[at]);
    }

    SequenceModel model_;
    SequenceScores scores_{model_};
    StructuredPerceptron training_{model_};
    UpdateLog log_;
    i64 tagged_ = 0;  // tokens
    mutable std::shared_mutex mutex_;
};

nb::dict state_of(Tagger& tagger, const Hypothesis* vector, double threshold);
void restore_state(Tagger& tagger, const nb::dict& state);
nb::list heaviest(Tagger& tagger, const Hypothesis* vector, i64 n);

}  // namespace perceptive
