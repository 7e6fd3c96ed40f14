// A sequence model: templates, weights, and the trellis of a sentence under them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "label_rows.hpp"
#include "linear.hpp"
#include "paths.hpp"
#include "potentials.hpp"
#include "segment_features.hpp"
#include "segment_paths.hpp"
#include "sentences.hpp"
#include "update_log.hpp"

namespace perceptive {

constexpr i64 MAX_LABELS = 1 << 14;

// Which labels may stand where. Empty: all may.
struct Constraints {
    std::vector<char> pair, start, stop;  // L × L, L, L
};

// Labels that share one weight in the features of a template: `labels` for features of one label (L), `pairs` for those
// of two (L × L).
struct LabelSet {
    std::vector<char> in;
    i64 first = 0;
};

class SequenceModel {
  public:
    SequenceModel(Columns columns, std::vector<Template> state, std::vector<Template> edge, bool bigrams, bool trigrams)
        : columns(std::move(columns)),
          state_templates(std::move(state), this->columns.width()),
          edge_templates(std::move(edge), this->columns.width()),
          bigrams(bigrams),
          trigrams(trigrams),
          w(0, trigrams),
          sum(0, trigrams) {}

    Columns columns;
    Templates state_templates, edge_templates;
    std::vector<float> scale;              // the value of each state template's features; empty: 1
    std::vector<int> state_set, edge_set;  // template → label set, or −1
    std::vector<LabelSet> sets;
    bool bigrams, trigrams;  // whether there are weights for pairs and triples of labels alone
    Symbols raw;             // names of features given by name

    i64 L = 0, S = 0;
    LabelWeights w, sum;
    KeyTable state_rows, edge_rows;
    FeatureNames state_names, edge_names;  // of every row; that of edge row 0 is empty
    Constraints constraints;
    SegmentTypes types;
    SegmentFeatures segment_features;
    Progress run;
    std::uint64_t fingerprint = 0;  // of the sentences played, in whatever order
    UpdateLog* log = nullptr;

    // ---------------------------------------------------------------- labels

    // More labels; those that are there keep their numbers and weights.
    void set_labels(i64 n_labels) {
        if (n_labels < L || n_labels > MAX_LABELS) throw std::invalid_argument("an impossible number of labels");
        unpack();
        w = w.widened(L, n_labels);
        sum = sum.widened(L, n_labels);
        if (log) log->widen(L, n_labels);
        L = n_labels;
        S = padded(L);
        constraints = {};
        masks();
    }

    void set_constraints(Constraints given) {
        const auto fits = [](const std::vector<char>& v, i64 n) { return static_cast<i64>(v.size()) == n; };
        if (!given.pair.empty() && !(fits(given.pair, L * L) && fits(given.start, L) && fits(given.stop, L)))
            throw std::invalid_argument("constraints do not fit the labels");
        constraints = std::move(given);
        masks();
    }

    bool allowed(const int* path, i64 n) const {
        if (constraints.pair.empty() || n == 0) return true;
        if (!constraints.start[path[0]] || !constraints.stop[path[n - 1]]) return false;
        for (i64 t = 1; t < n; ++t)
            if (!constraints.pair[path[t - 1] * L + path[t]]) return false;
        return true;
    }

    // ---------------------------------------------------------------- features

    void add_token(Sentences& lesson, i64 token, const Id* ids, std::vector<Key>& scratch) const {
        scratch.resize(std::max(state_templates.size(), edge_templates.size()));
        state_templates.keys(ids, scratch.data());
        for (std::size_t k = 0; k < state_templates.size(); ++k)
            if (scratch[k] != NO_KEY) lesson.state.numbers.prefetch(scratch[k]);
        for (std::size_t k = 0; k < state_templates.size(); ++k)
            if (scratch[k] != NO_KEY)
                lesson.state.add(scratch[k], token, static_cast<std::int32_t>(k), scale.empty() ? 1.0f : scale[k]);
        edge_templates.keys(ids, scratch.data());
        for (std::size_t k = 0; k < edge_templates.size(); ++k)
            if (scratch[k] != NO_KEY) lesson.edge.add(scratch[k], token, static_cast<std::int32_t>(k), 1.0f);
    }

    // Features of all segments of a sentence that begins at token `first` of a lesson.
    void add_segments(Sentences& lesson, i64 first, i64 n, const Window& window,
                      const std::string_view* const* cells) const {
        for (i64 b = 0; b < n; ++b) {
            const i64 slot = static_cast<i64>(lesson.segment.start.size()) - 1;
            const i64 most = lesson.longest_from(first + b, first + n);
            if (slot + most > INT32_MAX) throw std::length_error("too many segments; lower max_segment");
            lesson.segments.push_back(slot);
            i64 done = 1;
            const auto close = [&](i64 length) {
                for (; done < length; ++done)
                    lesson.segment.start.push_back(static_cast<i64>(lesson.segment.number.size()));
            };
            segment_features.each_key(window, cells, b, most, [&](i64 length, int kind, Key key) {
                close(length);
                lesson.segment.add(key, slot + length - 1, kind, 1.0f);
            });
            close(most + 1);
        }
    }

    static Key raw_key(Id id) { return mix(0x13198A2E03707344ull, static_cast<Key>(id)) | 1; }

    void finish(Sentences& lesson, i64 min_count) const {
        lesson.state.finish(min_count, [&](Key key) { return state_rows.find(key); });
        lesson.edge.finish(min_count, [&](Key key) { return edge_rows.find(key); });
        lesson.segment.finish(min_count, [&](Key key) { return state_rows.find(key); });
    }

    // ---------------------------------------------------------------- scores

    // The trellis of a sentence of a lesson under v; `edge` is v's masked matrix of pairs.
    void gather(const Sentences& lesson, i64 i, const LabelWeights& v, const float* edge, Potentials& x) const {
        const i64 begin = lesson.start[i], end = lesson.start[i + 1];
        const bool valued = !lesson.state.value.empty();
        x.rows.clear(), x.values.clear(), x.start.assign(1, 0);
        const FeatureSet& features = lesson.state;
        for (i64 t = begin; t < end; ++t) {
            for (i64 p = features.start[t]; p < features.start[t + 1]; ++p) {
                const std::int32_t row = features.row[features.number[p]];
                if (row < 0) continue;
                const float* at = v.state.row(row);
                __builtin_prefetch(at);
                if (S > 16) __builtin_prefetch(at + 16);
                x.rows.push_back(at);
                if (valued) x.values.push_back(features.value[p]);
            }
            x.start.push_back(static_cast<i64>(x.rows.size()));
        }
        add_up(x, end - begin, v, edge);
        if (types.on()) gather_segments(lesson, begin, end - begin, v, x);
        if (!edge_templates.size()) return;
        const FeatureSet& pairs = lesson.edge;
        for (i64 t = begin + 1; t < end; ++t)
            for (i64 p = pairs.start[t]; p < pairs.start[t + 1]; ++p)
                add_edge(x, t - begin, pairs.row[pairs.number[p]], v, edge);
        end_edges(x);
    }

    // Keys of a sentence that is not to be learned from.
    struct Keys {
        std::vector<Key> state, edge;  // n × templates
        std::vector<i64> raw_start;    // features given by name
        std::vector<std::pair<Id, float>> raw;
    };

    void keys(const Window& window, i64 n, Keys& keys) const {
        const std::size_t T = state_templates.size(), E = edge_templates.size();
        keys.state.resize(static_cast<std::size_t>(n) * T);
        keys.edge.resize(static_cast<std::size_t>(n) * E);
        for (i64 t = 0; t < n; ++t) {
            Key* mine = keys.state.data() + static_cast<std::size_t>(t) * T;
            state_templates.keys(window.at(t), mine);
            for (std::size_t k = 0; k < T; ++k) state_rows.prefetch(mine[k]);
            if (E) edge_templates.keys(window.at(t), keys.edge.data() + static_cast<std::size_t>(t) * E);
        }
    }

    void gather(const Keys& keys, i64 n, const LabelWeights& v, const float* edge, Potentials& x) const {
        const std::size_t T = state_templates.size(), E = edge_templates.size();
        const PackedRows* packed = v.state.packed();
        const i64 n_rows = v.state.size();
        x.rows.clear(), x.numbers.clear(), x.values.clear(), x.start.assign(1, 0);
        const bool valued = !keys.raw.empty() || !scale.empty();
        const auto add = [&](Key key, float value) {
            const std::int32_t row = key == NO_KEY ? -1 : state_rows.find(key);
            if (row < 0 || row >= n_rows) return;
            if (packed) {
                packed->prefetch(row);
                x.numbers.push_back(row);
            } else {
                const float* at = v.state.row(row);
                __builtin_prefetch(at);
                if (S > 16) __builtin_prefetch(at + 16);
                x.rows.push_back(at);
            }
            if (valued) x.values.push_back(value);
        };
        for (i64 t = 0; t < n; ++t) {
            const Key* mine = keys.state.data() + static_cast<std::size_t>(t) * T;
            for (std::size_t k = 0; k < T; ++k) add(mine[k], scale.empty() ? 1.0f : scale[k]);
            if (!keys.raw.empty())
                for (i64 p = keys.raw_start[t]; p < keys.raw_start[t + 1]; ++p)
                    add(raw_key(keys.raw[p].first), keys.raw[p].second);
            x.start.push_back(static_cast<i64>(packed ? x.numbers.size() : x.rows.size()));
        }
        add_up(x, n, v, edge);
        if (!E) return;
        for (i64 t = 1; t < n; ++t)
            for (std::size_t k = 0; k < E; ++k) {
                const Key key = keys.edge[static_cast<std::size_t>(t) * E + k];
                add_edge(x, t, key == NO_KEY ? -1 : edge_rows.find(key), v, edge);
            }
        end_edges(x);
    }

    // Scores of the segments of a sentence that is not to be learned from.
    void gather_segments(const Window& window, const std::string_view* const* cells, i64 n, const LabelWeights& v,
                         Potentials& x) const {
        clear_segments(n, x);
        for (i64 b = 0; b < n; ++b) {
            float* to = x.segments.data() + b * x.longest * types.size();
            segment_features.each_key(window, cells, b, std::min(x.longest, n - b), [&](i64 length, int, Key key) {
                add_segment(state_rows.find(key), v, to + (length - 1) * types.size());
            });
        }
    }

    // The best path, through segments where there are any.
    double decode(const Potentials& x, Viterbi& viterbi, SegmentViterbi& segments, int* path) const {
        return decode(x.trellis, x, viterbi, segments, path);
    }
    double decode(const Trellis& trellis, const Potentials& x, Viterbi& viterbi, SegmentViterbi& segments,
                  int* path) const {
        if (!types.on()) return viterbi(trellis, path);
        return segments(trellis, types, segment_scores(x), path);
    }

    // The k best paths, and the best through each token and label.
    std::vector<ScoredPath> best_paths(const Potentials& x, i64 k) const {
        return types.on() ? SegmentKBest()(x.trellis, types, segment_scores(x), k) : k_best(x.trellis, k);
    }
    std::vector<double> marginals(const Potentials& x) const {
        return types.on() ? max_marginals(x.trellis, types, segment_scores(x)) : max_marginals(x.trellis);
    }

    double score(const Potentials& x, const int* path) const {
        return types.on() ? path_score(x.trellis, types, segment_scores(x), path) : path_score(x.trellis, path);
    }

    // Whether v is a vector of this model, perhaps of before it had all of its features.
    bool has(const LabelWeights& v) const {
        return v.state.size() <= w.state.size() && v.edge.size() <= w.edge.size() &&
               v.state.width() == w.state.width() && v.edge.width() == w.edge.width() &&
               v.triple.width() == w.triple.width();
    }

    // v's weights of label pairs, −∞ where constraints forbid and in the padding.
    std::vector<float> masked_edges(const LabelWeights& v) const {
        std::vector<float> edge(mask_);
        const float* base = v.edge.row(0);
        for (std::size_t i = 0; i < edge.size(); ++i) edge[i] += base[i];
        return edge;
    }

    // Only what is said of it may stand at token t.
    void force(Potentials& x, i64 t, std::int32_t said, const Choices& choices) const {
        float* row = x.unary.data() + t * S;
        choices.each_other(said, L, [&](i64 y) { row[y] = NEVER; });
    }

    // ---------------------------------------------------------------- weights

    // For each sentence of a lesson: how much better y* scores than the best other sequence under v; ∞ without another.
    std::vector<double> leads(const Sentences& lesson, const LabelWeights& v) const {
        const std::vector<float> edge = masked_edges(v);
        Potentials x;
        std::vector<double> found;
        std::vector<int> truth;
        for (i64 i = 0; i < lesson.size(); ++i) {
            gather(lesson, i, v, edge.data(), x);
            truth.assign(lesson.label.begin() + lesson.start[i], lesson.label.begin() + lesson.start[i + 1]);
            double rival = -std::numeric_limits<double>::infinity();
            for (const ScoredPath& path : best_paths(x, 2))
                if (path.labels != truth) rival = std::max(rival, path.score);
            found.push_back(score(x, truth.data()) - rival);
        }
        return found;
    }

    // ‖v‖²; a shared weight counts once.
    double squared_norm(const LabelWeights& v) const {
        double total = 0.0;
        const auto add = [&](const RowStore& store, const FeatureNames* names, const std::vector<int>& of, bool pairs) {
            for (i64 r = 0; r < store.size(); ++r) {
                const std::int32_t in = names ? names->template_of(r) : RAW;
                const int set = in >= 0 && !of.empty() ? of[in] : -1;
                const float* row = store.row(r);
                if (set >= 0) {
                    const i64 first = sets[set].first;
                    const double value = static_cast<double>(row[pairs ? first / L * S + first % L : first]);
                    total += value * value;
                    continue;
                }
                for (i64 c = 0; c < store.width(); ++c)
                    total += static_cast<double>(row[c]) * static_cast<double>(row[c]);
            }
        };
        add(v.state, &state_names, state_set, false);
        add(v.edge, &edge_names, edge_set, true);
        if (trigrams) add(v.triple, nullptr, {}, false);
        return total;
    }

    // The weights of the average: v − sum/clock.
    LabelWeights average() const { return w.minus(&sum, static_cast<float>(1.0 / (run.clock > 0 ? run.clock : 1.0))); }

    // All rows as rows: before they are learned from, copied or looked at one by one.
    void unpack() {
        w.state.unpack();
        sum.state.resize(w.state.size());
    }

    std::int32_t new_state_row(Key key, const FeatureName& name) {
        const auto row = static_cast<std::int32_t>(w.state.size());
        const std::int32_t found = state_rows.insert(key, row);
        if (found != row) return found;
        w.state.add(), sum.state.add();
        state_names.add(name);
        return row;
    }
    std::int32_t new_edge_row(Key key, const FeatureName& name) {
        const auto row = static_cast<std::int32_t>(w.edge.size());
        const std::int32_t found = edge_rows.insert(key, row);
        if (found != row) return found;
        w.edge.add(), sum.edge.add();
        edge_names.add(name);
        return row;
    }

    // v[place] += step, and its share of the sum. A shared weight is written to all of its labels.
    void write(LabelWeights& v, Place place, float step) const {
        if (!(place & SHARED)) {
            v.at(place) += step;
            return;
        }
        RowStore& store = v.rows(kind_of_place(place));
        const i64 row = offset_of(place) / store.width();
        const bool state = kind_of_place(place) == WeightKind::state;
        const auto& of = state ? state_set : edge_set;
        const LabelSet& set = sets[of[(state ? state_names : edge_names).template_of(row)]];
        float* at = store.row(row);
        for (i64 i = 0; i < static_cast<i64>(set.in.size()); ++i)
            if (set.in[i]) at[state ? i : i / L * S + i % L] += step;
    }

    // Labels that have joined a set get its weight. New labels come behind the others, so the first has it.
    void share() {
        unpack();
        for (LabelWeights* v : {&w, &sum})
            for (const WeightKind kind : {WeightKind::state, WeightKind::edge}) {
                const bool state = kind == WeightKind::state;
                const auto& of = state ? state_set : edge_set;
                const auto& names = state ? state_names : edge_names;
                RowStore& store = v->rows(kind);
                const auto place = [&](i64 i) { return state ? i : i / L * S + i % L; };
                for (i64 row = 0; row < store.size(); ++row) {
                    const int in = names.template_of(row);
                    if (in < 0 || of[in] < 0) continue;
                    const LabelSet& set = sets[of[in]];
                    float* at = store.row(row);
                    for (i64 i = 0; i < static_cast<i64>(set.in.size()); ++i)
                        if (set.in[i]) at[place(i)] = at[place(set.first)];
                }
            }
    }

  private:
    SegmentScores segment_scores(const Potentials& x) const { return {x.segments.data(), x.longest, types.size()}; }

    void clear_segments(i64 n, Potentials& x) const {
        x.longest = std::min(types.longest, n);
        x.segments.assign(static_cast<std::size_t>(n * x.longest * types.size()), 0.0f);
    }

    void add_segment(std::int32_t row, const LabelWeights& v, float* to) const {
        if (row < 0 || row >= v.state.size()) return;  // v may be older than the model
        const float* from = v.state.row(row);
        for (i64 X = 0; X < types.size(); ++X) to[X] += from[types.begin[X]];
    }

    void gather_segments(const Sentences& lesson, i64 first, i64 n, const LabelWeights& v, Potentials& x) const {
        clear_segments(n, x);
        const FeatureSet& features = lesson.segment;
        for (i64 b = 0; b < n; ++b)
            for (i64 length = 1; length <= std::min(x.longest, n - b); ++length) {
                const auto slot = static_cast<std::size_t>(lesson.segments[first + b] + length - 1);
                float* to = x.segments.data() + (b * x.longest + length - 1) * types.size();
                for (i64 p = features.start[slot]; p < features.start[slot + 1]; ++p)
                    add_segment(features.row[features.number[p]], v, to);
            }
    }

    // ---------------------------------------------------------------- helpers

    void add_up(Potentials& x, i64 n, const LabelWeights& v, const float* edge) const {
        x.unary.resize(static_cast<std::size_t>(n * S));
        if (const PackedRows* packed = v.state.packed()) {
            std::fill(x.unary.begin(), x.unary.end(), 0.0f);
            for (i64 t = 0; t < n; ++t)
                for (i64 i = x.start[t]; i < x.start[t + 1]; ++i)
                    packed->add(x.numbers[i], x.values.empty() ? 1.0f : x.values[i], x.unary.data() + t * S);
        } else {
            for (i64 t = 0; t < n; ++t) {
                const i64 first = x.start[t];
                sum_rows(x.rows.data() + first, x.values.empty() ? nullptr : x.values.data() + first,
                         x.start[t + 1] - first, S, x.unary.data() + t * S);
            }
        }
        x.trellis = Trellis{};
        x.trellis.n = n, x.trellis.L = L, x.trellis.S = S;
        x.trellis.unary = x.unary.data();
        x.trellis.edge = edge;
        x.trellis.triple = trigrams ? v.triple.row(0) : nullptr;
        x.trellis.start = start_.data();
        x.trellis.stop = stop_.data();
        if (edge_templates.size()) {
            x.edges.clear();
            x.offsets.assign(static_cast<std::size_t>(n), -1);
        }
    }

    void add_edge(Potentials& x, i64 t, std::int32_t row, const LabelWeights& v, const float* edge) const {
        if (row < 0 || row >= v.edge.size()) return;  // v may be older than the model
        i64& offset = x.offsets[t];
        if (offset < 0) {
            offset = static_cast<i64>(x.edges.size());
            x.edges.insert(x.edges.end(), edge, edge + L * S);
        }
        const float* from = v.edge.row(row);
        float* to = x.edges.data() + offset;
        for (i64 j = 0; j < L * S; ++j) to[j] += from[j];
    }

    void end_edges(Potentials& x) const {
        x.edge_at.assign(x.offsets.size(), nullptr);
        for (std::size_t t = 0; t < x.offsets.size(); ++t)
            if (x.offsets[t] >= 0) x.edge_at[t] = x.edges.data() + x.offsets[t];
        x.trellis.edges = x.edge_at.data();
    }

    void masks() {
        mask_.assign(static_cast<std::size_t>(L * S), NEVER);
        start_.assign(static_cast<std::size_t>(S), NEVER);
        stop_.assign(static_cast<std::size_t>(S), NEVER);
        const bool free = constraints.pair.empty();
        for (i64 p = 0; p < L; ++p) {
            for (i64 y = 0; y < L; ++y)
                if (free || constraints.pair[p * L + y]) mask_[p * S + y] = 0.0f;
            if (free || constraints.start[p]) start_[p] = 0.0f;
            if (free || constraints.stop[p]) stop_[p] = 0.0f;
        }
    }

    std::vector<float> mask_, start_, stop_;  // 0 or −∞: L × S, S, S
};

}  // namespace perceptive
