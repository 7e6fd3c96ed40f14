// A sequence model as arrays, for snapshots and model files.
//
// Weights are stored sparsely: most features have weights for few labels. Keys are not stored but made again from the
// names. The arrays may come from a hostile file, so everything is checked before it is used.
#pragma once

#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "sequence/model.hpp"

namespace perceptive {

inline void put_symbols(Arrays& arrays, const std::string& prefix, const Symbols& symbols) {
    std::vector<std::int32_t> lengths;
    for (Id i = 0; i < symbols.size(); ++i) lengths.push_back(static_cast<std::int32_t>(symbols.name(i).size()));
    arrays.emplace_back(prefix + ".blob", std::vector<std::uint8_t>(symbols.blob().begin(), symbols.blob().end()));
    arrays.emplace_back(prefix + ".lengths", narrowest(lengths));
}

inline Symbols take_symbols(const ArrayViews& arrays, const std::string& prefix) {
    const auto blob = arrays.get<std::uint8_t>(prefix + ".blob");
    const Numbers lengths(arrays, prefix + ".lengths");
    std::vector<i64> offsets{0};
    offsets.reserve(lengths.size() + 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const std::int32_t length = lengths[i];
        require(length >= 0, "symbols: a negative length");
        offsets.push_back(offsets.back() + length);
    }
    require(offsets.back() == static_cast<i64>(blob.size), "symbols: lengths and text do not match");
    return Symbols(reinterpret_cast<const char*>(blob.data), blob.size, offsets.data(), offsets.size());
}

// The strings that a model knows: of the columns that are given, and names of features.
inline Arrays strings_of(const SequenceModel& model) {
    Arrays arrays;
    for (int b = 0; b < model.columns.base(); ++b)
        put_symbols(arrays, "column" + std::to_string(b), model.columns.symbols(b));
    put_symbols(arrays, "raw", model.raw);
    return arrays;
}

// Let a model know the strings of another; those that are new come behind, in their order.
inline void meet_strings(SequenceModel& model, const ArrayViews& arrays) {
    for (int b = 0; b < model.columns.base(); ++b) {
        const Symbols words = take_symbols(arrays, "column" + std::to_string(b));
        for (Id i = 0; i < words.size(); ++i) model.columns.meet(b, words.name(i));
    }
    const Symbols names = take_symbols(arrays, "raw");
    for (Id i = 0; i < names.size(); ++i) model.raw.add(names.name(i));
}

// The rows of one kind, without their zeros.
struct StoredRows {
    std::vector<std::int32_t> in;  // template
    std::vector<Id> ids;
    std::vector<std::int32_t> lengths;  // of the names of segments; other names have as many values as their template
    std::vector<std::int32_t> count, label;
    std::vector<float> weight, sum;
};

inline Key key_of(std::int32_t in, const Id* ids, std::size_t n, const Templates& templates) {
    if (in >= 0) return templates.key(static_cast<std::size_t>(in), ids);
    return in == RAW ? SequenceModel::raw_key(ids[0]) : SegmentFeatures::key({in, {ids, ids + n}});
}

// The rows of one kind: labels as y, or as previous·L + y. Without sums the rows come in the order of their keys, so
// that loading fills the table from front to back; with sums the journal may know them by number.
inline StoredRows sparse_rows(const SequenceModel& model, const LabelWeights& weights, const LabelWeights* sums,
                              bool pairs, double threshold) {
    StoredRows out;
    const RowStore& w = pairs ? weights.edge : weights.state;
    const RowStore* sum = !sums ? nullptr : pairs ? &sums->edge : &sums->state;
    const FeatureNames& names = model.kind(pairs).names;
    std::vector<WeightEntry<float>> scratch;
    std::vector<i64> order(static_cast<std::size_t>(w.size()));
    std::iota(order.begin(), order.end(), 0);
    if (!sum) {
        std::vector<Key> key(order.size());
        for (i64 r = pairs; r < w.size(); ++r)
            key[r] = key_of(names.template_of(r), names.ids(r), names.count(r), model.kind(pairs).templates);
        std::sort(order.begin() + pairs, order.end(), [&](i64 a, i64 b) {
            return std::make_pair(names.count(a), key[a]) < std::make_pair(names.count(b), key[b]);
        });
    }
    for (const i64 r : order) {
        std::int32_t count = 0;
        const auto put = [&](i64 column, float weight, float less) {
            if (std::abs(static_cast<double>(weight)) <= threshold && less == 0.0f) return;
            out.label.push_back(static_cast<std::int32_t>(model.label_at(pairs, column)));
            out.weight.push_back(weight);
            if (sum) out.sum.push_back(less);
            ++count;
        };
        if (sum)
            each_of_both(w, *sum, r, scratch, put);
        else
            w.each(r, [&](i64 column, float weight) { put(column, weight, 0.0f); });
        // Rows without weights are left out, except those that the journal may point at, and the one of all tokens.
        if (count == 0 && !sum && !(pairs && r == 0)) continue;
        out.in.push_back(names.template_of(r));
        if (names.template_of(r) < RAW) out.lengths.push_back(static_cast<std::int32_t>(names.count(r)));
        out.ids.insert(out.ids.end(), names.ids(r), names.ids(r) + names.count(r));
        out.count.push_back(count);
    }
    return out;
}

inline void put_rows(Arrays& arrays, const std::string& prefix, StoredRows from, bool sums) {
    for (const auto& [name, numbers] : {std::pair{".template", &from.in},
                                        {".values", &from.ids},
                                        {".lengths", &from.lengths},
                                        {".count", &from.count},
                                        {".label", &from.label}})
        arrays.emplace_back(prefix + name, narrowest(*numbers));
    arrays.emplace_back(prefix + ".weight", std::move(from.weight));
    if (sums) arrays.emplace_back(prefix + ".sum", std::move(from.sum));
}

// The names of rows from their arrays; their keys, made from these, go into the table. The first row of pairs is that
// of all tokens.
inline void restore_names(const ArrayViews& arrays, const std::string& prefix, SequenceModel& model, bool pairs) {
    FeatureKind& kind = model.kind(pairs);
    const Templates& templates = kind.templates;
    const Numbers given_in(arrays, prefix + ".template"), values(arrays, prefix + ".values");
    const Numbers lengths(arrays, prefix + ".lengths");
    auto ids = populated<std::vector<Id>>(values.size());
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = values[i];
    auto in = populated<std::vector<std::int16_t>>(given_in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::int32_t k = given_in[i];
        require(k >= INT16_MIN && k <= INT16_MAX, "there is no such template");
        in[i] = static_cast<std::int16_t>(k);
    }
    std::vector<std::uint32_t> start{0};
    start.reserve(in.size() + 1);
    populate(start.data(), (in.size() + 1) * sizeof start[0]);
    require(ids.size() < UINT32_MAX, "too many values");
    require(!pairs || (!in.empty() && in[0] == RAW), "the first row of label pairs must be that of all tokens");
    if (pairs) start.push_back(0);
    kind.rows.reserve(in.size());
    std::vector<std::size_t> first;  // template → where the limits of its parts begin
    std::vector<Id> limits;
    for (std::size_t k = 0; k < templates.size(); ++k) {
        first.push_back(limits.size());
        for (const Part& part : templates[k].parts)
            limits.push_back(FIRST_ID + model.columns.symbols(part.column).size());
    }
    first.push_back(limits.size());
    std::size_t end = 0, segments = 0;
    for (std::size_t r = pairs; r < in.size(); ++r) {
        const std::int32_t k = in[r];
        const bool given = k == RAW, segment = k < RAW;
        require(k < static_cast<std::int32_t>(templates.size()) && (k >= 0 || !pairs), "there is no such template");
        std::size_t parts = given ? 1 : 0;
        if (segment) {
            require(segments < lengths.size(), "values are missing");
            const std::int32_t length = lengths[segments++];
            require(length > 0, "values are missing");
            parts = static_cast<std::size_t>(length);
        } else if (!given) {
            parts = first[k + 1] - first[k];
        }
        require(ids.size() - end >= parts, "values are missing");
        const Id* mine = ids.data() + end;
        end += parts;
        start.push_back(static_cast<std::uint32_t>(end));
        bool sound = true;
        for (std::size_t p = 0; p < parts; ++p) {
            if (given)
                sound &= mine[p] >= 0 && mine[p] < model.raw.size();
            else if (segment)
                sound &= mine[p] > 0 && (k <= SEGMENT_IN || k == SEGMENT_LENGTH || mine[p] >= FIRST_ID);
            else
                sound &= mine[p] > ABSENT && mine[p] < limits[first[k] + p] &&
                         (mine[p] >= FIRST_ID || mine[p] <= 2 * MAX_OFFSET);
        }
        require(sound, "there is no such value");
        const auto row = static_cast<std::int32_t>(r);
        require(kind.rows.insert(key_of(k, mine, parts, templates), row) == row, "a feature appears twice");
    }
    require(end == ids.size() && segments == lengths.size(), "values and rows do not match");
    kind.names = FeatureNames(std::move(in), std::move(ids), std::move(start));
}

// The weights of all rows of one kind.
inline void restore_weights(const ArrayViews& arrays, const std::string& prefix, SequenceModel& model, bool pairs,
                            bool sums, bool packed) {
    const i64 n = static_cast<i64>(model.kind(pairs).rows.size()) + pairs;
    RowStore &w = pairs ? model.w.edge : model.w.state, &sum = pairs ? model.sum.edge : model.sum.state;
    const Numbers count(arrays, prefix + ".count"), label(arrays, prefix + ".label");
    const auto weight = arrays.get<float>(prefix + ".weight");
    require(static_cast<i64>(count.size()) == n && label.size() == weight.size, "weights and rows do not match");
    require(weight.size < UINT32_MAX, "too many weights");
    PackedRows rows;
    rows.start.reserve(count.size() + 1);
    std::size_t end = 0;
    for (std::size_t r = 0; r < count.size(); ++r) {
        const std::int32_t c = count[r];
        require(c >= 0 && weight.size - end >= static_cast<std::size_t>(c), "weights are missing");
        end += static_cast<std::size_t>(c);
        rows.start.push_back(static_cast<std::uint32_t>(end));
    }
    require(end == weight.size, "weights and rows do not match");
    rows.entry.resize(end);
    const i64 labels = pairs ? model.L * model.L : model.L;
    for (std::size_t i = 0; i < end; ++i) {
        const std::int32_t y = label[i];
        require(y >= 0 && y < labels, "there is no such label");
        const float value = weight.data[i];
        require(std::isfinite(value), "a weight is not finite");
        rows.entry[i].weight = value;
        rows.entry[i].column = static_cast<std::int32_t>(model.column(pairs, y));
    }
    if (sums) {
        const auto less = arrays.get<float>(prefix + ".sum");
        require(less.size == end, "weights and rows do not match");
        sum.resize(n);
        for (i64 r = 0; r < n; ++r)
            for (std::uint32_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
                const float value = less.data[i];
                require(std::isfinite(value), "a weight is not finite");
                sum.write(r, rows.entry[i].column, value);
            }
    }
    w.set_packed(std::move(rows));
    if (packed) return;
    w.unpack();
    sum.resize(n);
}

// The weights of the run, or of one vector alone without those up to a threshold. `model` has been unpacked.
inline Arrays state_of(const SequenceModel& model, const LabelWeights* vector, double threshold) {
    Arrays arrays;
    const LabelWeights& w = vector ? *vector : model.w;
    const LabelWeights* sum = vector ? nullptr : &model.sum;
    const bool sums = sum && model.run.clock > 0;  // else all are zero
    if (!vector) threshold = 0.0;
    put_rows(arrays, "state", sparse_rows(model, w, sum, false, threshold), sums);
    put_rows(arrays, "edge", sparse_rows(model, w, sum, true, threshold), sums);
    if (model.trigrams) {
        const auto put_triples = [&](const char* name, const RowStore& from) {
            arrays.emplace_back(name, std::vector<float>(from.row(0), from.row(0) + from.width()));
        };
        put_triples("triple.weight", w.triple);
        if (sums) put_triples("triple.sum", sum->triple);
    }
    for (int c = 0; c < model.columns.width(); ++c)
        put_symbols(arrays, "column" + std::to_string(c), model.columns.symbols(c));
    put_symbols(arrays, "raw", model.raw);
    const Progress& run = model.run;
    arrays.emplace_back("run", std::vector<double>{static_cast<double>(run.rounds), static_cast<double>(run.mistakes),
                                                   static_cast<double>(run.updates), static_cast<double>(run.touched),
                                                   run.criterion, run.radius2, vector ? 0.0 : run.clock});
    if (run.open) arrays.emplace_back("open", std::vector<double>{1.0});
    if (run.mixed_rounds && !vector)
        arrays.emplace_back(
            "mixed", std::vector<double>{static_cast<double>(run.mixed_rounds), static_cast<double>(run.mixed_updates),
                                         run.weighted_updates, run.heaviest});
    if (model.keeps_journal && !vector) {
        const WeightUpdates& updates = model.journal.updates;
        arrays.emplace_back("log.survival", model.journal.survival);
        arrays.emplace_back("log.first", updates.first);
        arrays.emplace_back("log.place", updates.place);
        arrays.emplace_back("log.step", updates.step);
    }
    return arrays;
}

inline void restore_run(SequenceModel& model, const ArrayViews& arrays) {
    const auto run = arrays.get<double>("run").copy();
    require(run.size() == 7, "the counters of the run are wrong");
    for (const double x : run) require(std::isfinite(x) && x >= 0 && x < 9e15, "the counters of the run are wrong");
    model.run.rounds = static_cast<i64>(run[0]), model.run.mistakes = static_cast<i64>(run[1]);
    model.run.updates = static_cast<i64>(run[2]), model.run.touched = static_cast<i64>(run[3]);
    model.run.criterion = run[4], model.run.radius2 = run[5], model.run.clock = run[6];
    model.run.open = arrays.has("open");
    if (!arrays.has("mixed")) return;
    const auto mixed = arrays.get<double>("mixed").copy();
    require(mixed.size() == 4, "the counters of mixing are wrong");
    for (const double x : mixed) require(std::isfinite(x) && x >= 0 && x < 9e15, "the counters of mixing are wrong");
    model.run.mixed_rounds = static_cast<i64>(mixed[0]), model.run.mixed_updates = static_cast<i64>(mixed[1]);
    model.run.weighted_updates = mixed[2], model.run.heaviest = mixed[3];
}

inline void restore_journal(SequenceModel& model, const ArrayViews& arrays) {
    constexpr const char* wrong = "the journal is damaged";
    WeightJournal journal{model.journal.max_voters,
                          arrays.get<i64>("log.survival").copy(),
                          {{arrays.get<i64>("log.first").copy()},
                           arrays.get<Place>("log.place").copy(),
                           arrays.get<float>("log.step").copy()}};
    const std::vector<i64>& first = journal.updates.first;
    const std::vector<Place>& places = journal.updates.place;
    const std::vector<float>& steps = journal.updates.step;
    require(!journal.survival.empty() && first.size() == journal.survival.size() && places.size() == steps.size(),
            wrong);
    require(first.front() == 0 && first.back() == static_cast<i64>(places.size()) &&
                std::is_sorted(first.begin(), first.end()),
            wrong);
    for (const float step : steps) require(std::isfinite(step), "a weight is not finite");
    double played = 0;
    for (const i64 m : journal.survival) {
        require(m >= 0 && (played += static_cast<double>(m)) < 9e15,
                "voters survived more rounds than anyone can play");
    }
    for (const Place place : places) {
        require((place >> 62) <= 2, wrong);
        RowStore& store = model.w.rows(kind_of_place(place));
        require(offset_of(place) < store.size() * store.width(), wrong);
        if (!(place & SHARED)) continue;
        require(kind_of_place(place) != WeightKind::triple, wrong);
        const FeatureKind& kind = model.kind(kind_of_place(place) == WeightKind::edge);
        require(kind.set_of(kind.names.template_of(offset_of(place) / store.width())) >= 0, wrong);
    }
    model.journal = std::move(journal);
}

// Put the arrays of state_of() into a new model.
inline void restore_state(SequenceModel& model, const ArrayViews& arrays) {
    require(model.w.state.size() == 0, "only a new model can be restored");
    std::vector<Symbols> symbols;
    for (int c = 0; c < model.columns.width(); ++c)
        symbols.push_back(take_symbols(arrays, "column" + std::to_string(c)));
    model.columns.restore(std::move(symbols));
    model.raw = take_symbols(arrays, "raw");
    const bool sums = arrays.has("state.sum");
    const bool packed = !sums && !model.keeps_journal && !model.types.on();
    for (const bool pairs : {false, true}) {
        const std::string prefix = pairs ? "edge" : "state";
        restore_names(arrays, prefix, model, pairs);
        restore_weights(arrays, prefix, model, pairs, sums, packed && !pairs);
    }
    if (model.trigrams) {
        const auto take_triples = [&](const char* name, RowStore& to) {
            const auto values = arrays.get<float>(name).copy();
            require(static_cast<i64>(values.size()) == to.width(), "triples of the wrong size");
            for (const float value : values) require(std::isfinite(value), "a weight is not finite");
            std::copy(values.begin(), values.end(), to.row(0));
        };
        take_triples("triple.weight", model.w.triple);
        if (sums) take_triples("triple.sum", model.sum.triple);
    }
    restore_run(model, arrays);
    if (model.keeps_journal && arrays.has("log.survival")) restore_journal(model, arrays);
}

}  // namespace perceptive
