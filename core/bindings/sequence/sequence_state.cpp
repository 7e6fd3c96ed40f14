// A sequence model as arrays, for snapshots and model files.
//
// Weights are stored sparsely: most features speak for few labels. Keys are not stored but made again from the names.
// The arrays may come from a hostile file, so everything is checked before it is used.
#include <cmath>
#include <numeric>

#include "bindings/sequence/tagger.hpp"

namespace perceptive {

namespace {

template <class T>
Vector<const T> view(const nb::dict& state, const std::string& name) {
    if (!state.contains(name.c_str())) throw std::invalid_argument("no array " + name);
    return nb::cast<Vector<const T>>(state[name.c_str()], false);
}

template <class T>
std::vector<T> take(const nb::dict& state, const std::string& name) {
    const auto array = view<T>(state, name);
    return std::vector<T>(array.data(), array.data() + array.size());
}

// Whole numbers in the narrowest type that holds them.
void put_numbers(nb::dict& state, const std::string& name, const std::vector<std::int32_t>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const auto as = [&](auto narrow) {
        state[name.c_str()] = to_numpy(std::vector<decltype(narrow)>(values.begin(), values.end()));
    };
    if (values.empty() || (*low >= 0 && *high <= UINT8_MAX)) return as(std::uint8_t{});
    if (*low >= INT8_MIN && *high <= INT8_MAX) return as(std::int8_t{});
    if (*low >= 0 && *high <= UINT16_MAX) return as(std::uint16_t{});
    if (*low >= INT16_MIN && *high <= INT16_MAX) return as(std::int16_t{});
    as(std::int32_t{});
}

// Whole numbers of any of these types, read where they lie. A mapped file may change meanwhile: read each once.
class Numbers {
  public:
    Numbers(const nb::dict& state, const std::string& name) {
        if (!state.contains(name.c_str())) throw std::invalid_argument("no array " + name);
        array_ = nb::cast<ReadOnly>(state[name.c_str()], false);
        data_ = array_.data();
        size_ = array_.size();
        const nb::dlpack::dtype types[] = {nb::dtype<std::uint8_t>(), nb::dtype<std::int8_t>(),
                                           nb::dtype<std::uint16_t>(), nb::dtype<std::int16_t>(),
                                           nb::dtype<std::int32_t>()};
        while (type_ < 5 && array_.dtype() != types[type_]) ++type_;
        require(type_ < 5 && array_.ndim() == 1, "numbers of an unknown type");
    }
    std::size_t size() const { return size_; }
    std::int32_t operator[](std::size_t i) const {
        switch (type_) {
            case 0:
                return static_cast<const std::uint8_t*>(data_)[i];
            case 1:
                return static_cast<const std::int8_t*>(data_)[i];
            case 2:
                return static_cast<const std::uint16_t*>(data_)[i];
            case 3:
                return static_cast<const std::int16_t*>(data_)[i];
            default:
                return static_cast<const std::int32_t*>(data_)[i];
        }
    }

  private:
    ReadOnly array_;
    const void* data_;
    std::size_t size_;
    int type_ = 0;
};

void put_symbols(nb::dict& state, const std::string& prefix, const Symbols& symbols) {
    std::vector<std::uint8_t> blob(symbols.blob().begin(), symbols.blob().end());
    std::vector<std::int32_t> lengths;
    for (Id i = 0; i < symbols.size(); ++i) lengths.push_back(static_cast<std::int32_t>(symbols.name(i).size()));
    state[(prefix + ".blob").c_str()] = to_numpy(std::move(blob));
    put_numbers(state, prefix + ".lengths", lengths);
}

Symbols take_symbols(const nb::dict& state, const std::string& prefix) {
    const auto blob = take<std::uint8_t>(state, prefix + ".blob");
    const Numbers lengths(state, prefix + ".lengths");
    std::vector<i64> offsets{0};
    offsets.reserve(lengths.size() + 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const std::int32_t length = lengths[i];
        require(length >= 0, "symbols: a negative length");
        offsets.push_back(offsets.back() + length);
    }
    require(offsets.back() == static_cast<i64>(blob.size()), "symbols: lengths and text do not match");
    return Symbols(reinterpret_cast<const char*>(blob.data()), blob.size(), offsets.data(), offsets.size());
}

struct Sparse {
    std::vector<std::int32_t> in;  // template
    std::vector<Id> ids;
    std::vector<std::int32_t> lengths;  // of the names of segments; those of others have as many values as the template
    std::vector<std::int32_t> count, label;
    std::vector<float> weight, sum;
};

Key key_of(std::int32_t in, const Id* ids, std::size_t n, const Templates& templates) {
    if (in >= 0) return templates.key(static_cast<std::size_t>(in), ids);
    return in == RAW ? SequenceModel::raw_key(ids[0]) : SegmentFeatures::key({in, {ids, ids + n}});
}

// The rows of one kind: labels as y, or as previous·L + y. Without sums the rows come in the order of their keys, so
// that loading fills the table from front to back; with sums the log may know them by number.
Sparse sparse(const RowStore& w, const RowStore* sum, const FeatureNames& names, const Templates& templates, i64 L,
              i64 S, bool pairs, double threshold) {
    Sparse out;
    const i64 groups = pairs ? L : 1;
    std::vector<i64> order(static_cast<std::size_t>(w.size()));
    std::iota(order.begin(), order.end(), 0);
    if (!sum) {
        std::vector<Key> key(order.size());
        for (i64 r = pairs; r < w.size(); ++r)
            key[r] = key_of(names.template_of(r), names.ids(r), names.count(r), templates);
        std::sort(order.begin() + pairs, order.end(), [&](i64 a, i64 b) {
            return std::make_pair(names.count(a), key[a]) < std::make_pair(names.count(b), key[b]);
        });
    }
    for (const i64 r : order) {
        const float *row = w.row(r), *less = sum ? sum->row(r) : nullptr;
        std::int32_t count = 0;
        for (i64 p = 0; p < groups; ++p)
            for (i64 y = 0; y < L; ++y) {
                const float value = row[p * S + y];
                if (std::abs(static_cast<double>(value)) <= threshold && !(less && less[p * S + y] != 0.0f)) continue;
                out.label.push_back(static_cast<std::int32_t>(p * L + y));
                out.weight.push_back(value);
                if (less) out.sum.push_back(less[p * S + y]);
                ++count;
            }
        // Rows without weights are left out, except those that the log may point at, and the one of all tokens.
        if (count == 0 && !less && !(pairs && r == 0)) continue;
        out.in.push_back(names.template_of(r));
        if (names.template_of(r) < RAW) out.lengths.push_back(static_cast<std::int32_t>(names.count(r)));
        out.ids.insert(out.ids.end(), names.ids(r), names.ids(r) + names.count(r));
        out.count.push_back(count);
    }
    return out;
}

void put(nb::dict& state, const std::string& prefix, Sparse from, bool sums) {
    put_numbers(state, prefix + ".template", from.in);
    put_numbers(state, prefix + ".values", from.ids);
    put_numbers(state, prefix + ".lengths", from.lengths);
    put_numbers(state, prefix + ".count", from.count);
    put_numbers(state, prefix + ".label", from.label);
    state[(prefix + ".weight").c_str()] = to_numpy(std::move(from.weight));
    if (sums) state[(prefix + ".sum").c_str()] = to_numpy(std::move(from.sum));
}

// The names of rows from their arrays; their keys, made from these, go into the table. In front of pairs stands the row
// of all tokens.
FeatureNames restore_names(const nb::dict& state, const std::string& prefix, const Templates& templates,
                           const Columns& columns, const Symbols& raw, bool pairs, KeyTable& rows) {
    const Numbers given_in(state, prefix + ".template"), values(state, prefix + ".values");
    const Numbers lengths(state, prefix + ".lengths");
    auto ids = populated<std::vector<Id>>(values.size());
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = values[i];
    auto in = populated<std::vector<std::int16_t>>(given_in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::int32_t k = given_in[i];
        require(k >= INT16_MIN && k <= INT16_MAX, "no such template");
        in[i] = static_cast<std::int16_t>(k);
    }
    std::vector<std::uint32_t> start{0};
    start.reserve(in.size() + 1);
    populate(start.data(), (in.size() + 1) * sizeof start[0]);
    require(ids.size() < UINT32_MAX, "too many values");
    require(!pairs || (!in.empty() && in[0] == RAW), "the first row of pairs is that of all tokens");
    if (pairs) start.push_back(0);
    rows.reserve(in.size());
    std::vector<std::size_t> first;  // template → where the limits of its parts begin
    std::vector<Id> limits;
    for (std::size_t k = 0; k < templates.size(); ++k) {
        first.push_back(limits.size());
        for (const Part& part : templates[k].parts) limits.push_back(FIRST_ID + columns.symbols(part.column).size());
    }
    first.push_back(limits.size());
    std::size_t end = 0, segments = 0;
    for (std::size_t r = pairs; r < in.size(); ++r) {
        const std::int32_t k = in[r];
        const bool given = k == RAW, segment = k < RAW;
        require(k < static_cast<std::int32_t>(templates.size()) && (k >= 0 || !pairs), "no such template");
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
                sound &= mine[p] >= 0 && mine[p] < raw.size();
            else if (segment)
                sound &= mine[p] > 0 && (k <= SEGMENT_IN || k == SEGMENT_LENGTH || mine[p] >= FIRST_ID);
            else
                sound &= mine[p] > ABSENT && mine[p] < limits[first[k] + p] &&
                         (mine[p] >= FIRST_ID || mine[p] <= 2 * MAX_OFFSET);
        }
        require(sound, "no such value");
        const auto row = static_cast<std::int32_t>(r);
        require(rows.insert(key_of(k, mine, parts, templates), row) == row, "a feature stands there twice");
    }
    require(end == ids.size() && segments == lengths.size(), "values and rows do not match");
    return FeatureNames(std::move(in), std::move(ids), std::move(start));
}

// The weights of n rows of one kind.
void restore_weights(const nb::dict& state, const std::string& prefix, RowStore& w, RowStore& sum, i64 n, i64 L, i64 S,
                     bool pairs, bool sums, bool packed) {
    const Numbers count(state, prefix + ".count"), label(state, prefix + ".label");
    const auto weight = view<float>(state, prefix + ".weight");
    require(static_cast<i64>(count.size()) == n && label.size() == weight.size(), "weights and rows do not match");
    require(weight.size() < UINT32_MAX, "too many weights");
    PackedRows rows;
    rows.start.reserve(count.size() + 1);
    std::size_t end = 0;
    for (std::size_t r = 0; r < count.size(); ++r) {
        const std::int32_t c = count[r];
        require(c >= 0 && weight.size() - end >= static_cast<std::size_t>(c), "weights are missing");
        end += static_cast<std::size_t>(c);
        rows.start.push_back(static_cast<std::uint32_t>(end));
    }
    require(end == weight.size(), "weights and rows do not match");
    rows.entry.resize(end);
    const i64 labels = pairs ? L * L : L;
    for (std::size_t i = 0; i < end; ++i) {
        const std::int32_t y = label[i];
        require(y >= 0 && y < labels, "no such label");
        const float value = weight.data()[i];
        require(std::isfinite(value), "a weight is not finite");
        rows.entry[i].weight = value;
        rows.entry[i].column = static_cast<std::int32_t>(pairs ? y / L * S + y % L : y);
    }
    if (sums) {
        const auto less = view<float>(state, prefix + ".sum");
        require(less.size() == end, "weights and rows do not match");
        sum.resize(n);
        for (i64 r = 0; r < n; ++r)
            for (std::uint32_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
                const float value = less.data()[i];
                require(std::isfinite(value), "a weight is not finite");
                sum.row(r)[rows.entry[i].column] = value;
            }
    }
    w.set_packed(std::move(rows));
    if (packed) return;
    w.unpack();
    sum.resize(n);
}

}  // namespace

nb::dict state_of(Tagger& tagger, const Hypothesis* vector, double threshold) {
    tagger.unpack();
    nb::dict state;
    const auto lock = tagger.reading();
    const SequenceModel& model = tagger.model();
    const LabelWeights& w = vector ? vector->v : model.w;
    if (!model.has(w)) throw std::runtime_error(CHANGED);
    const LabelWeights* sum = vector ? nullptr : &model.sum;
    if (!vector) threshold = 0.0;
    put(state, "state",
        sparse(w.state, sum ? &sum->state : nullptr, model.state_names, model.state_templates, model.L, model.S, false,
               threshold),
        sum != nullptr);
    put(state, "edge",
        sparse(w.edge, sum ? &sum->edge : nullptr, model.edge_names, model.edge_templates, model.L, model.S, true,
               threshold),
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
    const auto lock = tagger.writing();
    SequenceModel& model = tagger.model();
    require(model.w.state.size() == 0, "only a new model can be restored");
    std::vector<Symbols> symbols;
    for (int c = 0; c < model.columns.width(); ++c)
        symbols.push_back(take_symbols(state, "column" + std::to_string(c)));
    model.columns.restore(std::move(symbols));
    model.raw = take_symbols(state, "raw");
    const bool sums = state.contains("state.sum");
    const bool packed = !sums && !model.log && !model.types.on();
    for (const bool pairs : {false, true}) {
        const std::string prefix = pairs ? "edge" : "state";
        KeyTable& rows = pairs ? model.edge_rows : model.state_rows;
        (pairs ? model.edge_names : model.state_names) = restore_names(
            state, prefix, pairs ? model.edge_templates : model.state_templates, model.columns, model.raw, pairs, rows);
        const auto n = static_cast<i64>(rows.size()) + pairs;
        restore_weights(state, prefix, pairs ? model.w.edge : model.w.state, pairs ? model.sum.edge : model.sum.state,
                        n, model.L, model.S, pairs, sums, packed && !pairs);
    }
    if (model.trigrams) {
        const auto copy = [&](const char* name, RowStore& to) {
            const auto values = take<float>(state, name);
            require(static_cast<i64>(values.size()) == to.width(), "triples of the wrong size");
            for (const float value : values) require(std::isfinite(value), "a weight is not finite");
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
    for (const float step : log.step) require(std::isfinite(step), "a weight is not finite");
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

nb::list heaviest(Tagger& tagger, const Hypothesis* vector, i64 n) {
    tagger.unpack();
    const auto lock = tagger.reading();
    const SequenceModel& model = tagger.model();
    const LabelWeights& w = vector ? vector->v : model.w;
    if (!model.has(w)) throw std::runtime_error(CHANGED);
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
