// A sequence model: templates, labels and weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "linear.hpp"
#include "sequence/label_rows.hpp"
#include "sequence/segment_features.hpp"
#include "sequence/segments.hpp"
#include "sequence/sentences.hpp"
#include "sequence/update_log.hpp"

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

    // Whether v is a vector of this model, perhaps of before it had all of its features.
    bool has(const LabelWeights& v) const {
        return v.state.size() <= w.state.size() && v.edge.size() <= w.edge.size() &&
               v.state.width() == w.state.width() && v.edge.width() == w.edge.width() &&
               v.triple.width() == w.triple.width();
    }

    // 0 or −∞ for each label, padded: whether a sentence may begin or end with it.
    const float* may_begin() const { return start_.data(); }
    const float* may_end() const { return stop_.data(); }

    // v's weights of label pairs, −∞ where constraints forbid and in the padding.
    std::vector<float> masked_edges(const LabelWeights& v) const {
        std::vector<float> edge(mask_);
        const float* base = v.edge.row(0);
        for (std::size_t i = 0; i < edge.size(); ++i) edge[i] += base[i];
        return edge;
    }

    // ---------------------------------------------------------------- weights

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
