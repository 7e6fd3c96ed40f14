// A sequence model as arrays, for snapshots and model files.
//
// Weights are stored sparsely: most features speak for few labels. Keys are not stored but made again from the names.
// The arrays may come from a hostile file, so everything is checked before it is used.
#include <cmath>

#include "tagger.hpp"

namespace perceptive {

namespace {

template <class T>
std::vector<T> take(const nb::dict& state, const std::string& name) {
    if (!state.contains(name.c_str())) throw std::invalid_argument("no array " + name);
    const auto array = nb::cast<Vector<const T>>(state[name.c_str()], false);
    return std::vector<T>(array.data(), array.data() + array.size());
}

void put_symbols(nb::dict& state, const std::string& prefix, const Symbols& symbols) {
    std::vector<std::uint8_t> blob(symbols.blob().begin(), symbols.blob().end());
    std::vector<std::int32_t> lengths;
    for (Id i = 0; i < symbols.size(); ++i) lengths.push_back(static_cast<std::int32_t>(symbols.name(i).size()));
    state[(prefix + ".blob").c_str()] = to_numpy(std::move(blob));
    state[(prefix + ".lengths").c_str()] = to_numpy(std::move(lengths));
}

Symbols take_symbols(const nb::dict& state, const std::string& prefix) {
    const auto blob = take<std::uint8_t>(state, prefix + ".blob");
    const auto lengths = take<std::int32_t>(state, prefix + ".lengths");
    std::vector<i64> offsets{0};
    for (const std::int32_t length : lengths) {
        require(length >= 0, "symbols: a negative length");
        offsets.push_back(offsets.back() + length);
    }
    require(offsets.back() == static_cast<i64>(blob.size()), "symbols: lengths and text do not match");
    return Symbols(reinterpret_cast<const char*>(blob.data()), blob.size(), offsets.data(), offsets.size());
}

struct Sparse {
    std::vector<std::int16_t> in;  // template
    std::vector<Id> ids;
    std::vector<std::uint32_t> count, label;
    std::vector<float> weight, sum;
};

// The rows of one kind: labels as y, or as previous·L + y.
Sparse sparse(const RowStore& w, const RowStore* sum, const FeatureNames& names, i64 L, i64 S, bool pairs,
              double threshold) {
    Sparse out;
    const i64 groups = pairs ? L : 1;
    for (i64 r = 0; r < w.size(); ++r) {
        const float *row = w.row(r), *less = sum ? sum->row(r) : nullptr;
        std::uint32_t count = 0;
        for (i64 p = 0; p < groups; ++p)
            for (i64 y = 0; y < L; ++y) {
                const float value = row[p * S + y];
                if (std::abs(static_cast<double>(value)) <= threshold && !(less && less[p * S + y] != 0.0f)) continue;
                out.label.push_back(static_cast<std::uint32_t>(p * L + y));
                out.weight.push_back(value);
                if (less) out.sum.push_back(less[p * S + y]);
                ++count;
            }
        // Rows without weights are left out, except those that the log may point at, and the one of all tokens.
        if (count == 0 && !less && !(pairs && r == 0)) continue;
        out.in.push_back(static_cast<std::int16_t>(names.template_of(r)));
        if (names.template_of(r) < RAW) out.ids.push_back(static_cast<Id>(names.count(r)));  // a segment's
        out.ids.insert(out.ids.end(), names.ids(r), names.ids(r) + names.count(r));
        out.count.push_back(count);
    }
    return out;
}

void put(nb::dict& state, const std::string& prefix, Sparse from, bool sums) {
    state[(prefix + ".template").c_str()] = to_numpy(std::move(from.in));
    state[(prefix + ".values").c_str()] = to_numpy(std::move(from.ids));
    std::vector<std::uint16_t> count(from.count.begin(), from.count.end()), label(from.label.begin(), from.label.end());
    const bool narrow = std::all_of(from.count.begin(), from.count.end(), [](auto c) { return c <= UINT16_MAX; }) &&
                        std::all_of(from.label.begin(), from.label.end(), [](auto c) { return c <= UINT16_MAX; });
    if (narrow) {
        state[(prefix + ".count").c_str()] = to_numpy(std::move(count));
        state[(prefix + ".label").c_str()] = to_numpy(std::move(label));
    } else {
        state[(prefix + ".count").c_str()] = to_numpy(std::move(from.count));
        state[(prefix + ".label").c_str()] = to_numpy(std::move(from.label));
    }
    state[(prefix + ".weight").c_str()] = to_numpy(std::move(from.weight));
    if (sums) state[(prefix + ".sum").c_str()] = to_numpy(std::move(from.sum));
}

std::vector<std::uint32_t> take_numbers(const nb::dict& state, const std::string& name) {
    if (!state.contains(name.c_str())) throw std::invalid_argument("no array " + name);
    const auto array = nb::cast<ReadOnly>(state[name.c_str()], false);
    if (array.dtype() != nb::dtype<std::uint16_t>()) return take<std::uint32_t>(state, name);
    const auto narrow = take<std::uint16_t>(state, name);
    return std::vector<std::uint32_t>(narrow.begin(), narrow.end());
}

// Rows of one kind from their arrays; add(name) makes the row of a feature.
template <class Add>
void restore_rows(const nb::dict& state, const std::string& prefix, const Templates& templates, const Columns& columns,
                  const Symbols& raw, RowStore& w, RowStore& sum, i64 L, i64 S, bool pairs, bool sums, Add add) {
    const auto in = take<std::int16_t>(state, prefix + ".template");
    const auto ids = take<Id>(state, prefix + ".values");
    const auto count = take_numbers(state, prefix + ".count"), label = take_numbers(state, prefix + ".label");
    const auto weight = take<float>(state, prefix + ".weight");
    const auto less = sums ? take<float>(state, prefix + ".sum") : std::vector<float>();
    require(count.size() == in.size() && label.size() == weight.size() && (!sums || less.size() == weight.size()),
            "weights and rows do not match");
    std::size_t at = 0, id = 0;
    FeatureName name;
    for (std::size_t r = 0; r < in.size(); ++r) {
        name.template_index = in[r];
        name.ids.clear();
        i64 row = 0;
        if (!(pairs && r == 0)) {
            const bool given = in[r] == RAW && !pairs, segment = in[r] < RAW && !pairs;
            require(given || segment || (in[r] >= 0 && static_cast<std::size_t>(in[r]) < templates.size()),
                    "no such template");
            if (segment) require(id < ids.size() && ids[id] > 0 && ids[id] < (1 << 16), "values are missing");
            const std::size_t parts = segment ? static_cast<std::size_t>(ids[id++])
                                      : given ? 1
                                              : templates[in[r]].parts.size();
            require(ids.size() - id >= parts, "values are missing");
            for (std::size_t p = 0; p < parts; ++p, ++id) {
                if (segment) {
                    require(ids[id] > 0 && (in[r] <= SEGMENT_IN || in[r] == SEGMENT_LENGTH || ids[id] >= FIRST_ID),
                            "no such value");
                } else if (given) {
                    require(ids[id] >= 0 && ids[id] < raw.size(), "no such value");
                } else {
                    const int column = templates[in[r]].parts[p].column;
                    require(ids[id] > ABSENT && ids[id] < FIRST_ID + columns.symbols(column).size() &&
                                (ids[id] >= FIRST_ID || ids[id] <= 2 * MAX_OFFSET),
                            "no such value");
                }
                name.ids.push_back(ids[id]);
            }
            row = add(name);
        } else {
            require(in[r] == RAW, "the first row of pairs is that of all tokens");
        }
        require(weight.size() - at >= count[r], "weights are missing");
        for (std::uint32_t c = 0; c < count[r]; ++c, ++at) {
            require(label[at] < static_cast<std::uint32_t>(pairs ? L * L : L), "no such label");
            const i64 to = pairs ? label[at] / L * S + label[at] % L : label[at];
            w.row(row)[to] = weight[at];
            if (sums) sum.row(row)[to] = less[at];
        }
    }
    require(at == weight.size() && id == ids.size(), "weights and rows do not match");
}

}  // namespace

nb::dict state_of(const Tagger& tagger, const Hypothesis* vector, double threshold) {
    nb::dict state;
    const SequenceModel& model = tagger.model();
    const LabelWeights& w = vector ? vector->v : model.w;
    const LabelWeights* sum = vector ? nullptr : &model.sum;
    if (!vector) threshold = 0.0;
    put(state, "state",
        sparse(w.state, sum ? &sum->state : nullptr, model.state_names, model.L, model.S, false, threshold),
        sum != nullptr);
    put(state, "edge", sparse(w.edge, sum ? &sum->edge : nullptr, model.edge_names, model.L, model.S, true, threshold),
        sum != nullptr);
    if (model.trigrams) {
        const float* from = w.triple.row(0);
        state["triple.weight"] = to_numpy(std::vector<float>(from, from + w.triple.width()));
        if (sum) {
            from = sum->triple.row(0);
            state["triple.sum"] = to_numpy(std::vector<float>(from, from + w.triple.width()));
        }
    }
    for (int c = 0; c < model.columns.width(); ++c)
        put_symbols(state, "column" + std::to_string(c), model.columns.symbols(c));
    put_symbols(state, "raw", model.raw);
    const Progress& run = model.run;
    state["run"] = to_numpy(std::vector<double>{static_cast<double>(run.rounds), static_cast<double>(run.mistakes),
                                                static_cast<double>(run.updates), static_cast<double>(run.touched),
                                                run.criterion, run.radius2, vector ? 0.0 : run.clock});
    if (model.log && !vector) {
        const UpdateLog& log = tagger.log();
        state["log.survival"] = to_numpy(log.survival);
        state["log.first"] = to_numpy(log.first);
        state["log.place"] = to_numpy(log.place);
        state["log.step"] = to_numpy(log.step);
    }
    return state;
}

void restore_state(Tagger& tagger, const nb::dict& state) {
    SequenceModel& model = tagger.model();
    require(model.w.state.size() == 0, "only a new model can be restored");
    std::vector<Symbols> symbols;
    for (int c = 0; c < model.columns.width(); ++c)
        symbols.push_back(take_symbols(state, "column" + std::to_string(c)));
    model.columns.restore(std::move(symbols));
    model.raw = take_symbols(state, "raw");
    const bool sums = state.contains("state.sum");
    model.state_rows.reserve(take<std::int16_t>(state, "state.template").size());
    restore_rows(state, "state", model.state_templates, model.columns, model.raw, model.w.state, model.sum.state,
                 model.L, model.S, false, sums, [&](const FeatureName& name) {
                     const Key key = name.template_index < RAW ? SegmentFeatures::key(name)
                                     : name.template_index == RAW
                                         ? SequenceModel::raw_key(name.ids[0])
                                         : model.state_templates.key(static_cast<std::size_t>(name.template_index),
                                                                     name.ids.data());
                     return model.new_state_row(key, name);
                 });
    restore_rows(state, "edge", model.edge_templates, model.columns, model.raw, model.w.edge, model.sum.edge, model.L,
                 model.S, true, sums, [&](const FeatureName& name) {
                     const Key key =
                         model.edge_templates.key(static_cast<std::size_t>(name.template_index), name.ids.data());
                     return model.new_edge_row(key, name);
                 });
    if (model.trigrams) {
        const auto copy = [&](const char* name, RowStore& to) {
            const auto values = take<float>(state, name);
            require(static_cast<i64>(values.size()) == to.width(), "triples of the wrong size");
            std::copy(values.begin(), values.end(), to.row(0));
        };
        copy("triple.weight", model.w.triple);
        if (sums) copy("triple.sum", model.sum.triple);
    }
    const auto run = take<double>(state, "run");
    require(run.size() == 7, "an impossible run");
    for (const double x : run) require(std::isfinite(x) && x >= 0 && x < 9e15, "an impossible run");
    model.run.rounds = static_cast<i64>(run[0]), model.run.mistakes = static_cast<i64>(run[1]);
    model.run.updates = static_cast<i64>(run[2]), model.run.touched = static_cast<i64>(run[3]);
    model.run.criterion = run[4], model.run.radius2 = run[5], model.run.clock = run[6];
    if (!model.log || !state.contains("log.survival")) return;
    UpdateLog log;
    log.max_voters = tagger.log().max_voters;
    log.survival = take<i64>(state, "log.survival");
    log.first = take<i64>(state, "log.first");
    log.place = take<Place>(state, "log.place");
    log.step = take<float>(state, "log.step");
    require(!log.survival.empty() && log.first.size() == log.survival.size() && log.place.size() == log.step.size() &&
                log.first.front() == 0 && log.first.back() == static_cast<i64>(log.place.size()) &&
                std::is_sorted(log.first.begin(), log.first.end()),
            "an impossible log");
    for (const i64 m : log.survival) require(m >= 0, "an impossible log");
    for (const Place place : log.place) {
        require((place >> 62) <= 2, "an impossible log");
        RowStore& store = model.w.rows(kind_of_place(place));
        require(offset_of(place) < store.size() * store.width(), "an impossible log");
        if (!(place & SHARED)) continue;
        const bool one = kind_of_place(place) == WeightKind::state;
        require(one || kind_of_place(place) == WeightKind::edge, "an impossible log");
        const std::int32_t in =
            (one ? model.state_names : model.edge_names).template_of(offset_of(place) / store.width());
        const auto& sets = one ? model.state_set : model.edge_set;
        require(in >= 0 && static_cast<std::size_t>(in) < sets.size() && sets[in] >= 0, "an impossible log");
    }
    tagger.log() = std::move(log);
}

nb::list heaviest(const Tagger& tagger, const Hypothesis* vector, i64 n) {
    const SequenceModel& model = tagger.model();
    const LabelWeights& w = vector ? vector->v : model.w;
    struct Item {
        float weight;
        bool pairs;
        i64 row, label;
    };
    std::vector<Item> items;
    const auto collect = [&](const RowStore& store, bool pairs) {
        for (i64 r = 0; r < store.size(); ++r)
            for (i64 p = 0; p < (pairs ? model.L : 1); ++p)
                for (i64 y = 0; y < model.L; ++y)
                    if (store.row(r)[p * model.S + y] != 0.0f)
                        items.push_back({store.row(r)[p * model.S + y], pairs, r, p * model.L + y});
    };
    collect(w.state, false);
    collect(w.edge, true);
    const auto heavier = [](const Item& a, const Item& b) { return std::abs(a.weight) > std::abs(b.weight); };
    std::stable_sort(items.begin(), items.end(), heavier);
    if (n >= 0 && static_cast<i64>(items.size()) > n) items.resize(static_cast<std::size_t>(n));
    nb::list found;
    for (const Item& item : items) {
        const FeatureNames& names = item.pairs ? model.edge_names : model.state_names;
        const std::int32_t in = names.template_of(item.row);
        nb::list values;
        for (std::size_t p = 0; p < names.count(item.row); ++p) {
            std::string text;
            if (in == RAW) {
                text = std::string(model.raw.name(names.ids(item.row)[p]));
            } else if (in == SEGMENT_TEXT || in == SEGMENT_SHAPE) {
                const int column = in == SEGMENT_TEXT ? model.segment_features.text : model.segment_features.shape;
                const Id id = names.ids(item.row)[p];
                if (column >= 0 && id - FIRST_ID < model.columns.symbols(column).size())
                    text = model.columns.text(column, id);
            } else if (in < RAW) {
                text = std::to_string(names.ids(item.row)[p]);
            } else {
                const Templates& templates = item.pairs ? model.edge_templates : model.state_templates;
                text = model.columns.text(templates[in].parts[p].column, names.ids(item.row)[p]);
            }
            PyObject* made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
            if (!made) throw nb::python_error();
            values.append(nb::steal(made));
        }
        found.append(
            nb::make_tuple(item.pairs ? "edge" : "state", in, values, item.label, static_cast<double>(item.weight)));
    }
    return found;
}

}  // namespace perceptive
