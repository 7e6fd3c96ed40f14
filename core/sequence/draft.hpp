// δ = Φ(x, y*) − Φ(x, ŷ) of a sentence: the features that two label sequences do not share.
//
// A feature gets a row of weights when it first errs, and rows are numbered as they are made. So δ is made in two
// steps: threads draft those of several sentences, where a feature without a row stands for itself; then one thread
// completes them, sentence by sentence.
#pragma once

#include <algorithm>
#include <vector>

#include "sequence/feature_difference.hpp"
#include "sequence/model.hpp"

namespace perceptive {

using RowsOf = std::vector<std::int32_t> SentenceRows::*;  // features of labels, of pairs of labels, or of segments

// A feature that has no row yet.
struct NewFeature {
    RowsOf of;
    std::int32_t number;
    Key key;
    FeatureName name;

    bool pairs() const { return of == &SentenceRows::edge; }
};

// Those of a draft, in the order in which they were met; some more than once. Their memory is used again.
class NewFeatures {
  public:
    void clear() { size_ = 0; }
    NewFeature& add() {
        if (size_ == all_.size()) all_.emplace_back();
        return all_[size_++];
    }
    bool empty() const { return size_ == 0; }
    const NewFeature* begin() const { return all_.data(); }
    const NewFeature* end() const { return all_.data() + size_; }

  private:
    std::vector<NewFeature> all_;
    std::size_t size_ = 0;
};

struct Draft {
    // Marks of places whose feature has no row: its number stands for it. Segments have numbers of their own.
    static constexpr Place NUMBER = Place{1} << 60, SEGMENT = Place{1} << 59;

    FeatureDifference delta;
    NewFeatures missing;
    double m = 0.0;  // v·δ

    // Work m out; a feature without a row weighs nothing.
    void measure(const SequenceModel& model) {
        double total = 0.0;
        for (const FeatureDifference::Term& term : delta.terms()) {
            if (term.place & NUMBER) continue;
            total += term.value * static_cast<double>(model.w.get(term.place & ~SHARED));
            model.sum.expect(term.place);  // where the step will go, too
        }
        m = total;
    }

    // Make the rows that are missing.
    void complete(SequenceModel& model, SentenceRows& rows) {
        if (missing.empty()) return;
        bool all_new = true;
        for (const NewFeature& feature : missing) model.kind(feature.pairs()).rows.prefetch(feature.key);
        for (const NewFeature& feature : missing) {
            std::int32_t& row = (rows.*feature.of)[feature.number];
            if (row >= 0) continue;
            const i64 next = (feature.pairs() ? model.w.edge : model.w.state).size();
            row = model.new_row(feature.pairs(), feature.key, feature.name);
            all_new &= row == next;
        }
        missing.clear();
        delta.move([&](Place place) {
            if (!(place & NUMBER)) return place;
            const WeightKind kind = kind_of_place(place);
            const RowsOf of = place & SEGMENT             ? &SentenceRows::segment
                              : kind == WeightKind::state ? &SentenceRows::state
                                                          : &SentenceRows::edge;
            const i64 offset = offset_of(place & ~(NUMBER | SEGMENT)), width = model.w.rows(kind).width();
            return place_of(kind, (rows.*of)[offset / width] * width + offset % width) | (place & SHARED);
        });
        if (!all_new) measure(model);  // the model had a row, with weights, from other sentences
    }
};

// Drafts the δ of a sentence; changes nothing else.
class Drafter {
  public:
    Drafter(SequenceModel& model, const Sentences& data, const SentenceRows& rows, i64 i, Draft& draft)
        : model_(model),
          data_(data),
          rows_(rows),
          begin_(data.start[i]),
          end_(data.start[i + 1]),
          delta_(draft.delta),
          missing_(draft.missing) {}

    // δ = Φ(x, right) − Φ(x, wrong)
    void differ(const std::vector<int>& right, const std::vector<int>& wrong) {
        const i64 n = end_ - begin_;
        delta_.clear(), missing_.clear();
        for (i64 t = 0; t < n; ++t) {
            const auto at = static_cast<std::size_t>(t);
            const i64 y = right[at], z = wrong[at];
            if (y != z) differ_token(false, begin_ + t, y, z);
            if (t == 0) continue;
            const i64 py = right[at - 1], pz = wrong[at - 1];
            if (py == pz && y == z) continue;
            if (model_.bigrams) {
                delta_.add(place_of(WeightKind::edge, py * model_.S + y), 1.0);
                delta_.add(place_of(WeightKind::edge, pz * model_.S + z), -1.0);
            }
            if (model_.edge.templates.size()) differ_token(true, begin_ + t, py * model_.L + y, pz * model_.L + z);
        }
        if (model_.types.on()) {
            differ_segments(right, wrong, 1.0);
            differ_segments(wrong, right, -1.0);
        }
        if (!model_.trigrams) return;
        for (i64 t = 2; t < n; ++t) {
            const auto at = static_cast<std::size_t>(t);
            const i64 y = (right[at - 2] * model_.L + right[at - 1]) * model_.S + right[at];
            const i64 z = (wrong[at - 2] * model_.L + wrong[at - 1]) * model_.S + wrong[at];
            if (y == z) continue;
            delta_.add(place_of(WeightKind::triple, y), 1.0);
            delta_.add(place_of(WeightKind::triple, z), -1.0);
        }
    }

  private:
    // δ += the features of a token with y, less those with z: labels, or pairs of labels.
    void differ_token(bool pairs, i64 token, i64 y, i64 z) {
        const FeatureSet& features = pairs ? data_.edge : data_.state;
        const RowsOf of = pairs ? &SentenceRows::edge : &SentenceRows::state;
        const FeatureKind& kind = model_.kind(pairs);
        const i64 width = pairs ? model_.L * model_.S : model_.S;
        for (i64 p = features.start[token]; p < features.start[token + 1]; ++p) {
            const std::int32_t f = features.number[p];
            const int set = kind.label_set.empty() ? -1 : kind.set_of(features.seen_in[f]);
            const double value = features.value.empty() ? 1.0 : static_cast<double>(features.value[p]);
            if (set >= 0 && model_.sets[set].in[y] == model_.sets[set].in[z]) continue;
            const std::int32_t known = (rows_.*of)[f];
            if (known < 0) name_token(of, f);
            const i64 row = (known < 0 ? f : known) * width;
            const auto place = [&](i64 label) {
                return place_of(pairs ? WeightKind::edge : WeightKind::state, row + model_.column(pairs, label)) |
                       (known < 0 ? Draft::NUMBER : 0);
            };
            if (set >= 0) {
                delta_.add(place(model_.sets[set].first) | SHARED, model_.sets[set].in[y] ? value : -value);
            } else {
                delta_.add(place(y), value);
                delta_.add(place(z), -value);
            }
        }
    }

    // δ += sign · the features of the segments of `path` that `other` has not
    void differ_segments(const std::vector<int>& path, const std::vector<int>& other, double sign) {
        const FeatureSet& features = data_.segment;
        const i64 n = end_ - begin_;
        each_segment(model_.types, path.data(), n, [&](i64 X, i64 begin, i64 end) {
            const bool same = std::equal(path.begin() + begin, path.begin() + end, other.begin() + begin);
            if (same && (end == n || other[end] != model_.types.inside[X])) return;
            const auto slot = static_cast<std::size_t>(data_.segments[begin_ + begin] + end - begin - 1);
            for (i64 p = features.start[slot]; p < features.start[slot + 1]; ++p) {
                const std::int32_t f = features.number[p], known = rows_.segment[f];
                if (known < 0) name_segment(f, begin_ + begin, end - begin);
                const i64 row = known < 0 ? f : known;
                delta_.add(place_of(WeightKind::state, row * model_.S + model_.types.begin[X]) |
                               (known < 0 ? Draft::NUMBER | Draft::SEGMENT : 0),
                           sign);
            }
        });
    }

    FeatureName& begin_name(RowsOf of, const FeatureSet& features, std::int32_t f) {
        NewFeature& feature = missing_.add();
        feature.of = of, feature.number = f, feature.key = features.key[f];
        feature.name.template_index = features.seen_in[f];
        feature.name.ids.clear();
        return feature.name;
    }

    // What the template of a feature reads where it was first seen. Templates may share features, as those of a bag of
    // words do: elsewhere another of them may have fired.
    void name_token(RowsOf of, std::int32_t f) {
        const bool pairs = of == &SentenceRows::edge;
        const FeatureSet& features = pairs ? data_.edge : data_.state;
        const i64 token = features.seen_at[f];
        FeatureName& name = begin_name(of, features, f);
        if (name.template_index == RAW) {
            name.ids.push_back(features.seen_at[f]);
            return;
        }
        const auto end = std::upper_bound(data_.start.begin(), data_.start.end(), token);
        for (const Part& part : model_.kind(pairs).templates[name.template_index].parts) {
            const i64 t = token + part.offset;
            name.ids.push_back(t < end[-1] ? before(static_cast<int>(end[-1] - t))
                               : t >= *end ? behind(static_cast<int>(t - *end + 1))
                                           : value_of(part.column, t));
        }
    }

    // What a feature says of a segment where it fires.
    void name_segment(std::int32_t f, i64 first, i64 length) {
        FeatureName& name = begin_name(&SentenceRows::segment, data_.segment, f);
        const std::int32_t kind = name.template_index;
        if (kind == SEGMENT_LENGTH) name.ids.push_back(static_cast<Id>(length));
        if (kind <= SEGMENT_IN) name.ids.push_back(1);
        if (kind != SEGMENT_TEXT && kind != SEGMENT_SHAPE) return;
        const int column = kind == SEGMENT_TEXT ? model_.segment_features.text : model_.segment_features.shape;
        for (i64 t = first; t < first + length; ++t) {
            const Id id = value_of(column, t);
            if (kind == SEGMENT_TEXT || name.ids.empty() || name.ids.back() != id) name.ids.push_back(id);
        }
    }

    Id value_of(int column, i64 token) {
        return model_.columns.value_of(column, data_.base.data() + token * data_.n_base);
    }

    SequenceModel& model_;  // derived columns are worked out when they are first asked for
    const Sentences& data_;
    const SentenceRows& rows_;
    const i64 begin_, end_;  // the tokens of the sentence
    FeatureDifference& delta_;
    NewFeatures& missing_;
};

// δ and m of sentence i.
inline void draft(SequenceModel& model, const Sentences& data, const SentenceRows& rows, i64 i,
                  const std::vector<int>& right, const std::vector<int>& wrong, Draft& draft) {
    Drafter(model, data, rows, i, draft).differ(right, wrong);
    draft.measure(model);
}

}  // namespace perceptive
