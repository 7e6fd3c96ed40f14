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
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sequence/model_state.hpp"

namespace perceptive {

// Weights that shards have changed: entries [start[i], start[i + 1]) are those of row[i], in the order of columns. The
// rows are in ascending order.
struct ChangedRows {
    struct Change {
        std::int32_t column;
        float step, spread;
    };
    i64 width = 0;
    std::vector<i64> row;
    std::vector<std::size_t> start{0};
    std::vector<Change> change;

    void close_row(i64 r) {
        row.push_back(r);
        start.push_back(change.size());
    }

    // These rows and others, which have the numbers `to` here; equal ones add up, the first shard's first: the sum is
    // the same whoever asks.
    ChangedRows with(const ChangedRows& other, const std::vector<i64>& to) const {
        ChangedRows both{width, {}, {0}, {}};
        both.row.reserve(row.size() + other.row.size());
        both.change.reserve(change.size() + other.change.size());
        std::size_t i = 0;
        std::vector<std::size_t> order(other.row.size());
        for (std::size_t j = 0; j < order.size(); ++j) order[j] = j;
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return to[a] < to[b]; });
        const auto mine = [&](i64 before) {
            for (; i < row.size() && row[i] < before; ++i) {
                both.change.insert(both.change.end(), begin(i), begin(i + 1));
                both.close_row(row[i]);
            }
        };
        for (const std::size_t j : order) {
            mine(to[j]);
            const bool meet = i < row.size() && row[i] == to[j];
            auto at = meet ? begin(i) : change.cend();
            const auto end = meet ? begin(i + 1) : change.cend();
            for (auto theirs = other.begin(j); theirs != other.begin(j + 1); ++theirs) {
                while (at != end && at->column < theirs->column) both.change.push_back(*at++);
                both.change.push_back(*theirs);
                if (at == end || at->column != theirs->column) continue;
                both.change.back().step = at->step + theirs->step;
                both.change.back().spread = at->spread + theirs->spread;
                ++at;
            }
            both.change.insert(both.change.end(), at, end);
            both.close_row(to[j]);
            if (meet) ++i;
        }
        mine(INT64_MAX);
        return both;
    }

  private:
    std::vector<Change>::const_iterator begin(std::size_t i) const {
        return change.cbegin() + static_cast<std::ptrdiff_t>(start[i]);
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
            const std::vector<std::int32_t> first = first_of_name(kind.templates);
            for (i64 r = base[pairs]; r < w.size(); ++r) {
                const Id* ids = kind.names.ids(r);
                const std::size_t n = kind.names.count(r);
                const std::int32_t in = kind.names.template_of(r);
                names[pairs].push_back({in < 0 ? in : first[static_cast<std::size_t>(in)], {ids, ids + n}});
                keys[pairs].push_back(key_of(kind.names.template_of(r), ids, n, kind.templates));
            }
        }
        for (const WeightKind kind : WEIGHT_KINDS) depart(kind, model, replica);
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
        for (const WeightKind kind : WEIGHT_KINDS) {
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

    // v ← v + step/Σ ω, and what belongs to it; the sentences that the shards have played, if they are here, get the
    // rows that are new.
    void apply(SequenceModel& model, SentenceRows* in) const {
        model.unpack();
        for (const bool pairs : {false, true}) {
            require((pairs ? model.w.edge : model.w.state).size() == base[pairs], "the model has learned meanwhile");
            for (std::size_t r = 0; r < keys[pairs].size(); ++r) model.new_row(pairs, keys[pairs][r], names[pairs][r]);
        }
        const double before = model.run.clock, clock = before + run.clock;
        for (const WeightKind kind : WEIGHT_KINDS) {
            RowStore &w = model.w.rows(kind), &sum = model.sum.rows(kind);
            const ChangedRows& rows = changed[static_cast<std::size_t>(kind)];
            for (std::size_t i = 0; i < rows.row.size(); ++i) {
                const i64 r = rows.row[i];
                for (std::size_t k = rows.start[i]; k < rows.start[i + 1]; ++k) {
                    const ChangedRows::Change& by = rows.change[k];
                    const float v = w.get(r, by.column), less = sum.get(r, by.column);
                    const double from = static_cast<double>(v);
                    const auto moved =
                        static_cast<float>(from + (weight ? static_cast<double>(by.step) / weight : 0.0));
                    w.set(r, by.column, moved);
                    sum.set(r, by.column,
                            static_cast<float>(static_cast<double>(less) + clock * (static_cast<double>(moved) - from) -
                                               static_cast<double>(by.spread)));
                }
            }
        }
        model.run.mix(run, weight, weighted_updates, 0.0, heaviest);
        model.fingerprint += fingerprint;
        if (!in) return;
        std::vector<std::int32_t>* const of[3] = {&in->state, &in->edge, &in->segment};
        for (int k = 0; k < 3; ++k)
            for (const auto& [f, r] : given_[k]) {
                require(f < of[k]->size(), "these are the rows of other sentences");
                (*of[k])[f] = r;
            }
    }

    // For a way through a network, to who does not have the sentences.
    Arrays state() const {
        Arrays arrays;
        for (const bool pairs : {false, true}) {
            const std::string prefix = pairs ? "edge" : "state";
            std::vector<std::int32_t> in, ids, lengths;
            for (const FeatureName& name : names[pairs]) {
                in.push_back(name.template_index), lengths.push_back(static_cast<std::int32_t>(name.ids.size()));
                ids.insert(ids.end(), name.ids.begin(), name.ids.end());
            }
            arrays.emplace_back(prefix + ".key", keys[pairs]);
            arrays.emplace_back(prefix + ".template", narrowest(in));
            arrays.emplace_back(prefix + ".values", narrowest(ids));
            arrays.emplace_back(prefix + ".lengths", narrowest(lengths));
        }
        for (const WeightKind kind : WEIGHT_KINDS) {
            const ChangedRows& rows = changed[static_cast<std::size_t>(kind)];
            const std::string prefix = "changed" + std::to_string(static_cast<int>(kind));
            std::vector<std::int32_t> row, count, column;
            std::vector<float> step, spread;
            for (std::size_t i = 0; i < rows.row.size(); ++i) {
                row.push_back(static_cast<std::int32_t>(rows.row[i] - (i ? rows.row[i - 1] : 0)));  // mostly small
                count.push_back(static_cast<std::int32_t>(rows.start[i + 1] - rows.start[i]));
            }
            for (const ChangedRows::Change& by : rows.change)
                column.push_back(by.column), step.push_back(by.step), spread.push_back(by.spread);
            arrays.emplace_back(prefix + ".row", narrowest(row));
            arrays.emplace_back(prefix + ".count", narrowest(count));
            arrays.emplace_back(prefix + ".column", narrowest(column));
            arrays.emplace_back(prefix + ".step", std::move(step));
            arrays.emplace_back(prefix + ".spread", std::move(spread));
        }
        arrays.emplace_back("counts", std::vector<i64>{run.rounds, run.mistakes, run.updates, run.touched, base[0],
                                                       base[1], changed[0].width, changed[1].width, changed[2].width});
        arrays.emplace_back(
            "sums", std::vector<double>{run.criterion, run.clock, run.radius2, weight, heaviest, weighted_updates});
        arrays.emplace_back("fingerprint", std::vector<std::uint64_t>{fingerprint});
        return arrays;
    }

    explicit SequenceMixture(const ArrayViews& arrays) {
        constexpr const char* wrong = "a mixture has arrived damaged";
        for (const bool pairs : {false, true}) {
            const std::string prefix = pairs ? "edge" : "state";
            const Numbers in(arrays, prefix + ".template"), ids(arrays, prefix + ".values");
            const Numbers lengths(arrays, prefix + ".lengths");
            keys[pairs] = arrays.get<Key>(prefix + ".key").copy();
            require(in.size() == keys[pairs].size() && lengths.size() == in.size(), wrong);
            std::size_t at = 0;
            for (std::size_t r = 0; r < in.size(); ++r) {
                names[pairs].push_back({in[r], {}});
                for (std::int32_t n = lengths[r]; n > 0; --n) {
                    require(at < ids.size(), wrong);
                    names[pairs].back().ids.push_back(ids[at++]);
                }
            }
        }
        const auto counts = arrays.get<i64>("counts").copy();
        const auto sums = arrays.get<double>("sums").copy();
        require(counts.size() == 9 && sums.size() == 6, wrong);
        run.rounds = counts[0], run.mistakes = counts[1], run.updates = counts[2], run.touched = counts[3];
        base[0] = counts[4], base[1] = counts[5];
        run.criterion = sums[0], run.clock = sums[1], run.radius2 = sums[2];
        weight = sums[3], heaviest = sums[4], weighted_updates = sums[5];
        fingerprint = arrays.get<std::uint64_t>("fingerprint").copy().at(0);
        for (const WeightKind kind : WEIGHT_KINDS) {
            const auto k = static_cast<std::size_t>(kind);
            const std::string prefix = "changed" + std::to_string(k);
            const Numbers row(arrays, prefix + ".row"), count(arrays, prefix + ".count");
            const Numbers column(arrays, prefix + ".column");
            const auto step = arrays.get<float>(prefix + ".step"), spread = arrays.get<float>(prefix + ".spread");
            require(row.size() == count.size() && column.size() == step.size && column.size() == spread.size, wrong);
            changed[k].width = counts[6 + k];
            i64 r = 0;
            for (std::size_t i = 0, at = 0; i < row.size(); ++i) {
                for (std::int32_t n = count[i]; n > 0; --n, ++at) {
                    require(at < column.size(), wrong);
                    changed[k].change.push_back({column[at], step.data[at], spread.data[at]});
                }
                changed[k].close_row(r += row[i]);
            }
        }
    }

    Progress run;  // of all shards together
    std::uint64_t fingerprint = 0;
    double weight = 0.0;            // Σ ω_i
    double heaviest = 0.0;          // the largest ω_i
    double weighted_updates = 0.0;  // Σ ω_i·k_i; the theorem of sequences is not about mistakes

  private:
    // Template → the first that shares its features. Which of them saw a feature first depends on who has the
    // sentences, the shard alone or one process with all of them.
    static std::vector<std::int32_t> first_of_name(const Templates& templates) {
        std::unordered_map<int, std::int32_t> known;
        std::vector<std::int32_t> first;
        for (std::size_t k = 0; k < templates.size(); ++k)
            first.push_back(known.emplace(templates[k].name, static_cast<std::int32_t>(k)).first->second);
        return first;
    }

    // What has changed of one kind. A weight whose steps at several rounds cancel out in the sum has moved all the
    // same.
    void depart(WeightKind kind, const SequenceModel& model, const SequenceModel& replica) {
        const RowStore &from = model.w.rows(kind), &to = replica.w.rows(kind), &sum = replica.sum.rows(kind);
        ChangedRows& found = changed[static_cast<std::size_t>(kind)];
        found.width = to.width();
        const double clock = replica.run.clock;
        const auto change = [&](i64 c, float before, float now, float less) {
            if (now == before && less == 0.0f) return;
            const double by = static_cast<double>(now) - static_cast<double>(before);
            const auto moved = static_cast<float>(weight * by);
            const auto apart = static_cast<float>(clock * by - static_cast<double>(less));
            found.change.push_back({static_cast<std::int32_t>(c), moved, apart});
        };
        const bool vectors = from.vectors() && to.vectors() && sum.vectors();
        const std::vector<float> zeros(vectors ? static_cast<std::size_t>(to.width()) : 0, 0.0f);
        std::vector<i64> columns;
        for (i64 r = 0; r < to.size(); ++r) {
            const bool known = r < from.size();
            if (vectors) {
                const float *before = known ? from.row(r) : zeros.data(), *now = to.row(r), *less = sum.row(r);
                if (!differ(before, now, less, to.width())) continue;  // most rows, in later epochs
                for (i64 c = 0; c < to.width(); ++c) change(c, before[c], now[c], less[c]);
            } else {
                columns_of({known ? &from : nullptr, &to, &sum}, r, columns);
                for (const i64 c : columns) change(c, known ? from.get(r, c) : 0.0f, to.get(r, c), sum.get(r, c));
            }
            if (found.change.size() > found.start.back()) found.close_row(r);
        }
    }

    static bool differ(const float* before, const float* now, const float* less, i64 width) {
        int found = 0;
        for (i64 c = 0; c < width; ++c) found |= (now[c] != before[c]) | (less[c] != 0.0f);
        return found != 0;
    }

    // The columns in which one of some rows may not be 0.
    static void columns_of(std::initializer_list<const RowStore*> stores, i64 r, std::vector<i64>& columns) {
        columns.clear();
        for (const RowStore* store : stores)
            if (store) store->each(r, [&](i64 c, float) { columns.push_back(c); });
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
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
