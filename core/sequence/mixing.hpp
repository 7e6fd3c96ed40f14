// Iterative parameter mixing (McDonald, Hall & Mann 2010) of sequence models.
//
// Shard i starts from v, goes to v_i and has been at v_{i,t} in round t. It has a weight ω_i; μ_i = ω_i/Σ ω. A mixture
// of shards is
//
//   step = Σ ω_i·(v_i − v)            v ← v + step/Σ ω
//   spread = Σ_i Σ_t (v_{i,t} − v)    for the average: Σ_t v_t over all rounds of all shards
//
// so that a shard is a mixture of itself alone, and two mixtures add up to one. Both are zero where nothing was
// learned. Features that got their rows in a shard come behind those of the model, in the order of the shards.
//
// With the lazy average Σ_t v_t = clock·v − sum, and with `ticks` rounds in all shards, mixing is
//
//   v ← v + Δ,  clock ← clock + ticks,  sum ← sum + clock·Δ − spread
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "sequence/model_state.hpp"

namespace perceptive {

// Rows of weights that shards have changed, in ascending order.
struct ChangedRows {
    i64 width = 0;
    std::vector<i64> row;
    std::vector<float> step, spread;  // width numbers a row

    void add(i64 r, const float* moved, const float* apart) {
        row.push_back(r);
        step.insert(step.end(), moved, moved + width);
        spread.insert(spread.end(), apart, apart + width);
    }

    // These rows and others, which have the numbers `to` here; equal ones add up.
    ChangedRows with(const ChangedRows& other, const std::vector<i64>& to) const {
        ChangedRows both{width, {}, {}, {}};
        both.row.reserve(row.size() + other.row.size());
        std::size_t i = 0;
        std::vector<std::size_t> order(other.row.size());
        for (std::size_t j = 0; j < order.size(); ++j) order[j] = j;
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return to[a] < to[b]; });
        const auto mine = [&](i64 before) {
            for (; i < row.size() && row[i] < before; ++i)
                both.add(row[i], step.data() + static_cast<i64>(i) * width,
                         spread.data() + static_cast<i64>(i) * width);
        };
        for (const std::size_t j : order) {
            mine(to[j]);
            const i64 at = static_cast<i64>(both.step.size()), from = static_cast<i64>(j) * width;
            both.add(to[j], other.step.data() + from, other.spread.data() + from);
            if (i == row.size() || row[i] != to[j]) continue;
            for (i64 c = 0; c < width; ++c) {  // the first shard's first: the sum is the same whoever asks
                both.step[at + c] = step[static_cast<i64>(i) * width + c] + both.step[at + c];
                both.spread[at + c] = spread[static_cast<i64>(i) * width + c] + both.spread[at + c];
            }
            ++i;
        }
        mine(INT64_MAX);
        return both;
    }
};

class SequenceMixture {
  public:
    // What a replica of a model has become, with the weight 1, or that of its updates.
    // `rows` are those of the sentences that it has played.
    SequenceMixture(const SequenceModel& model, const SequenceModel& replica, const SentenceRows& rows,
                    bool by_updates) {
        run = replica.run;
        fingerprint = replica.fingerprint;
        weight = by_updates ? static_cast<double>(run.updates) : 1.0;
        heaviest = weight;
        weighted_updates = weight * static_cast<double>(run.updates);
        for (const bool pairs : {false, true}) {
            base[pairs] = (pairs ? model.w.edge : model.w.state).size();
            const RowStore& w = pairs ? replica.w.edge : replica.w.state;
            const FeatureKind& kind = replica.kind(pairs);
            for (i64 r = base[pairs]; r < w.size(); ++r) {
                const Id* ids = kind.names.ids(r);
                const std::size_t n = kind.names.count(r);
                names[pairs].push_back({kind.names.template_of(r), {ids, ids + n}});
                keys[pairs].push_back(key_of(kind.names.template_of(r), ids, n, kind.templates));
            }
        }
        for (const WeightKind kind : KINDS) depart(kind, model, replica);
        const std::vector<std::int32_t>* given[3] = {&rows.state, &rows.edge, &rows.segment};
        for (int k = 0; k < 3; ++k)
            for (std::size_t f = 0; f < given[k]->size(); ++f)
                if ((*given[k])[f] >= base[k == 1]) given_[k].emplace_back(f, (*given[k])[f]);
    }

    // The mixture of these shards and others; equal features meet in one row.
    void add(const SequenceMixture& other) {
        for (const bool pairs : {false, true})
            require(base[pairs] == other.base[pairs] && changed[pairs].width == other.changed[pairs].width,
                    "the shards started from different models");
        for (const WeightKind kind : KINDS) {
            const auto k = static_cast<std::size_t>(kind);
            std::vector<i64> to = other.changed[k].row;
            if (kind != WeightKind::triple) {
                const bool pairs = kind == WeightKind::edge;
                const std::vector<i64> number = meet(other, pairs);
                const auto here = [&](i64 r) { return r < base[pairs] ? r : number[r - base[pairs]]; };
                for (i64& r : to) r = here(r);
                for (const int set : pairs ? std::vector<int>{1} : std::vector<int>{0, 2})
                    for (const auto& [f, r] : other.given_[set])
                        given_[set].emplace_back(f, static_cast<std::int32_t>(here(r)));
            }
            changed[k] = changed[k].with(other.changed[k], to);
        }
        run.add(other.run);
        fingerprint += other.fingerprint;
        weight += other.weight;
        heaviest = std::max(heaviest, other.heaviest);
        weighted_updates += other.weighted_updates;
    }

    // v ← v + step/Σ ω, and what belongs to it; the sentences that the shards have played get the rows that are new.
    void apply(SequenceModel& model, SentenceRows& in) const {
        model.unpack();
        for (const bool pairs : {false, true}) {
            require((pairs ? model.w.edge : model.w.state).size() == base[pairs], "the model has learned meanwhile");
            for (std::size_t r = 0; r < keys[pairs].size(); ++r) model.new_row(pairs, keys[pairs][r], names[pairs][r]);
        }
        const double before = model.run.clock, clock = before + run.clock;
        for (const WeightKind kind : KINDS) {
            RowStore &w = model.w.rows(kind), &sum = model.sum.rows(kind);
            const ChangedRows& rows = changed[static_cast<std::size_t>(kind)];
            for (std::size_t i = 0; i < rows.row.size(); ++i) {
                float *v = w.row(rows.row[i]), *less = sum.row(rows.row[i]);
                const float *moved = rows.step.data() + static_cast<i64>(i) * rows.width,
                            *apart = rows.spread.data() + static_cast<i64>(i) * rows.width;
                for (i64 c = 0; c < rows.width; ++c) {
                    const double from = static_cast<double>(v[c]);
                    v[c] = static_cast<float>(from + (weight ? static_cast<double>(moved[c]) / weight : 0.0));
                    less[c] =
                        static_cast<float>(static_cast<double>(less[c]) + clock * (static_cast<double>(v[c]) - from) -
                                           static_cast<double>(apart[c]));
                }
            }
        }
        model.run.mix(run, weight, weighted_updates, heaviest);
        model.fingerprint += fingerprint;
        std::vector<std::int32_t>* const of[3] = {&in.state, &in.edge, &in.segment};
        for (int k = 0; k < 3; ++k)
            for (const auto& [f, r] : given_[k]) {
                require(f < of[k]->size(), "these are the rows of other sentences");
                (*of[k])[f] = r;
            }
    }

    Progress run;  // of all shards together
    std::uint64_t fingerprint = 0;
    double weight = 0.0;            // Σ ω_i
    double heaviest = 0.0;          // the largest ω_i
    double weighted_updates = 0.0;  // Σ ω_i·k_i

  private:
    static constexpr WeightKind KINDS[] = {WeightKind::state, WeightKind::edge, WeightKind::triple};

    static const RowStore& rows(const LabelWeights& v, WeightKind kind) {
        return kind == WeightKind::state ? v.state : kind == WeightKind::edge ? v.edge : v.triple;
    }

    // Every update writes to the sum: a row in which that is 0 is as it was.
    void depart(WeightKind kind, const SequenceModel& model, const SequenceModel& replica) {
        const RowStore &from = rows(model.w, kind), &to = rows(replica.w, kind), &sum = rows(replica.sum, kind);
        ChangedRows& found = changed[static_cast<std::size_t>(kind)];
        found.width = to.width();
        const double clock = replica.run.clock;
        std::vector<float> moved(static_cast<std::size_t>(to.width())), apart(moved.size());
        for (i64 r = 0; r < to.size(); ++r) {
            const float* less = sum.row(r);
            float any = 0.0f;
            for (i64 c = 0; c < to.width(); ++c) any += std::abs(less[c]);
            if (any == 0.0f) continue;
            for (i64 c = 0; c < to.width(); ++c) {
                const double before = r < from.size() ? static_cast<double>(from.row(r)[c]) : 0.0;
                const double by = static_cast<double>(to.row(r)[c]) - before;
                moved[c] = static_cast<float>(weight * by);
                apart[c] = static_cast<float>(clock * by - static_cast<double>(less[c]));
            }
            found.add(r, moved.data(), apart.data());
        }
    }

    // The numbers that the new rows of others have here; features that are new come behind.
    std::vector<i64> meet(const SequenceMixture& other, bool pairs) {
        KeyTable mine;
        mine.reserve(keys[pairs].size() + other.keys[pairs].size());
        for (std::size_t r = 0; r < keys[pairs].size(); ++r) mine.insert(keys[pairs][r], static_cast<std::int32_t>(r));
        std::vector<i64> number;
        for (std::size_t r = 0; r < other.keys[pairs].size(); ++r) {
            const auto fresh = static_cast<std::int32_t>(keys[pairs].size());
            const std::int32_t row = mine.insert(other.keys[pairs][r], fresh);
            if (row == fresh) {
                keys[pairs].push_back(other.keys[pairs][r]);
                names[pairs].push_back(other.names[pairs][r]);
            }
            number.push_back(base[pairs] + row);
        }
        return number;
    }

    i64 base[2] = {0, 0};               // rows of the model: of state features, of edge features
    std::vector<Key> keys[2];           // of the features that are new
    std::vector<FeatureName> names[2];  // of these
    ChangedRows changed[3];             // by kind
    // The features of the sentences that have got rows, and these: of states, of edges, of segments.
    std::vector<std::pair<std::size_t, std::int32_t>> given_[3];
};

}  // namespace perceptive
