// The trellis of a sentence under the weights of a model, and what it says: paths, margins, leads.
#pragma once

#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "sequence/model.hpp"
#include "sequence/pair_matrices.hpp"
#include "sequence/paths.hpp"
#include "sequence/potentials.hpp"
#include "sequence/segment_paths.hpp"
#include "sequence/viterbi.hpp"

namespace perceptive {

class SequenceScores {
  public:
    explicit SequenceScores(const SequenceModel& model) : model_(model) {}

    // What was kept of the weights of pairs is no longer true: all of it, or that of a place.
    void forget() { matrices_.clear(); }
    void change(Place place, const PairWeights& edge) { matrices_.change(model_.w, place, edge); }

    // The trellis of a sentence of the data under v; `edge` are v's masked weights of pairs.
    void gather(const Sentences& data, const SentenceRows& rows, i64 i, const LabelWeights& v, const PairWeights& edge,
                Potentials& x) {
        const i64 begin = data.start[i], end = data.start[i + 1];
        const bool valued = !data.state.value.empty();
        const FeatureSet& features = data.state;
        RowsOfSentence found(v.state, static_cast<std::size_t>(features.start[end] - features.start[begin]), x);
        const auto *number = features.number.data(), *row_of = rows.state.data();
        for (i64 t = begin; t < end; ++t) {
            for (i64 p = features.start[t], last = features.start[t + 1]; p < last; ++p) {
                const std::int32_t row = row_of[number[p]];
                if (row < 0) continue;
                found.add(row);
                if (valued) x.values.push_back(features.value[p]);
            }
            found.end_token();
        }
        add_up(x, end - begin, v, edge);
        if (model_.types.on()) gather_segments(data, rows, begin, end - begin, v, x);
        if (!model_.edge.templates.size()) return;
        const FeatureSet& pairs = data.edge;
        begin_edges(x, end - begin);
        for (i64 t = begin + 1; t < end; ++t) {
            for (i64 p = pairs.start[t]; p < pairs.start[t + 1]; ++p) add_edge(x, rows.edge[pairs.number[p]], v);
            end_edge(x, t - begin, v, edge);
        }
    }

    // Keys of a sentence that is not to be learned from.
    struct Keys {
        std::vector<Key> state, edge;  // n × templates
        std::vector<i64> raw_start;    // features given by name
        std::vector<std::pair<Id, float>> raw;
    };

    void keys(const Window& window, i64 n, Keys& keys) const {
        const std::size_t T = model_.state.templates.size(), E = model_.edge.templates.size();
        keys.state.resize(static_cast<std::size_t>(n) * T);
        keys.edge.resize(static_cast<std::size_t>(n) * E);
        for (i64 t = 0; t < n; ++t) {
            Key* mine = keys.state.data() + static_cast<std::size_t>(t) * T;
            model_.state.templates.keys(window.at(t), mine);
            for (std::size_t k = 0; k < T; ++k) model_.state.rows.prefetch(mine[k]);
            if (E) model_.edge.templates.keys(window.at(t), keys.edge.data() + static_cast<std::size_t>(t) * E);
        }
    }

    void gather(const Keys& keys, i64 n, const LabelWeights& v, const PairWeights& edge, Potentials& x) {
        const std::size_t T = model_.state.templates.size(), E = model_.edge.templates.size();
        const i64 n_rows = v.state.size();
        RowsOfSentence found(v.state, keys.state.size() + keys.raw.size(), x);
        const bool valued = !keys.raw.empty() || !model_.scale.empty();
        const auto add = [&](Key key, float value) {
            const std::int32_t row = key == NO_KEY ? -1 : model_.state.rows.find(key);
            if (row < 0 || row >= n_rows) return;
            found.add(row);
            if (valued) x.values.push_back(value);
        };
        for (i64 t = 0; t < n; ++t) {
            const Key* mine = keys.state.data() + static_cast<std::size_t>(t) * T;
            for (std::size_t k = 0; k < T; ++k) add(mine[k], model_.scale.empty() ? 1.0f : model_.scale[k]);
            if (!keys.raw.empty())
                for (i64 p = keys.raw_start[t]; p < keys.raw_start[t + 1]; ++p)
                    add(SequenceModel::raw_key(keys.raw[p].first), keys.raw[p].second);
            found.end_token();
        }
        add_up(x, n, v, edge);
        if (!E) return;
        begin_edges(x, n);
        for (i64 t = 1; t < n; ++t) {
            for (std::size_t k = 0; k < E; ++k) {
                const Key key = keys.edge[static_cast<std::size_t>(t) * E + k];
                add_edge(x, key == NO_KEY ? -1 : model_.edge.rows.find(key), v);
            }
            end_edge(x, t, v, edge);
        }
    }

    // Scores of the segments of a sentence that is not to be learned from.
    void gather_segments(const Window& window, const std::string_view* const* cells, i64 n, const LabelWeights& v,
                         Potentials& x) const {
        clear_segments(n, x);
        for (i64 b = 0; b < n; ++b) {
            float* to = x.segments.data() + b * x.longest * model_.types.size();
            model_.segment_features.each_key(
                window, cells, b, std::min(x.longest, n - b), [&](i64 length, int, Key key) {
                    add_segment(model_.state.rows.find(key), v, to + (length - 1) * model_.types.size());
                });
        }
    }

    // The best path, through segments where there are any.
    double decode(const Potentials& x, Viterbi& viterbi, SegmentViterbi& segments, int* path) const {
        return decode(x.trellis, x, viterbi, segments, path);
    }
    double decode(const Trellis& trellis, const Potentials& x, Viterbi& viterbi, SegmentViterbi& segments,
                  int* path) const {
        if (!model_.types.on()) return viterbi(trellis, path);
        return segments(trellis, model_.types, segment_scores(x), path);
    }

    // The best path of a beam. Of the trellis only the states that the beam kept are left, whose best path it is: so
    // the k best and max-marginals of what is left belong to it.
    double narrow(Potentials& x, i64 beam, Viterbi& viterbi, SegmentViterbi& segments, int* path) const {
        Trellis& trellis = x.trellis;
        trellis.beam = beam;
        const double best = decode(x, viterbi, segments, path);
        trellis.beam = 0;
        if (beam == 0 || model_.types.on()) return best;
        const i64 n = trellis.n, L = trellis.L, S = trellis.S;
        if (!trellis.triple || n < 2) {
            for (i64 t = 0; t < n; ++t)
                for (i64 y = 0; y < L; ++y)
                    if (!viterbi.kept(trellis, t, 0, y)) x.unary[t * S + y] = NEVER;
            return best;
        }
        x.narrowed.assign(static_cast<std::size_t>(n), {});
        std::vector<const PairWeights*> at(static_cast<std::size_t>(n), nullptr);
        for (i64 t = 1; t < n; ++t) {
            std::vector<float>& edges = x.narrowed[t].edge;
            edges.assign(static_cast<std::size_t>(L * S), NEVER);
            const float* from = trellis.edge_at(t);
            for (i64 p = 0; p < L; ++p)
                for (i64 y = 0; y < L; ++y)
                    if (viterbi.kept(trellis, t, p, y)) edges[p * S + y] = from[p * S + y];
            at[t] = &x.narrowed[t];
        }
        x.pairs_at.swap(at);
        trellis.pairs = x.pairs_at.data();
        return best;
    }

    // The k best paths, and the best through each token and label.
    std::vector<ScoredPath> best_paths(const Potentials& x, i64 k) const {
        return model_.types.on() ? SegmentKBest()(x.trellis, model_.types, segment_scores(x), k) : k_best(x.trellis, k);
    }
    std::vector<double> marginals(const Potentials& x) const {
        return model_.types.on() ? max_marginals(x.trellis, model_.types, segment_scores(x)) : max_marginals(x.trellis);
    }

    double score(const Potentials& x, const int* path) const {
        return model_.types.on() ? path_score(x.trellis, model_.types, segment_scores(x), path)
                                 : path_score(x.trellis, path);
    }

    // Token t must have the given label, or one of the given choice.
    void force(Potentials& x, i64 t, std::int32_t given, const Choices& choices) const {
        float* row = x.unary.data() + t * model_.S;
        choices.each_other(given, model_.L, [&](i64 y) { row[y] = NEVER; });
    }

    // For each sentence of the data: how much better y* scores than the best other sequence under v; ∞ without another.
    std::vector<double> leads(const Sentences& data, const LabelWeights& v) {
        forget();
        const PairWeights edge = model_.masked_edges(v);
        Potentials x;
        std::vector<double> found;
        std::vector<int> truth;
        for (i64 i = 0; i < data.size(); ++i) {
            gather(data, data.rows, i, v, edge, x);
            truth.assign(data.label.begin() + data.start[i], data.label.begin() + data.start[i + 1]);
            double rival = -std::numeric_limits<double>::infinity();
            for (const ScoredPath& path : best_paths(x, 2))
                if (path.labels != truth) rival = std::max(rival, path.score);
            found.push_back(score(x, truth.data()) - rival);
        }
        return found;
    }

  private:
    SegmentScores segment_scores(const Potentials& x) const {
        return {x.segments.data(), x.longest, model_.types.size()};
    }

    void clear_segments(i64 n, Potentials& x) const {
        x.longest = std::min(model_.types.longest, n);
        x.segments.assign(static_cast<std::size_t>(n * x.longest * model_.types.size()), 0.0f);
    }

    void add_segment(std::int32_t row, const LabelWeights& v, float* to) const {
        if (row < 0 || row >= v.state.size()) return;  // v may be older than the model
        for (i64 X = 0; X < model_.types.size(); ++X) to[X] += v.state.get(row, model_.types.begin[X]);
    }

    void gather_segments(const Sentences& data, const SentenceRows& rows, i64 first, i64 n, const LabelWeights& v,
                         Potentials& x) const {
        clear_segments(n, x);
        const FeatureSet& features = data.segment;
        for (i64 b = 0; b < n; ++b)
            for (i64 length = 1; length <= std::min(x.longest, n - b); ++length) {
                const auto slot = static_cast<std::size_t>(data.segments[first + b] + length - 1);
                float* to = x.segments.data() + (b * x.longest + length - 1) * model_.types.size();
                for (i64 p = features.start[slot]; p < features.start[slot + 1]; ++p)
                    add_segment(rows.segment[features.number[p]], v, to);
            }
    }

    void add_up(Potentials& x, i64 n, const LabelWeights& v, const PairWeights& edge) const {
        x.unary.resize(static_cast<std::size_t>(n * model_.S));
        if (!v.state.vectors()) {
            constexpr i64 AHEAD = 8;
            const i64 all = static_cast<i64>(x.numbers.size());
            std::fill(x.unary.begin(), x.unary.end(), 0.0f);
            for (i64 i = 0; i < std::min(AHEAD, all); ++i) v.state.prefetch_entries(x.numbers[i]);
            for (i64 t = 0; t < n; ++t)
                for (i64 i = x.start[t]; i < x.start[t + 1]; ++i) {
                    if (i + AHEAD < all) v.state.prefetch_entries(x.numbers[i + AHEAD]);
                    v.state.add_to(x.numbers[i], x.values.empty() ? 1.0f : x.values[i], x.unary.data() + t * model_.S);
                }
        } else {
            for (i64 t = 0; t < n; ++t) {
                const i64 first = x.start[t];
                sum_rows(x.rows.data() + first, x.values.empty() ? nullptr : x.values.data() + first,
                         x.start[t + 1] - first, model_.S, x.unary.data() + t * model_.S);
            }
        }
        x.trellis = Trellis{};
        x.trellis.n = n, x.trellis.L = model_.L, x.trellis.S = model_.S;
        x.trellis.unary = x.unary.data();
        x.trellis.pair = &edge;
        x.trellis.triple = model_.trigrams ? v.triple.row(0) : nullptr;
        x.trellis.start = model_.may_begin();
        x.trellis.stop = model_.may_end();
    }

    void begin_edges(Potentials& x, i64 n) {
        matrices_.begin_sentence();
        x.pairs_at.assign(static_cast<std::size_t>(n), nullptr);
        x.trellis.pairs = x.pairs_at.data();
    }

    void add_edge(Potentials& x, std::int32_t row, const LabelWeights& v) const {
        if (row >= 0 && row < v.edge.size()) x.edge_rows.push_back(row);  // v may be older than the model
    }

    void end_edge(Potentials& x, i64 t, const LabelWeights& v, const PairWeights& edge) {
        if (!x.edge_rows.empty()) x.pairs_at[t] = matrices_.of(x.edge_rows, v, edge);
        x.edge_rows.clear();
    }

    const SequenceModel& model_;
    PairMatrices matrices_{model_};
};

}  // namespace perceptive
