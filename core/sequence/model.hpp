// A sequence model: templates, labels and weights.
#pragma once

#include <algorithm>
#include <cfloat>
#include <string>
#include <utility>
#include <vector>

#include "require.hpp"
#include "round.hpp"
#include "sequence/label_rows.hpp"
#include "sequence/segment_features.hpp"
#include "sequence/segments.hpp"
#include "sequence/sentences.hpp"
#include "sequence/weight_updates.hpp"

namespace perceptive {

constexpr i64 MAX_LABELS = 1 << 12;  // tables of all pairs have 16 million entries then

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

// The features of one kind: those of a label (state), or of a label and the one before it (edge).
struct FeatureKind {
    Templates templates;
    KeyTable rows = {};               // key → row of weights
    FeatureNames names = {};          // of every row; that of edge row 0, which is of all tokens, is empty
    std::vector<int> label_set = {};  // template → label set, or −1; empty: none has one

    int set_of(std::int32_t in) const { return in >= 0 && !label_set.empty() ? label_set[in] : -1; }
};

class SequenceModel {
  public:
    SequenceModel(Columns columns, std::vector<Template> state, std::vector<Template> edge, bool bigrams, bool trigrams)
        : columns(std::move(columns)),
          state{Templates(std::move(state), this->columns.width())},
          edge{Templates(std::move(edge), this->columns.width())},
          bigrams(bigrams),
          trigrams(trigrams),
          w(0, trigrams),
          sum(0, trigrams) {
        this->edge.names.add({RAW, {}});
    }

    // The same model with the same v, at the start of a run of its own. It keeps no journal.
    SequenceModel replica() const {
        SequenceModel twin(columns, {}, {}, bigrams, trigrams);
        twin.state = state, twin.edge = edge;
        twin.scale = scale, twin.sets = sets, twin.raw = raw;
        twin.L = L, twin.S = S;
        twin.w = w.copy(), twin.sum = zeros();
        twin.constraints = constraints, twin.types = types, twin.segment_features = segment_features;
        twin.masks();
        return twin;
    }

    Columns columns;
    FeatureKind state, edge;
    std::vector<float> scale;  // the value of each state template's features; empty: 1
    std::vector<LabelSet> sets;
    bool bigrams, trigrams;  // whether there are weights for pairs and triples of labels alone
    Symbols raw;             // names of features given by name

    i64 L = 0, S = 0;
    LabelWeights w, sum;
    Constraints constraints;
    SegmentTypes types;
    SegmentFeatures segment_features;
    Progress run;
    std::uint64_t fingerprint = 0;  // of the sentences played, in whatever order
    WeightJournal journal;
    bool keeps_journal = false;

    const FeatureKind& kind(bool pairs) const { return pairs ? edge : state; }
    FeatureKind& kind(bool pairs) { return pairs ? edge : state; }
    // Where a label, or a pair p·L + y, stands in its row.
    i64 column(bool pairs, i64 label) const { return pairs ? label / L * S + label % L : label; }
    i64 label_at(bool pairs, i64 column) const { return pairs ? column / S * L + column % S : column; }

    WeightJournal* log() { return keeps_journal ? &journal : nullptr; }

    // More labels; those that are there keep their numbers and weights.
    void set_labels(i64 n_labels) {
        require(n_labels >= L && n_labels <= MAX_LABELS, "the number of labels may grow, up to 4096");
        unpack();
        w = w.widened(L, n_labels);
        sum = sum.widened(L, n_labels);
        if (keeps_journal) journal.updates.widen(L, n_labels);
        L = n_labels;
        S = padded(L);
        constraints = {};
        masks();
    }

    void set_constraints(Constraints given) {
        const auto fits = [](const std::vector<char>& v, i64 n) { return static_cast<i64>(v.size()) == n; };
        require(given.pair.empty() || (fits(given.pair, L * L) && fits(given.start, L) && fits(given.stop, L)),
                "constraints do not fit the labels");
        constraints = std::move(given);
        masks();
    }

    // Which set each template has (−1: none), and the labels (or pairs) of each.
    void set_label_sets(std::vector<int> of_state, std::vector<int> of_edge,
                        const std::vector<std::vector<i64>>& members) {
        require(of_state.size() == state.templates.size() && of_edge.size() == edge.templates.size(),
                "give one label set for each template");
        std::vector<char> of_pairs(members.size(), 0);
        for (const std::vector<int>* of : {&of_state, &of_edge})
            for (const int s : *of) require(s < static_cast<int>(members.size()), "there is no such label set");
        for (const int s : of_edge)
            if (s >= 0) of_pairs[s] = 1;
        for (const int s : of_state) require(s < 0 || !of_pairs[s], "a label set is of labels or of pairs, not both");
        std::vector<LabelSet> made;
        for (std::size_t s = 0; s < members.size(); ++s) {
            const i64 size = of_pairs[s] ? L * L : L;
            LabelSet set{std::vector<char>(static_cast<std::size_t>(size), 0), size};
            for (const i64 member : members[s]) {
                require(member >= 0 && member < size, "a label set contains an unknown label");
                set.in[member] = 1;
                set.first = std::min(set.first, member);
            }
            if (set.first == size) set.first = 0;
            made.push_back(std::move(set));
        }
        sets = std::move(made);
        state.label_set = std::move(of_state);
        edge.label_set = std::move(of_edge);
        share();
    }

    void set_scale(std::vector<float> given) {
        require(given.empty() || given.size() == state.templates.size(), "give one scale for each template");
        for (const float s : given) require(s > 0 && s <= FLT_MAX, "a scale must be positive and finite");
        scale = std::move(given);
    }

    // Segments of at most `longest` tokens; labels B-X, I-X (−1: none) of each type, and O (−1: none).
    void set_segments(i64 longest, std::vector<int> begin, std::vector<int> inside, int outside) {
        const auto known = [&](int y) { return y >= -1 && y < L; };
        bool sound = begin.size() == inside.size() && known(outside);
        for (std::size_t X = 0; sound && X < begin.size(); ++X)
            sound = begin[X] >= 0 && known(begin[X]) && known(inside[X]);
        require(sound, "segments have unknown labels");
        require(longest >= 1 && longest < (1 << 16), "segments have from 1 to 65535 tokens");
        types = {longest, std::move(begin), std::move(inside), outside};
    }

    void keep_journal(i64 max_voters) {
        journal.max_voters = max_voters;
        keeps_journal = true;
    }

    // The columns that segments are read in (−1: not read), and the dictionaries of whole segments.
    void set_segment_features(int text, int shape, const std::vector<std::vector<std::string>>& phrases) {
        require(text < columns.width() && shape < columns.width(), "segments are read in unknown columns");
        require(phrases.size() < 1000, "there are too many dictionaries");
        segment_features = {};
        segment_features.text = text;
        segment_features.shape = shape;
        for (const auto& words : phrases) segment_features.add_phrases(words);
    }

    // Whether a sentence fits: all labels are known, and no segment is longer than the model's.
    void check(const Sentences& data, i64 i) const {
        require(data.longest == types.longest, "the sentences were prepared for segments of another length");
        i64 tokens = 0;
        for (i64 t = data.start[i]; t < data.start[i + 1]; ++t) {
            const std::int32_t label = data.label[t];
            require(label < L, "the sentences have an unknown label");
            if (!types.on()) continue;
            const bool goes_on = std::find(types.inside.begin(), types.inside.end(), label) != types.inside.end();
            tokens = label >= 0 && goes_on ? tokens + 1 : 1;
            require(tokens <= data.longest, "a segment is too long");
        }
    }

    static Key raw_key(Id id) { return mix(0x13198A2E03707344ull, static_cast<Key>(id)) | 1; }

    // Whether v is a vector of this model, perhaps of before it had all of its features.
    bool has(const LabelWeights& v) const {
        return v.state.size() <= w.state.size() && v.edge.size() <= w.edge.size() &&
               v.state.width() == w.state.width() && v.edge.width() == w.edge.width() &&
               v.triple.width() == w.triple.width();
    }

    // 0 or −∞ for each label, padded: whether a sentence may begin or end with it.
    const float* may_begin() const { return start_.data(); }
    const float* may_end() const { return stop_.data(); }

    // v's weights of label pairs, masked.
    PairWeights masked_edges(const LabelWeights& v) const {
        PairWeights pairs{mask_};
        const float* base = v.edge.row(0);
        for (std::size_t i = 0; i < pairs.edge.size(); ++i) pairs.edge[i] += base[i];
        if (S > WIDEST_VECTOR) {
            if (!constraints.pair.empty()) pairs.followers = &followers_;
            pairs.bound(L, S);
        }
        return pairs;
    }
    // The same after v's weight of a pair has changed.
    void mask_again(const LabelWeights& v, Place place, PairWeights& pairs) const {
        const i64 at = offset_of(place);
        if (at >= L * S) return;
        pairs.edge[at] = mask_[at] + v.edge.row(0)[at];
        if (pairs.bounded()) pairs.meet(at / S, pairs.edge[at]);
    }

    // ‖v‖²; a shared weight counts once.
    double squared_norm(const LabelWeights& v) const {
        double total = 0.0;
        const auto add = [&](float weight) { total += static_cast<double>(weight) * static_cast<double>(weight); };
        for (const bool pairs : {false, true}) {
            const RowStore& store = pairs ? v.edge : v.state;
            for (i64 r = 0; r < store.size(); ++r) {
                const int set = kind(pairs).set_of(kind(pairs).names.template_of(r));
                if (set >= 0)
                    add(store.get(r, column(pairs, sets[set].first)));
                else
                    store.each(r, [&](i64, float weight) { add(weight); });
            }
        }
        if (trigrams) std::for_each(v.triple.row(0), v.triple.row(0) + v.triple.width(), add);
        return total;
    }

    // The weights of the average: v − sum/clock; while the run is open (round.hpp) v is credited with one round more.
    LabelWeights average() const {
        const double clock = run.clock + (run.open || run.clock == 0.0 ? 1.0 : 0.0);
        return w.minus(sum, static_cast<float>(1.0 / clock));
    }

    // v ← voter `to`, given v = voter `from`
    void replay(i64 from, i64 to, LabelWeights& v) const {
        const WeightUpdates& all = journal.updates;
        for (i64 i = all.first[from]; i < all.first[to]; ++i) write(v, all.place[i], all.step[i]);
    }

    // A vector of zeros with a row for every feature: voter 0.
    LabelWeights zeros() const {
        LabelWeights v(L, trigrams);
        v.state.resize(w.state.size());
        v.edge.resize(w.edge.size());
        return v;
    }

    // The rows that the features of some sentences have by now. Those that are known may be of another time: rows keep
    // their numbers, but there may be fewer.
    void find_rows(const Sentences& data, SentenceRows& in) const {
        const auto find = [](const FeatureSet& features, const FeatureKind& kind, i64 n,
                             std::vector<std::int32_t>& row) {
            const auto unknown = [&](std::size_t f) { return row[f] < 0 || row[f] >= n; };
            for (std::size_t f = 0; f < row.size(); ++f) {
                if (f + 16 < row.size() && unknown(f + 16)) kind.rows.prefetch(features.key[f + 16]);
                if (unknown(f)) row[f] = kind.rows.find(features.key[f]);
            }
        };
        find(data.state, state, w.state.size(), in.state);
        find(data.edge, edge, w.edge.size(), in.edge);
        find(data.segment, state, w.state.size(), in.segment);
    }

    // All rows as rows: before they are learned from, copied or looked at one by one.
    void unpack() {
        w.state.unpack();
        sum.state.resize(w.state.size());
    }

    // The row of a feature that gets weights now.
    std::int32_t new_row(bool pairs, Key key, const FeatureName& name) {
        RowStore &rows = pairs ? w.edge : w.state, &sums = pairs ? sum.edge : sum.state;
        const auto row = static_cast<std::int32_t>(rows.size());
        const std::int32_t found = kind(pairs).rows.insert(key, row);
        if (found != row) return found;
        rows.add(), sums.add();
        kind(pairs).names.add(name);
        return row;
    }

    // v[place] += step. A shared weight is written to all of its labels.
    PERCEPTIVE_INLINE void write(LabelWeights& v, Place place, float step) const {
        if (place & SHARED)
            write_shared(v, place, step);
        else
            v.write(place, step);
    }
    void write_shared(LabelWeights& v, Place place, float step) const {
        const bool pairs = kind_of_place(place) == WeightKind::edge;
        RowStore& store = pairs ? v.edge : v.state;
        const i64 row = offset_of(place) / store.width();
        const LabelSet& set = sets[kind(pairs).label_set[kind(pairs).names.template_of(row)]];
        for (i64 i = 0; i < static_cast<i64>(set.in.size()); ++i)
            if (set.in[i]) store.write(row, column(pairs, i), step);
    }

    // Labels that have joined a set get its weight. New labels come behind the others, so the first has it.
    void share() {
        unpack();
        for (LabelWeights* v : {&w, &sum})
            for (const bool pairs : {false, true}) {
                RowStore& store = pairs ? v->edge : v->state;
                for (i64 row = 0; row < store.size(); ++row) {
                    const int set = kind(pairs).set_of(kind(pairs).names.template_of(row));
                    if (set < 0) continue;
                    const float shared = store.get(row, column(pairs, sets[set].first));
                    for (i64 i = 0; i < static_cast<i64>(sets[set].in.size()); ++i)
                        if (sets[set].in[i]) store.set(row, column(pairs, i), shared);
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
        followers_ = free || S <= WIDEST_VECTOR ? Followers() : Followers(constraints.pair, L);
    }

    std::vector<float> mask_, start_, stop_;  // 0 or −∞: L × S, S, S
    Followers followers_;
};

}  // namespace perceptive
