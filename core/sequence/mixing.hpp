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
#include <utility>
#include <vector>

#include "sequence/model_state.hpp"

namespace perceptive {

class SequenceMixture {
  public:
    // What a replica of a model has become, with the weight 1, or that of its updates.
    SequenceMixture(const SequenceModel& model, const SequenceModel& replica, bool by_updates)
        : step(model.L, model.trigrams), spread(model.L, model.trigrams) {
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
        for (const WeightKind kind : {WeightKind::state, WeightKind::edge, WeightKind::triple})
            depart(kind, model, replica);
    }

    // The mixture of these shards and others; equal features meet in one row.
    void add(const SequenceMixture& other) {
        for (const bool pairs : {false, true})
            require(base[pairs] == other.base[pairs] && step.state.width() == other.step.state.width(),
                    "the shards started from different models");
        std::vector<i64> to[2];
        for (const bool pairs : {false, true}) {
            KeyTable mine;
            for (std::size_t r = 0; r < keys[pairs].size(); ++r)
                mine.insert(keys[pairs][r], static_cast<std::int32_t>(r));
            for (std::size_t r = 0; r < other.keys[pairs].size(); ++r) {
                const auto fresh = static_cast<std::int32_t>(keys[pairs].size());
                const std::int32_t row = mine.insert(other.keys[pairs][r], fresh);
                if (row == fresh) {
                    keys[pairs].push_back(other.keys[pairs][r]);
                    names[pairs].push_back(other.names[pairs][r]);
                    (pairs ? step.edge : step.state).add(), (pairs ? spread.edge : spread.state).add();
                }
                to[pairs].push_back(base[pairs] + row);
            }
        }
        for (const auto& [into, from] : {std::pair{&step, &other.step}, {&spread, &other.spread}}) {
            add_rows(into->state, from->state, base[0], to[0]);
            add_rows(into->edge, from->edge, base[1], to[1]);
            add_rows(into->triple, from->triple, from->triple.size(), {});
        }
        run.add(other.run);
        fingerprint += other.fingerprint;
        weight += other.weight;
        heaviest = std::max(heaviest, other.heaviest);
        weighted_updates += other.weighted_updates;
    }

    // v ← v + step/Σ ω, and what belongs to it.
    void apply(SequenceModel& model) const {
        model.unpack();
        for (const bool pairs : {false, true}) {
            require((pairs ? model.w.edge : model.w.state).size() == base[pairs], "the model has learned meanwhile");
            for (std::size_t r = 0; r < keys[pairs].size(); ++r) model.new_row(pairs, keys[pairs][r], names[pairs][r]);
        }
        const double clock = model.run.clock + run.clock;
        for (const WeightKind kind : {WeightKind::state, WeightKind::edge, WeightKind::triple}) {
            RowStore &w = model.w.rows(kind), &sum = model.sum.rows(kind);
            const RowStore &moved = rows(step, kind), &apart = rows(spread, kind);
            for (i64 r = 0; r < w.size(); ++r)
                for (i64 c = 0; c < w.width(); ++c) {
                    const float before = w.row(r)[c];
                    const double by = weight ? static_cast<double>(moved.row(r)[c]) / weight : 0.0;
                    w.row(r)[c] = static_cast<float>(static_cast<double>(before) + by);
                    const double step_made = static_cast<double>(w.row(r)[c]) - static_cast<double>(before);
                    sum.row(r)[c] = static_cast<float>(static_cast<double>(sum.row(r)[c]) + clock * step_made -
                                                       static_cast<double>(apart.row(r)[c]));
                }
        }
        model.run.mix(run, weight, weighted_updates, heaviest);
        model.fingerprint += fingerprint;
    }

    Progress run;  // of all shards together
    std::uint64_t fingerprint = 0;
    double weight = 0.0;            // Σ ω_i
    double heaviest = 0.0;          // the largest ω_i
    double weighted_updates = 0.0;  // Σ ω_i·k_i

  private:
    static const RowStore& rows(const LabelWeights& v, WeightKind kind) {
        return kind == WeightKind::state ? v.state : kind == WeightKind::edge ? v.edge : v.triple;
    }

    void depart(WeightKind kind, const SequenceModel& model, const SequenceModel& replica) {
        const RowStore &from = rows(model.w, kind), &to = rows(replica.w, kind), &sum = rows(replica.sum, kind);
        RowStore &moved = step.rows(kind), &apart = spread.rows(kind);
        moved.resize(to.size()), apart.resize(to.size());
        const double clock = replica.run.clock;
        for (i64 r = 0; r < to.size(); ++r)
            for (i64 c = 0; c < to.width(); ++c) {
                const double before = r < from.size() ? static_cast<double>(from.row(r)[c]) : 0.0;
                const double by = static_cast<double>(to.row(r)[c]) - before;
                const double less = static_cast<double>(sum.row(r)[c]);
                if (by == 0.0 && less == 0.0) continue;
                moved.row(r)[c] = static_cast<float>(weight * by);
                apart.row(r)[c] = static_cast<float>(clock * by - less);
            }
    }

    static void add_rows(RowStore& into, const RowStore& from, i64 base, const std::vector<i64>& to) {
        for (i64 r = 0; r < from.size(); ++r) {
            float* at = into.row(r < base ? r : to[r - base]);
            for (i64 c = 0; c < from.width(); ++c) at[c] += from.row(r)[c];
        }
    }

    i64 base[2] = {0, 0};               // rows of the model: of state features, of edge features
    std::vector<Key> keys[2];           // of the features that are new
    std::vector<FeatureName> names[2];  // of these
    LabelWeights step, spread;
};

}  // namespace perceptive
