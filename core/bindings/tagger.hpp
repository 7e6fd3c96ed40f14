// A sequence model as Python sees it: checked arguments, the GIL let go, many readers or one writer.
#pragma once

#include <cmath>
#include <limits>
#include <mutex>
#include <shared_mutex>

#include "cells.hpp"
#include "sequence.hpp"
#include "tagger_names.hpp"

namespace perceptive {

// A vector that predicts.
struct Hypothesis {
    LabelWeights v;
    std::vector<float> edge;
};

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

    void set_same_name(std::vector<int> names) {
        const auto lock = writing();
        require(static_cast<i64>(names.size()) == model_.L, "one number a label");
        model_.same_name = std::move(names);
    }

    // which set each template has (−1: none), and the labels (or pairs) of each
    void set_label_sets(std::vector<int> state, std::vector<int> edge, const std::vector<std::vector<i64>>& sets) {
        const auto lock = writing();
        std::vector<LabelSet> made;
        std::vector<char> of_pairs(sets.size(), 0);
        require(state.size() == model_.state_templates.size() && edge.size() == model_.edge_templates.size(),
                "one label set a template");
        for (const int s : state) require(s < static_cast<int>(sets.size()), "no such label set");
        for (const int s : edge) {
            require(s < static_cast<int>(sets.size()), "no such label set");
            if (s >= 0) of_pairs[s] = 1;
        }
        for (std::size_t s = 0; s < sets.size(); ++s) {
            const i64 size = of_pairs[s] ? model_.L * model_.L : model_.L;
            LabelSet set{std::vector<char>(static_cast<std::size_t>(size), 0), size};
            for (const i64 member : sets[s]) {
                require(member >= 0 && member < size, "a label set names a label that is not there");
                set.in[member] = 1;
                set.first = std::min(set.first, member);
            }
            if (set.first == size) set.first = 0;
            made.push_back(std::move(set));
        }
        for (const int s : state) require(s < 0 || !of_pairs[s], "a set of labels and of pairs");
        model_.sets = std::move(made);
        model_.state_set = std::move(state);
        model_.edge_set = std::move(edge);
        model_.share();
    }

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
    Sentences* encode(nb::list X, nb::list y, nb::dict index, i64 min_count, i64 longest) {
        require(longest >= 0 && longest < (1 << 16), "bad segments");
        auto lesson = std::make_unique<Sentences>();
        lesson->n_base = model_.columns.base();
        lesson->longest = longest;
        CellReader reader(model_.columns.base());
        require(nb::len(X) == nb::len(y), "X and y differ in length");
        const i64 n = static_cast<i64>(nb::len(X));
        std::size_t tokens = 0;
        for (const nb::handle sentence : X) tokens += nb::len(sentence);
        lesson->state.number.reserve(tokens * model_.state_templates.size());  // growing would take half as much again
        for (i64 begin = 0; begin < n; begin += BATCH) {
            reader.clear();
            const i64 end = std::min(n, begin + BATCH);
            for (i64 i = begin; i < end; ++i) {
                reader.sentence(X[i], i);
                reader.labels(y[i], index, i, lesson->label);
            }
            nb::gil_scoped_release release;
            std::unique_lock lock(mutex_);
            add(reader, *lesson);
        }
        nb::gil_scoped_release release;
        std::unique_lock lock(mutex_);
        model_.finish(*lesson, min_count);
        return lesson.release();
    }

    void play(Sentences& lesson, Vector<const i64> order, const std::string& rule, double learning_rate, double margin,
              double C, bool hamming, i64 k, bool averaged, i64 beam) {
        SequenceOptions options;
        options.rule.name = rule_named(rule);
        options.rule.learning_rate = learning_rate;
        options.rule.margin = margin;
        options.rule.C = C;
        options.hamming = hamming;
        options.k = k;
        options.averaged = averaged;
        options.beam = beam;
        for (std::size_t i = 0; i < order.size(); ++i)
            require(order.data()[i] >= 0 && order.data()[i] < lesson.size(), "order: no such sentence");
        nb::gil_scoped_release release;
        std::unique_lock lock(mutex_);
        need_fitting(lesson);
        model_.unpack();
        training_.play(lesson, order.data(), static_cast<i64>(order.size()), options);
    }

    nb::ndarray<nb::numpy, double> leads(const Sentences& lesson, const Hypothesis* vector) {
        unpack();
        for (const std::int32_t label : lesson.label) require(label >= 0, "every token needs a label");
        std::vector<double> found;
        {
            nb::gil_scoped_release release;
            std::shared_lock lock(mutex_);
            need_fitting(lesson);
            const LabelWeights& v = vector ? vector->v : model_.w;
            const bool whole = v.state.size() == model_.w.state.size() && v.edge.size() == model_.w.edge.size();
            if (!model_.has(v) || !whole) throw std::runtime_error(CHANGED);
            found = model_.leads(lesson, v);
        }
        return to_numpy(std::move(found));
    }
    double squared_norm(const Hypothesis* vector) {
        unpack();
        const auto lock = reading();
        const LabelWeights& v = vector ? vector->v : model_.w;
        if (!model_.has(v)) throw std::runtime_error(CHANGED);
        return model_.squared_norm(v);
    }
    std::uint64_t fingerprint() const { return model_.fingerprint; }
    void set_fingerprint(std::uint64_t value) { model_.fingerprint = value; }

    Hypothesis* average() {
        unpack();
        nb::gil_scoped_release release;
        std::shared_lock lock(mutex_);
        return new Hypothesis{model_.average(), {}};
    }

    // A copy of the present vector.
    Hypothesis* last() {
        unpack();
        nb::gil_scoped_release release;
        std::shared_lock lock(mutex_);
        return new Hypothesis{model_.w.minus(nullptr, 0.0f), {}};
    }

    // v_k of the log
    Hypothesis* voter(i64 k) const {
        nb::gil_scoped_release release;
        std::shared_lock lock(mutex_);
        require(k >= 0 && k < log_.voters(), "no such voter");
        auto made = std::make_unique<Hypothesis>(Hypothesis{LabelWeights(model_.L, model_.trigrams), {}});
        made->v.state.resize(model_.w.state.size());
        made->v.edge.resize(model_.w.edge.size());
        replay(0, k, made->v);
        return made.release();
    }

    // ------------------------------------------------------------ prediction

    nb::list predict(nb::list X, nb::list labels, Hypothesis* vector, nb::object forced, nb::object index, i64 beam);
    // for each sentence a list of (labels, score)
    nb::list predict_kbest(nb::list X, i64 k, nb::list labels, Hypothesis* vector, nb::object forced, nb::object index);
    // for each sentence (path, max-marginals as a flat array of tokens × labels)
    nb::list max_marginals_of(nb::list X, i64 n_labels, Hypothesis* vector, nb::object forced, nb::object index);
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
        SequenceModel::Keys keys;
    };

    static Columns columns_of(int n_base, const std::vector<ColumnSpec>& derived,
                              const std::vector<std::vector<std::string>>& dictionaries) {
        std::vector<Derived> columns;
        for (const auto& [what, n, base, of] : derived)
            columns.push_back({derive_named(what), n, base, derive_named(of)});
        std::vector<Symbols> sets;
        for (const auto& words : dictionaries) {
            sets.emplace_back();
            for (const std::string& word : words) sets.back().add(word);
        }
        return Columns(n_base, std::move(columns), std::move(sets));
    }

    // Labels are there, and segments are no longer than the model's.
    void need_fitting(const Sentences& lesson) const {
        require(lesson.longest == model_.types.longest, "a lesson of other segments");
        std::vector<char> goes_on(static_cast<std::size_t>(model_.L), 0);
        for (const int label : model_.types.inside)
            if (label >= 0) goes_on[label] = 1;
        i64 tokens = 0;
        for (const std::int32_t label : lesson.label) {
            require(label < model_.L, "a label that is not there");
            tokens = label >= 0 && goes_on[label] ? tokens + 1 : 1;
            require(!model_.types.on() || tokens <= lesson.longest, "a segment that is too long");
        }
    }

    static void cells_of(const CellReader& reader, i64 i, i64 n, std::vector<const std::string_view*>& views) {
        views.resize(static_cast<std::size_t>(n));
        for (i64 t = 0; t < n; ++t) views[t] = reader.cells(i, t);
    }

    void add(const CellReader& reader, Sentences& lesson) {
        Window window;
        std::vector<Key> scratch;
        std::vector<const std::string_view*> views;
        for (i64 i = 0; i < reader.size(); ++i) {
            const i64 n = reader.tokens(i), first = lesson.tokens();
            window.resize(model_.columns, n);
            for (i64 t = 0; t < n; ++t) {
                const std::string_view* cells = reader.cells(i, t);
                if (cells) model_.columns.token(cells, true, window.at(t));
                for (int b = 0; b < lesson.n_base; ++b) lesson.base.push_back(window.at(t)[b]);
            }
            for (i64 t = 0; t < n; ++t) {
                model_.add_token(lesson, first + t, window.at(t), scratch);
                reader.features(i, t, [&](std::string_view name, float value) {
                    const Id id = model_.raw.add(name);
                    lesson.state.add(SequenceModel::raw_key(id), id, RAW, value);
                });
                lesson.state.start.push_back(static_cast<i64>(lesson.state.number.size()));
                if (model_.edge_templates.size())  // a number a token is worth leaving out
                    lesson.edge.start.push_back(static_cast<i64>(lesson.edge.number.size()));
            }
            if (lesson.longest) {
                cells_of(reader, i, n, views);
                model_.add_segments(lesson, first, n, window, views.data());
            }
            std::uint64_t hash = static_cast<std::uint64_t>(n);
            const auto stir = [&hash](std::uint64_t value) { hash = mix(hash, value + 0x9E37u); };
            for (i64 t = first; t < first + n; ++t) {
                for (i64 p = lesson.state.start[t]; p < lesson.state.start[t + 1]; ++p) {
                    const auto at = static_cast<std::size_t>(p);
                    stir(lesson.state.key[lesson.state.number[at]]);
                    if (!lesson.state.value.empty()) {
                        std::uint32_t bits;
                        std::memcpy(&bits, &lesson.state.value[at], sizeof bits);
                        stir(bits);
                    }
                }
                if (lesson.longest && model_.segment_features.text >= 0)
                    stir(static_cast<std::uint64_t>(window.at(t - first)[model_.segment_features.text]));
                stir(static_cast<std::uint64_t>(lesson.label[t] + 1));
            }
            lesson.hash.push_back(hash);
            lesson.start.push_back(first + n);
        }
    }

    // decode(decoder, n) for each sentence without the GIL, which gives the score of the best path; then
    // collect(reader) for each batch with it. Between batches others may learn: a batch is decoded for `n_labels`
    // labels or not at all. `scored`: a best path whose score is not finite is an error.
    template <class Decode, class Collect>
    void each_batch(nb::list X, i64 n_labels, Hypothesis* vector, nb::object forced, nb::object index, bool scored,
                    Decode decode, Collect collect) {
        CellReader reader(model_.columns.base());
        Decoder decoder;
        std::vector<std::int32_t> wanted;
        const i64 n = static_cast<i64>(nb::len(X));
        const bool forcing = !forced.is_none();
        if (forcing) require(nb::len(forced) == nb::len(X), "forced: one list of labels a sentence");
        const LabelWeights& v = vector ? vector->v : model_.w;
        for (i64 begin = 0; begin < n; begin += BATCH) {
            reader.clear();
            wanted.clear();
            const i64 end = std::min(n, begin + BATCH);
            for (i64 i = begin; i < end; ++i) {
                reader.sentence(X[i], i);
                if (forcing) reader.labels(forced[i], nb::borrow<nb::dict>(index), i, wanted);
            }
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
                        for (i64 t = 0; t < m; ++t, ++label)
                            if (*label >= 0) model_.force(decoder.x, t, *label);
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
        SequenceModel::Keys& keys = decoder.keys;
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
        model_.keys(decoder.window, n, keys);
        model_.gather(keys, n, v, edge, decoder.x);
        if (!model_.types.on()) return;
        cells_of(reader, i, n, decoder.views);
        model_.gather_segments(decoder.window, decoder.views.data(), n, v, decoder.x);
    }

    // v ← voter `to`, given v = voter `from`
    void replay(i64 from, i64 to, LabelWeights& v) const {
        for (i64 at = log_.first[from]; at < log_.first[to]; ++at) model_.write(v, log_.place[at], log_.step[at]);
    }

    SequenceModel model_;
    StructuredPerceptron training_{model_};
    UpdateLog log_;
    i64 tagged_ = 0;  // tokens
    mutable std::shared_mutex mutex_;
};

nb::dict state_of(Tagger& tagger, const Hypothesis* vector, double threshold);
void restore_state(Tagger& tagger, const nb::dict& state);
nb::list heaviest(Tagger& tagger, const Hypothesis* vector, i64 n);

}  // namespace perceptive
