// A sequence model learns: labels, lessons, rounds, vectors.
#include "bindings/sequence/tagger.hpp"

namespace perceptive {

Columns Tagger::columns_of(int n_base, const std::vector<ColumnSpec>& derived,
                           const std::vector<std::vector<std::string>>& dictionaries) {
    std::vector<Derived> columns;
    for (const auto& [what, n, base, of] : derived) columns.push_back({derive_named(what), n, base, derive_named(of)});
    std::vector<Symbols> sets;
    for (const auto& words : dictionaries) {
        sets.emplace_back();
        for (const std::string& word : words) sets.back().add(word);
    }
    return Columns(n_base, std::move(columns), std::move(sets));
}

void Tagger::set_label_sets(std::vector<int> state, std::vector<int> edge, const std::vector<std::vector<i64>>& sets) {
    const auto lock = writing();
    std::vector<LabelSet> made;
    std::vector<char> of_pairs(sets.size(), 0);
    require(state.size() == model_.state_templates.size() && edge.size() == model_.edge_templates.size(),
            "one label set a template");
    for (const int s : state) require(s < static_cast<int>(sets.size()), "no such label set");
    for (const int s : edge) {
        require(s < static_cast<int>(sets.size()), "no such label set");
        if (s >= 0) of_pairs[s] = 1;
    }
    for (std::size_t s = 0; s < sets.size(); ++s) {
        const i64 size = of_pairs[s] ? model_.L * model_.L : model_.L;
        LabelSet set{std::vector<char>(static_cast<std::size_t>(size), 0), size};
        for (const i64 member : sets[s]) {
            require(member >= 0 && member < size, "a label set names a label that is not there");
            set.in[member] = 1;
            set.first = std::min(set.first, member);
        }
        if (set.first == size) set.first = 0;
        made.push_back(std::move(set));
    }
    for (const int s : state) require(s < 0 || !of_pairs[s], "a set of labels and of pairs");
    model_.sets = std::move(made);
    model_.state_set = std::move(state);
    model_.edge_set = std::move(edge);
    model_.share();
}

Sentences* Tagger::encode(nb::list X, nb::list y, nb::dict index, const std::vector<std::vector<i64>>& choices,
                          i64 min_count, i64 longest) {
    require(longest >= 0 && longest < (1 << 16), "bad segments");
    auto lesson = std::make_unique<Sentences>();
    lesson->n_base = model_.columns.base();
    lesson->longest = longest;
    lesson->choices = choices_of(choices);
    CellReader reader(model_.columns.base(), true);
    require(nb::len(X) == nb::len(y), "X and y differ in length");
    const i64 n = static_cast<i64>(nb::len(X));
    std::size_t tokens = 0;
    for (const nb::handle sentence : X) tokens += nb::len(sentence);
    lesson->state.number.reserve(tokens * model_.state_templates.size());  // growing would take half as much again
    for (i64 begin = 0; begin < n; begin += BATCH) {
        reader.clear();
        const i64 end = std::min(n, begin + BATCH);
        for (i64 i = begin; i < end; ++i) {
            reader.sentence(X[i], i);
            reader.labels(y[i], index, i, lesson->label);
        }
        need_known(lesson->label, lesson->choices);
        nb::gil_scoped_release release;
        std::unique_lock lock(mutex_);
        add(reader, *lesson);
    }
    nb::gil_scoped_release release;
    std::unique_lock lock(mutex_);
    model_.finish(*lesson, min_count);
    return lesson.release();
}

void Tagger::play(Sentences& lesson, Vector<const i64> order, const std::string& rule, double learning_rate,
                  double margin, double C, bool hamming, i64 k, bool averaged, i64 beam) {
    SequenceOptions options;
    options.rule.name = rule_named(rule);
    options.rule.learning_rate = learning_rate;
    options.rule.margin = margin;
    options.rule.C = C;
    options.hamming = hamming;
    options.k = k;
    options.averaged = averaged;
    options.beam = beam;
    for (std::size_t i = 0; i < order.size(); ++i)
        require(order.data()[i] >= 0 && order.data()[i] < lesson.size(), "order: no such sentence");
    nb::gil_scoped_release release;
    std::unique_lock lock(mutex_);
    need_fitting(lesson);
    model_.unpack();
    training_.play(lesson, order.data(), static_cast<i64>(order.size()), options);
}

nb::ndarray<nb::numpy, double> Tagger::leads(const Sentences& lesson, const Hypothesis* vector) {
    unpack();
    for (const std::int32_t label : lesson.label) require(label >= 0, "every token needs a label");
    std::vector<double> found;
    {
        nb::gil_scoped_release release;
        std::shared_lock lock(mutex_);
        need_fitting(lesson);
        const LabelWeights& v = vector ? vector->v : model_.w;
        const bool whole = v.state.size() == model_.w.state.size() && v.edge.size() == model_.w.edge.size();
        if (!model_.has(v) || !whole) throw std::runtime_error(CHANGED);
        found = scores_.leads(lesson, v);
    }
    return to_numpy(std::move(found));
}
double Tagger::squared_norm(const Hypothesis* vector) {
    unpack();
    const auto lock = reading();
    const LabelWeights& v = vector ? vector->v : model_.w;
    if (!model_.has(v)) throw std::runtime_error(CHANGED);
    return model_.squared_norm(v);
}

Hypothesis* Tagger::average() {
    unpack();
    nb::gil_scoped_release release;
    std::shared_lock lock(mutex_);
    return new Hypothesis{model_.average(), {}};
}

Hypothesis* Tagger::last() {
    unpack();
    nb::gil_scoped_release release;
    std::shared_lock lock(mutex_);
    return new Hypothesis{model_.w.minus(nullptr, 0.0f), {}};
}

Hypothesis* Tagger::voter(i64 k) const {
    nb::gil_scoped_release release;
    std::shared_lock lock(mutex_);
    require(k >= 0 && k < log_.voters(), "no such voter");
    auto made = std::make_unique<Hypothesis>(Hypothesis{LabelWeights(model_.L, model_.trigrams), {}});
    made->v.state.resize(model_.w.state.size());
    made->v.edge.resize(model_.w.edge.size());
    replay(0, k, made->v);
    return made.release();
}

void Tagger::need_fitting(const Sentences& lesson) const {
    require(lesson.longest == model_.types.longest, "a lesson of other segments");
    std::vector<char> goes_on(static_cast<std::size_t>(model_.L), 0);
    for (const int label : model_.types.inside)
        if (label >= 0) goes_on[label] = 1;
    i64 tokens = 0;
    for (const std::int32_t label : lesson.label) {
        require(label < model_.L, "a label that is not there");
        tokens = label >= 0 && goes_on[label] ? tokens + 1 : 1;
        require(!model_.types.on() || tokens <= lesson.longest, "a segment that is too long");
    }
}

void Tagger::add(const CellReader& reader, Sentences& lesson) {
    Window window;
    std::vector<Key> scratch;
    std::vector<const std::string_view*> views;
    for (i64 i = 0; i < reader.size(); ++i) {
        const i64 n = reader.tokens(i), first = lesson.tokens();
        window.resize(model_.columns, n);
        for (i64 t = 0; t < n; ++t) {
            const std::string_view* cells = reader.cells(i, t);
            if (cells) model_.columns.token(cells, true, window.at(t));
            for (int b = 0; b < lesson.n_base; ++b) lesson.base.push_back(window.at(t)[b]);
        }
        for (i64 t = 0; t < n; ++t) {
            model_.add_token(lesson, first + t, window.at(t), scratch);
            reader.features(i, t, [&](std::string_view name, float value) {
                const Id id = model_.raw.add(name);
                lesson.state.add(SequenceModel::raw_key(id), id, RAW, value);
            });
            lesson.state.start.push_back(static_cast<i64>(lesson.state.number.size()));
            if (model_.edge_templates.size())  // a number a token is worth leaving out
                lesson.edge.start.push_back(static_cast<i64>(lesson.edge.number.size()));
        }
        if (lesson.longest) {
            cells_of(reader, i, n, views);
            model_.add_segments(lesson, first, n, window, views.data());
        }
        std::uint64_t hash = static_cast<std::uint64_t>(n);
        const auto stir = [&hash](std::uint64_t value) { hash = mix(hash, value + 0x9E37u); };
        for (i64 t = first; t < first + n; ++t) {
            for (i64 p = lesson.state.start[t]; p < lesson.state.start[t + 1]; ++p) {
                const auto at = static_cast<std::size_t>(p);
                stir(lesson.state.key[lesson.state.number[at]]);
                if (!lesson.state.value.empty()) {
                    std::uint32_t bits;
                    std::memcpy(&bits, &lesson.state.value[at], sizeof bits);
                    stir(bits);
                }
            }
            if (lesson.longest && model_.segment_features.text >= 0)
                stir(static_cast<std::uint64_t>(window.at(t - first)[model_.segment_features.text]));
            const std::int32_t said = lesson.label[t];
            if (said >= ANY_LABEL)
                stir(static_cast<std::uint64_t>(said + 1));
            else  // by its labels: numbers of choices are this lesson's own
                lesson.choices.each_member(said, [&](std::uint64_t y) { stir(~y); });
        }
        lesson.hash.push_back(hash);
        lesson.start.push_back(first + n);
    }
}

}  // namespace perceptive
