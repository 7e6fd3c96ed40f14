// The structured perceptron (Collins 2002): B finds ŷ = argmax_y v·Φ(x, y) by Viterbi; on a mistake
// v ← v + τ·(Φ(x, y*) − Φ(x, ŷ)).
//
//   perceptron   τ = 1
//   pa1, pa2     the competitor is the best of score + cost, the cost being the number of wrong labels (Hamming);
//                ℓ = cost(ŷ) − v·δ,  τ = min(C, ℓ/‖δ‖²)  or  ℓ/(‖δ‖² + 1/2C)        Crammer et al. 2006
//   mira         the k best of score + cost together, by a small quadratic program    simplex_qp.hpp
//
// The average is lazy as in linear.hpp: Σ_t v_t = clock·v − sum.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "label_rows.hpp"
#include "linear.hpp"
#include "paths.hpp"
#include "segments.hpp"
#include "sentences.hpp"
#include "simplex_qp.hpp"
#include "update_log.hpp"

namespace perceptive {

// out[0 .. S) = Σ rows (times values)
PERCEPTIVE_CLONES inline void sum_rows(const float* const* rows, const float* values, i64 count, i64 S, float* out) {
    for (i64 c = 0; c < S; c += 3 * BLOCK) {
        const i64 blocks = std::min<i64>(3, (S - c) / BLOCK);
        Eight a = all_eight(0.0f), b = a, d = a;
        if (values) {
            for (i64 i = 0; i < count; ++i) {
                const float* row = rows[i] + c;
                const Eight x = all_eight(values[i]);
                a += x * load_eight(row);
                if (blocks > 1) b += x * load_eight(row + BLOCK);
                if (blocks > 2) d += x * load_eight(row + 2 * BLOCK);
            }
        } else if (blocks == 3) {
            for (i64 i = 0; i < count; ++i) {
                const float* row = rows[i] + c;
                a += load_eight(row);
                b += load_eight(row + BLOCK);
                d += load_eight(row + 2 * BLOCK);
            }
        } else {
            for (i64 i = 0; i < count; ++i) {
                const float* row = rows[i] + c;
                a += load_eight(row);
                if (blocks > 1) b += load_eight(row + BLOCK);
            }
        }
        store_eight(out + c, a);
        if (blocks > 1) store_eight(out + c + BLOCK, b);
        if (blocks > 2) store_eight(out + c + 2 * BLOCK, d);
    }
}

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

// The features of one sentence as rows of weights, and its trellis.
struct Potentials {
    std::vector<const float*> rows;  // of the features that have weights
    std::vector<float> values;       // of these, or empty
    std::vector<i64> start;          // token → its first row
    std::vector<float> unary, edges;
    std::vector<const float*> edge_at;
    std::vector<i64> offsets;     // token → where its matrix of pairs lies in `edges`, or −1
    std::vector<float> segments;  // scores of segments, as SegmentScores has them
    Trellis trellis;
};

// What segments are scored by.
struct SegmentFeatures {
    int text = -1, shape = -1;  // columns whose values are read together; −1: not read
    std::vector<int> in;        // dictionaries that the words, joined by spaces, are sought in
};

struct SequenceOptions {
    Rule rule;
    bool hamming = false;  // the competitor is sought under score + cost
    i64 k = 5;             // mira: competitors at once
    bool averaged = true;
    i64 beam = 0;
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
    std::vector<Symbols> phrases;  // the dictionaries of whole segments
    Progress run;
    std::uint64_t fingerprint = 0;  // of the sentences played, in whatever order
    UpdateLog* log = nullptr;

    // ---------------------------------------------------------------- labels

    // More labels; those that are there keep their numbers and weights.
    void set_labels(i64 n_labels) {
        if (n_labels < L || n_labels > (1 << 14)) throw std::invalid_argument("an impossible number of labels");
        widen(w, n_labels);
        widen(sum, n_labels);
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
        if (!constraints.start[static_cast<std::size_t>(path[0])] ||
            !constraints.stop[static_cast<std::size_t>(path[n - 1])])
            return false;
        for (i64 t = 1; t < n; ++t)
            if (!constraints.pair[static_cast<std::size_t>(path[t - 1] * L + path[t])]) return false;
        return true;
    }

    // ---------------------------------------------------------------- features

    void add_token(Sentences& lesson, i64 token, const Id* ids, std::vector<Key>& scratch) const {
        scratch.resize(std::max(state_templates.size(), edge_templates.size()));
        state_templates.keys(ids, scratch.data());
        for (std::size_t k = 0; k < state_templates.size(); ++k)
            if (scratch[k] != NO_KEY) lesson.state.numbers.prefetch(scratch[k]);
        for (std::size_t k = 0; k < state_templates.size(); ++k)
            if (scratch[k] != NO_KEY) lesson.state.add(scratch[k], token, static_cast<std::int32_t>(k), 1.0f);
        edge_templates.keys(ids, scratch.data());
        for (std::size_t k = 0; k < edge_templates.size(); ++k)
            if (scratch[k] != NO_KEY) lesson.edge.add(scratch[k], token, static_cast<std::int32_t>(k), 1.0f);
    }

    static Key segment_key(const FeatureName& name) {
        Key key = mix(0xA4093822299F31D0ull, static_cast<Key>(-name.template_index));
        for (const Id id : name.ids) key = mix(key, static_cast<Key>(id));
        return key | 1;
    }

    // each(kind, key) for the features of the segment that begins at token b of a window and has `length` tokens
    template <class Each>
    void segment_keys(const Window& window, const std::string_view* const* cells, i64 b, i64 length, Each each) const {
        FeatureName name{SEGMENT_LENGTH, {static_cast<Id>(length)}};
        std::vector<Id>& values = name.ids;
        each(SEGMENT_LENGTH, segment_key(name));
        for (const int kind : {SEGMENT_TEXT, SEGMENT_SHAPE}) {
            const int column = kind == SEGMENT_TEXT ? segment_features.text : segment_features.shape;
            if (column < 0) continue;
            values.clear();
            bool all = true;
            for (i64 t = b; t < b + length; ++t) {
                const Id id = window.at(t)[column];
                all &= id != ABSENT;
                if (kind == SEGMENT_TEXT || values.empty() || values.back() != id) values.push_back(id);  // runs once
            }
            name.template_index = kind;
            if (all) each(kind, segment_key(name));
        }
        if (phrases.empty() || !cells) return;
        std::string text;
        for (i64 t = b; t < b + length; ++t) {
            if (!cells[t]) return;
            if (t > b) text += ' ';
            text += cells[t][0];
        }
        for (std::size_t d = 0; d < phrases.size(); ++d)
            if (phrases[d].find(text) >= 0) {
                name.template_index = SEGMENT_IN - static_cast<int>(d);
                values.assign(1, 1);
                each(name.template_index, segment_key(name));
            }
    }

    // Features of all segments of a sentence that begins at token `first` of a lesson.
    void add_segments(Sentences& lesson, i64 first, i64 n, const Window& window,
                      const std::string_view* const* cells) const {
        for (i64 b = 0; b < n; ++b)
            for (i64 length = 1; length <= lesson.longest; ++length) {
                if (b + length <= n)
                    segment_keys(window, cells, b, length, [&](int kind, Key key) {
                        const i64 slot = (first + b) * lesson.longest + length - 1;
                        if (slot > INT32_MAX) throw std::length_error("too many segments; lower max_segment");
                        lesson.segment.add(key, slot, kind, 1.0f);
                    });
                lesson.segment.start.push_back(static_cast<i64>(lesson.segment.number.size()));
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
        const i64 begin = lesson.start[static_cast<std::size_t>(i)],
                  end = lesson.start[static_cast<std::size_t>(i) + 1];
        const bool valued = !lesson.state.value.empty();
        x.rows.clear(), x.values.clear(), x.start.assign(1, 0);
        const FeatureSet& features = lesson.state;
        for (i64 t = begin; t < end; ++t) {
            for (i64 p = features.start[static_cast<std::size_t>(t)];
                 p < features.start[static_cast<std::size_t>(t) + 1]; ++p) {
                const std::int32_t row =
                    features.row[static_cast<std::size_t>(features.number[static_cast<std::size_t>(p)])];
                if (row < 0) continue;
                const float* at = v.state.row(row);
                __builtin_prefetch(at);
                if (S > 16) __builtin_prefetch(at + 16);
                x.rows.push_back(at);
                if (valued) x.values.push_back(features.value[static_cast<std::size_t>(p)]);
            }
            x.start.push_back(static_cast<i64>(x.rows.size()));
        }
        add_up(x, end - begin, v, edge);
        if (types.on()) gather_segments(lesson, begin, end - begin, v, x);
        if (!edge_templates.size()) return;
        const FeatureSet& pairs = lesson.edge;
        for (i64 t = begin + 1; t < end; ++t)
            for (i64 p = pairs.start[static_cast<std::size_t>(t)]; p < pairs.start[static_cast<std::size_t>(t) + 1];
                 ++p)
                add_edge(x, t - begin, pairs.row[static_cast<std::size_t>(pairs.number[static_cast<std::size_t>(p)])],
                         v, edge);
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
        x.rows.clear(), x.values.clear(), x.start.assign(1, 0);
        const bool valued = !keys.raw.empty();
        for (i64 t = 0; t < n; ++t) {
            const Key* mine = keys.state.data() + static_cast<std::size_t>(t) * T;
            for (std::size_t k = 0; k < T; ++k) {
                const std::int32_t row = mine[k] == NO_KEY ? -1 : state_rows.find(mine[k]);
                if (row < 0) continue;
                const float* at = v.state.row(row);
                __builtin_prefetch(at);
                if (S > 16) __builtin_prefetch(at + 16);
                x.rows.push_back(at);
                if (valued) x.values.push_back(1.0f);
            }
            if (valued)
                for (i64 p = keys.raw_start[static_cast<std::size_t>(t)];
                     p < keys.raw_start[static_cast<std::size_t>(t) + 1]; ++p) {
                    const auto [id, value] = keys.raw[static_cast<std::size_t>(p)];
                    const std::int32_t row = state_rows.find(raw_key(id));
                    if (row < 0) continue;
                    x.rows.push_back(v.state.row(row));
                    x.values.push_back(value);
                }
            x.start.push_back(static_cast<i64>(x.rows.size()));
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
        x.segments.assign(static_cast<std::size_t>(n * types.longest * types.size()), 0.0f);
        for (i64 b = 0; b < n; ++b)
            for (i64 length = 1; length <= std::min(types.longest, n - b); ++length) {
                float* to = x.segments.data() + (b * types.longest + length - 1) * types.size();
                segment_keys(window, cells, b, length, [&](int, Key key) {
                    const std::int32_t row = state_rows.find(key);
                    if (row < 0) return;
                    const float* from = v.state.row(row);
                    for (i64 X = 0; X < types.size(); ++X) to[X] += from[types.begin[static_cast<std::size_t>(X)]];
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
        return segments(trellis, types, SegmentScores{x.segments.data()}, path);
    }

    double score(const Potentials& x, const int* path) const {
        double total = path_score(x.trellis, path);
        if (types.on())
            each_segment(types, path, x.trellis.n, [&](i64 X, i64 begin, i64 end) {
                total += static_cast<double>(SegmentScores{x.segments.data()}.at(types, begin, end - begin, X));
            });
        return total;
    }

    // v's weights of label pairs, −∞ where constraints forbid and in the padding.
    std::vector<float> masked_edges(const LabelWeights& v) const {
        std::vector<float> edge(mask_);
        const float* base = v.edge.row(0);
        for (std::size_t i = 0; i < edge.size(); ++i) edge[i] += base[i];
        return edge;
    }

    // Only `label` may stand at token t.
    void force(Potentials& x, i64 t, i64 label) const {
        float* row = x.unary.data() + t * S;
        for (i64 y = 0; y < L; ++y)
            if (y != label) row[y] = NEVER;
    }

    // ---------------------------------------------------------------- learning

    void play(Sentences& lesson, const i64* order, i64 count, const SequenceOptions& options) {
        std::vector<float> edge = masked_edges(w);
        for (i64 i = 0; i < count; ++i) round(lesson, order[i], options, edge);
    }

    // For each sentence of a lesson: how much better y* scores than the best other sequence under v; ∞ without another.
    std::vector<double> leads(const Sentences& lesson, const LabelWeights& v) const {
        const std::vector<float> edge = masked_edges(v);
        Potentials x;
        std::vector<double> found;
        std::vector<int> truth;
        for (i64 i = 0; i < lesson.size(); ++i) {
            gather(lesson, i, v, edge.data(), x);
            truth.assign(lesson.label.begin() + lesson.start[static_cast<std::size_t>(i)],
                         lesson.label.begin() + lesson.start[static_cast<std::size_t>(i) + 1]);
            double rival = -std::numeric_limits<double>::infinity();
            for (const ScoredPath& path : k_best(x.trellis, 2))
                if (path.labels != truth) rival = std::max(rival, path.score);
            found.push_back(path_score(x.trellis, truth.data()) - rival);
        }
        return found;
    }

    // ‖v‖²; a shared weight counts once.
    double squared_norm(const LabelWeights& v) const {
        double total = 0.0;
        const auto add = [&](const RowStore& store, const FeatureNames* names, const std::vector<int>& of, bool pairs) {
            for (i64 r = 0; r < store.size(); ++r) {
                const std::int32_t in = names ? names->template_of(r) : RAW;
                const int set = in >= 0 && !of.empty() ? of[static_cast<std::size_t>(in)] : -1;
                const float* row = store.row(r);
                if (set >= 0) {
                    const i64 first = sets[static_cast<std::size_t>(set)].first;
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
    LabelWeights average() const {
        LabelWeights v(L, trigrams);
        const double clock = run.clock > 0 ? run.clock : 1.0;
        average(w.state, sum.state, v.state, clock);
        average(w.edge, sum.edge, v.edge, clock);
        if (trigrams) average(w.triple, sum.triple, v.triple, clock);
        return v;
    }

    LabelWeights copy() const {
        LabelWeights v(L, trigrams);
        copy(w.state, v.state);
        copy(w.edge, v.edge);
        if (trigrams) copy(w.triple, v.triple);
        return v;
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
        const LabelSet& set = sets[static_cast<std::size_t>(
            of[static_cast<std::size_t>((state ? state_names : edge_names).template_of(row))])];
        float* at = store.row(row);
        for (i64 i = 0; i < static_cast<i64>(set.in.size()); ++i)
            if (set.in[static_cast<std::size_t>(i)]) at[state ? i : i / L * S + i % L] += step;
    }

  private:
    void round(Sentences& lesson, i64 i, const SequenceOptions& options, std::vector<float>& edge) {
        const i64 begin = lesson.start[static_cast<std::size_t>(i)];
        const i64 n = lesson.start[static_cast<std::size_t>(i) + 1] - begin;
        const std::int32_t* truth = lesson.label.data() + begin;
        ++run.rounds;
        run.clock += 1.0;
        fingerprint += lesson.hash[static_cast<std::size_t>(i)];
        if (log) log->predicted();
        if (n == 0 || L == 0) return;
        Potentials& x = potentials_;
        gather(lesson, i, w, edge.data(), x);
        x.trellis.beam = options.beam;
        target_.assign(truth, truth + n);
        if (std::find(target_.begin(), target_.end(), -1) != target_.end()) complete(x, truth, n);
        path_.resize(static_cast<std::size_t>(n));

        const bool margins = options.rule.name != RuleName::perceptron || options.rule.margin > 0;
        if (options.hamming || options.rule.name == RuleName::mira) add_cost(x, truth, n, 1.0f);
        if (options.rule.name == RuleName::mira) {
            rivals_ = k_best(x.trellis, options.k + 1);
            add_cost(x, truth, n, -1.0f);
            count_mistake(x);
            mira(lesson, begin, n, truth, options, edge);
            return;
        }
        decode(x, viterbi_, segments_, path_.data());
        if (options.hamming) {
            add_cost(x, truth, n, -1.0f);
            if (path_ == target_) return;  // right by its margin, so right
            best_ = path_;
            count_mistake(x);
            path_ = best_;
        } else {
            const bool mistake = path_ != target_;
            if (mistake) note_mistake(x);
            if (!mistake) {
                if (!margins) return;
                second_best(x);
                if (path_ == target_) return;  // there is no other path
            }
        }
        const double cost = options.hamming ? hamming(path_, truth, n) : 1.0;
        difference_.clear();
        differ(lesson, begin, n, target_, path_, difference_);
        const double m = along(difference_), q = difference_.squared_norm();
        if (q == 0.0) return;
        const bool wrong = options.rule.name == RuleName::perceptron && (options.hamming || m <= 0);
        if (!options.rule.wants_update(m, wrong, cost)) return;
        const double tau = options.rule.step(m, q, 0.0, cost, 1.0).tau;
        move(difference_, tau, options);
        close(q, edge);
    }

    // The labels that were not said are those of the best path through the labels that were.
    void complete(Potentials& x, const std::int32_t* truth, i64 n) {
        constrained_.assign(x.unary.begin(), x.unary.begin() + n * S);
        for (i64 t = 0; t < n; ++t)
            if (truth[t] >= 0)
                for (i64 y = 0; y < L; ++y)
                    if (y != truth[t]) constrained_[static_cast<std::size_t>(t * S + y)] = NEVER;
        Trellis forced = x.trellis;
        forced.unary = constrained_.data();
        decode(forced, x, viterbi_, segments_, target_.data());
    }

    void add_cost(Potentials& x, const std::int32_t* truth, i64 n, float sign) const {
        for (i64 t = 0; t < n; ++t)
            if (truth[t] >= 0)
                for (i64 y = 0; y < L; ++y)
                    if (y != truth[t]) x.unary[static_cast<std::size_t>(t * S + y)] += sign;
    }

    static double hamming(const std::vector<int>& path, const std::int32_t* truth, i64 n) {
        i64 wrong = 0;
        for (i64 t = 0; t < n; ++t) wrong += truth[t] >= 0 && path[static_cast<std::size_t>(t)] != truth[t];
        return static_cast<double>(wrong);
    }

    void count_mistake(const Potentials& x) {
        decode(x, viterbi_, segments_, path_.data());
        if (path_ != target_) note_mistake(x);
    }
    void note_mistake(const Potentials& x) {
        ++run.mistakes;
        run.criterion += std::max(0.0, score(x, path_.data()) - score(x, target_.data()));
    }

    // The best path but the target, where the target is best.
    void second_best(const Potentials& x) {
        for (ScoredPath& rival : k_best(x.trellis, 2))
            if (rival.labels != target_) {
                path_ = std::move(rival.labels);
                return;
            }
    }

    // δ += Φ(x, right) − Φ(x, wrong)
    void differ(Sentences& lesson, i64 begin, i64 n, const std::vector<int>& right, const std::vector<int>& wrong,
                Difference& delta) {
        for (i64 t = 0; t < n; ++t) {
            const auto at = static_cast<std::size_t>(t);
            const i64 y = right[at], z = wrong[at];
            if (y != z) differ_state(lesson, begin + t, y, z, delta);
            if (t == 0) continue;
            const i64 py = right[at - 1], pz = wrong[at - 1];
            if (py == pz && y == z) continue;
            if (bigrams) {
                delta.add(place_of(WeightKind::edge, py * S + y), 1.0);
                delta.add(place_of(WeightKind::edge, pz * S + z), -1.0);
            }
            if (edge_templates.size()) differ_edge(lesson, begin + t, py * L + y, pz * L + z, delta);
        }
        if (types.on()) {
            differ_segments(lesson, begin, n, right, wrong, 1.0, delta);
            differ_segments(lesson, begin, n, wrong, right, -1.0, delta);
        }
        if (!trigrams) return;
        for (i64 t = 2; t < n; ++t) {
            const auto at = static_cast<std::size_t>(t);
            const i64 y = (right[at - 2] * L + right[at - 1]) * S + right[at];
            const i64 z = (wrong[at - 2] * L + wrong[at - 1]) * S + wrong[at];
            if (y == z) continue;
            delta.add(place_of(WeightKind::triple, y), 1.0);
            delta.add(place_of(WeightKind::triple, z), -1.0);
        }
    }

    void differ_state(Sentences& lesson, i64 token, i64 y, i64 z, Difference& delta) {
        FeatureSet& features = lesson.state;
        for (i64 p = features.start[static_cast<std::size_t>(token)];
             p < features.start[static_cast<std::size_t>(token) + 1]; ++p) {
            const auto f = static_cast<std::size_t>(features.number[static_cast<std::size_t>(p)]);
            const int in = features.seen_in[f];
            const int set = in >= 0 && !state_set.empty() ? state_set[static_cast<std::size_t>(in)] : -1;
            const double value =
                features.value.empty() ? 1.0 : static_cast<double>(features.value[static_cast<std::size_t>(p)]);
            if (set >= 0 && sets[static_cast<std::size_t>(set)].in[static_cast<std::size_t>(y)] ==
                                sets[static_cast<std::size_t>(set)].in[static_cast<std::size_t>(z)])
                continue;
            if (features.row[f] < 0)
                features.row[f] = new_state_row(features.key[f], name_of(lesson, features, f, state_templates));
            const i64 row = features.row[f] * S;
            if (set >= 0) {
                const LabelSet& shared = sets[static_cast<std::size_t>(set)];
                const double sign = shared.in[static_cast<std::size_t>(y)] ? value : -value;
                delta.add(place_of(WeightKind::state, row + shared.first) | SHARED, sign);
            } else {
                delta.add(place_of(WeightKind::state, row + y), value);
                delta.add(place_of(WeightKind::state, row + z), -value);
            }
        }
    }

    // δ += sign · the features of the segments of `path` that `other` has not
    void differ_segments(Sentences& lesson, i64 first, i64 n, const std::vector<int>& path,
                         const std::vector<int>& other, double sign, Difference& delta) {
        FeatureSet& features = lesson.segment;
        each_segment(types, path.data(), n, [&](i64 X, i64 begin, i64 end) {
            const bool same = std::equal(path.begin() + begin, path.begin() + end, other.begin() + begin);
            if (same && (end == n || other[static_cast<std::size_t>(end)] != types.inside[static_cast<std::size_t>(X)]))
                return;
            const auto slot = static_cast<std::size_t>((first + begin) * lesson.longest + end - begin - 1);
            for (i64 p = features.start[slot]; p < features.start[slot + 1]; ++p) {
                const auto f = static_cast<std::size_t>(features.number[static_cast<std::size_t>(p)]);
                if (features.row[f] < 0) features.row[f] = new_state_row(features.key[f], segment_name(lesson, f));
                delta.add(place_of(WeightKind::state, features.row[f] * S + types.begin[static_cast<std::size_t>(X)]),
                          sign);
            }
        });
    }

    void gather_segments(const Sentences& lesson, i64 first, i64 n, const LabelWeights& v, Potentials& x) const {
        x.segments.assign(static_cast<std::size_t>(n * types.longest * types.size()), 0.0f);
        const FeatureSet& features = lesson.segment;
        for (i64 b = 0; b < n; ++b)
            for (i64 length = 1; length <= std::min(types.longest, n - b); ++length) {
                const auto slot = static_cast<std::size_t>((first + b) * lesson.longest + length - 1);
                float* to = x.segments.data() + (b * types.longest + length - 1) * types.size();
                for (i64 p = features.start[slot]; p < features.start[slot + 1]; ++p) {
                    const std::int32_t row =
                        features.row[static_cast<std::size_t>(features.number[static_cast<std::size_t>(p)])];
                    if (row < 0) continue;
                    const float* from = v.state.row(row);
                    for (i64 X = 0; X < types.size(); ++X) to[X] += from[types.begin[static_cast<std::size_t>(X)]];
                }
            }
    }

    FeatureName segment_name(const Sentences& lesson, std::size_t f) {
        const std::int32_t kind = lesson.segment.seen_in[f], slot = lesson.segment.seen_at[f];
        const i64 begin = slot / lesson.longest, length = slot % lesson.longest + 1;
        FeatureName name{kind, {}};
        if (kind == SEGMENT_LENGTH) name.ids = {static_cast<Id>(length)};
        if (kind <= SEGMENT_IN) name.ids = {1};
        if (kind != SEGMENT_TEXT && kind != SEGMENT_SHAPE) return name;
        const int column = kind == SEGMENT_TEXT ? segment_features.text : segment_features.shape;
        std::vector<Id> ids(static_cast<std::size_t>(columns.width()));
        for (i64 t = begin; t < begin + length; ++t) {
            columns.spread(lesson.base.data() + t * lesson.n_base, ids.data());
            const Id id = ids[static_cast<std::size_t>(column)];
            if (kind == SEGMENT_TEXT || name.ids.empty() || name.ids.back() != id) name.ids.push_back(id);
        }
        return name;
    }

    void differ_edge(Sentences& lesson, i64 token, i64 y, i64 z, Difference& delta) {
        FeatureSet& features = lesson.edge;
        for (i64 p = features.start[static_cast<std::size_t>(token)];
             p < features.start[static_cast<std::size_t>(token) + 1]; ++p) {
            const auto f = static_cast<std::size_t>(features.number[static_cast<std::size_t>(p)]);
            const int set = edge_set.empty() ? -1 : edge_set[static_cast<std::size_t>(features.seen_in[f])];
            if (set >= 0 && sets[static_cast<std::size_t>(set)].in[static_cast<std::size_t>(y)] ==
                                sets[static_cast<std::size_t>(set)].in[static_cast<std::size_t>(z)])
                continue;
            if (features.row[f] < 0)
                features.row[f] = new_edge_row(features.key[f], name_of(lesson, features, f, edge_templates));
            const i64 row = features.row[f] * L * S;
            if (set >= 0) {
                const LabelSet& shared = sets[static_cast<std::size_t>(set)];
                const double sign = shared.in[static_cast<std::size_t>(y)] ? 1.0 : -1.0;
                delta.add(place_of(WeightKind::edge, row + shared.first / L * S + shared.first % L) | SHARED, sign);
            } else {
                delta.add(place_of(WeightKind::edge, row + y / L * S + y % L), 1.0);
                delta.add(place_of(WeightKind::edge, row + z / L * S + z % L), -1.0);
            }
        }
    }

    // v·δ
    double along(const Difference& delta) {
        double total = 0.0;
        for (const Difference::Term& term : delta.terms())
            total += term.value * static_cast<double>(w.at(term.place & ~SHARED));
        return total;
    }

    void move(const Difference& delta, double tau, const SequenceOptions& options) {
        for (const Difference::Term& term : delta.terms()) {
            if (term.value == 0.0) continue;
            const double step = tau * term.value;
            write(w, term.place, static_cast<float>(step));
            if (options.averaged) write(sum, term.place, static_cast<float>(run.clock * step));
            if (log) log->add(term.place, static_cast<float>(step));
            run.touched += options.averaged ? 2 : 1;
        }
    }

    void close(double q, std::vector<float>& edge) {
        ++run.updates;
        run.radius2 = std::max(run.radius2, q);
        if (log) log->close();
        edge = masked_edges(w);
    }

    void mira(Sentences& lesson, i64 begin, i64 n, const std::int32_t* truth, const SequenceOptions& options,
              std::vector<float>& edge) {
        std::vector<Difference> deltas;
        std::vector<double> losses;
        double worst = 0.0;
        for (const ScoredPath& rival : rivals_) {
            if (rival.labels == target_) continue;
            if (static_cast<i64>(deltas.size()) == options.k) break;
            deltas.emplace_back();
            differ(lesson, begin, n, target_, rival.labels, deltas.back());
            losses.push_back(hamming(rival.labels, truth, n) - along(deltas.back()));
            worst = std::max(worst, losses.back());
        }
        if (worst <= LOSS_FLOOR) return;
        const std::size_t k = deltas.size();
        std::vector<double> gram(k * k);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j <= i; ++j) gram[i * k + j] = gram[j * k + i] = deltas[i].dot(deltas[j]);
        const std::vector<double> alpha = solve_mira(gram, losses, options.rule.C);
        double q = 0.0;
        difference_.clear();
        for (std::size_t j = 0; j < k; ++j) {
            if (alpha[j] == 0.0) continue;
            for (const Difference::Term& term : deltas[j].terms()) difference_.add(term.place, alpha[j] * term.value);
            q = std::max(q, gram[j * k + j]);
        }
        if (difference_.squared_norm() == 0.0) return;
        move(difference_, 1.0, options);
        close(q, edge);
    }

    // ---------------------------------------------------------------- helpers

    FeatureName name_of(const Sentences& lesson, const FeatureSet& features, std::size_t f,
                        const Templates& templates) {
        const std::int32_t in = features.seen_in[f], at = features.seen_at[f];
        if (in == RAW) return {RAW, {at}};
        FeatureName name{in, {}};
        const auto sentence = std::upper_bound(lesson.start.begin(), lesson.start.end(), static_cast<i64>(at)) - 1;
        const i64 begin = *sentence, end = *(sentence + 1);
        std::vector<Id> ids(static_cast<std::size_t>(columns.width()));
        for (const Part& part : templates[static_cast<std::size_t>(in)].parts) {
            const i64 t = at + part.offset;
            if (t < begin) {
                name.ids.push_back(before(static_cast<int>(begin - t)));
            } else if (t >= end) {
                name.ids.push_back(behind(static_cast<int>(t - end + 1)));
            } else {
                columns.spread(lesson.base.data() + t * lesson.n_base, ids.data());
                name.ids.push_back(ids[static_cast<std::size_t>(part.column)]);
            }
        }
        return name;
    }

    void add_up(Potentials& x, i64 n, const LabelWeights& v, const float* edge) const {
        x.unary.resize(static_cast<std::size_t>(n * S));
        for (i64 t = 0; t < n; ++t) {
            const i64 first = x.start[static_cast<std::size_t>(t)];
            sum_rows(x.rows.data() + first, x.values.empty() ? nullptr : x.values.data() + first,
                     x.start[static_cast<std::size_t>(t) + 1] - first, S, x.unary.data() + t * S);
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
        if (row < 0) return;
        i64& offset = x.offsets[static_cast<std::size_t>(t)];
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
                if (free || constraints.pair[static_cast<std::size_t>(p * L + y)])
                    mask_[static_cast<std::size_t>(p * S + y)] = 0.0f;
            if (free || constraints.start[static_cast<std::size_t>(p)]) start_[static_cast<std::size_t>(p)] = 0.0f;
            if (free || constraints.stop[static_cast<std::size_t>(p)]) stop_[static_cast<std::size_t>(p)] = 0.0f;
        }
    }

    void widen(LabelWeights& v, i64 n_labels) const {
        LabelWeights wider(n_labels, trigrams);
        const i64 to = padded(n_labels);
        wider.state.resize(v.state.size());
        wider.edge.resize(std::max<i64>(1, v.edge.size()));
        for (i64 r = 0; r < v.state.size(); ++r) std::copy_n(v.state.row(r), L, wider.state.row(r));
        for (i64 r = 0; L > 0 && r < v.edge.size(); ++r)
            for (i64 p = 0; p < L; ++p) std::copy_n(v.edge.row(r) + p * S, L, wider.edge.row(r) + p * to);
        for (i64 q = 0; trigrams && q < L; ++q)
            for (i64 p = 0; p < L; ++p)
                std::copy_n(v.triple.row(0) + (q * L + p) * S, L, wider.triple.row(0) + (q * n_labels + p) * to);
        v = std::move(wider);
    }

    static void copy(const RowStore& from, RowStore& to) {
        to.resize(from.size());
        for (i64 r = 0; r < from.size(); ++r) std::copy_n(from.row(r), from.width(), to.row(r));
    }

    static void average(const RowStore& w, const RowStore& sum, RowStore& v, double clock) {
        v.resize(w.size());
        const auto by = static_cast<float>(1.0 / clock);
        for (i64 r = 0; r < w.size(); ++r) {
            const float *from = w.row(r), *less = sum.row(r);
            float* to = v.row(r);
            for (i64 c = 0; c < w.width(); ++c) to[c] = from[c] - less[c] * by;
        }
    }

    std::vector<float> mask_, start_, stop_;  // 0 or −∞: L × S, S, S
    Viterbi viterbi_;
    SegmentViterbi segments_;
    Potentials potentials_;
    Difference difference_;
    std::vector<int> path_, best_, target_;
    std::vector<float> constrained_;
    std::vector<ScoredPath> rivals_;
};

}  // namespace perceptive
