// What a sequence model predicts: labels, the k best, margins, votes.
#include "bindings/sequence/tagger.hpp"

namespace perceptive {

namespace {

nb::list names_of(const nb::list& labels, const int* path, std::size_t n) {
    nb::object names = nb::steal(PyList_New(static_cast<Py_ssize_t>(n)));
    if (!names.is_valid()) throw nb::python_error();
    for (std::size_t t = 0; t < n; ++t) {
        PyObject* label = PyList_GetItem(labels.ptr(), path[t]);
        Py_XINCREF(label);
        PyList_SetItem(names.ptr(), static_cast<Py_ssize_t>(t), label);
    }
    return nb::borrow<nb::list>(names);
}

}  // namespace

nb::list Tagger::predict(nb::list X, nb::list labels, LabelWeights* vector, const Forced& forced, i64 beam) {
    nb::list found;
    std::vector<int> paths;
    each_batch(
        X, static_cast<i64>(nb::len(labels)), vector, forced, false,
        [&](Decoder& decoder, i64 n) {
            const std::size_t at = paths.size();
            paths.resize(at + static_cast<std::size_t>(n));
            return decoder.best_path(beam, paths.data() + at);
        },
        [&](const TokenBatch& batch) {
            const int* path = paths.data();
            for (i64 i = 0; i < batch.size(); path += batch.tokens(i++))
                found.append(names_of(labels, path, static_cast<std::size_t>(batch.tokens(i))));
            paths.clear();
        });
    return found;
}

nb::list Tagger::predict_kbest(nb::list X, i64 k, nb::list labels, LabelWeights* vector, const Forced& forced,
                               i64 beam) {
    require(k >= 1, "k must be at least 1");
    nb::list found;
    std::vector<std::vector<ScoredPath>> all;
    std::vector<int> path;
    each_batch(
        X, static_cast<i64>(nb::len(labels)), vector, forced, true,
        [&](Decoder& decoder, i64 n) {
            path.resize(static_cast<std::size_t>(n));
            if (beam > 0) decoder.narrow(beam, path.data());
            all.push_back(decoder.best_paths(k));
            return all.back().empty() ? NO_PATH : all.back().front().score;
        },
        [&](const TokenBatch&) {
            for (const auto& paths : all) {
                nb::list scored;
                for (const ScoredPath& one : paths)
                    scored.append(nb::make_tuple(names_of(labels, one.labels.data(), one.labels.size()), one.score));
                found.append(scored);
            }
            all.clear();
        });
    return found;
}

nb::list Tagger::max_marginals(nb::list X, i64 n_labels, LabelWeights* vector, i64 beam) {
    nb::list found;
    std::vector<std::pair<std::vector<int>, std::vector<double>>> all;
    each_batch(
        X, n_labels, vector, {}, false,
        [&](Decoder& decoder, i64 n) {
            std::vector<int> path(static_cast<std::size_t>(n));
            const double best = decoder.narrow(beam, path.data());
            all.emplace_back(std::move(path), decoder.max_marginals());
            return best;
        },
        [&](const TokenBatch&) {
            for (auto& [path, scores] : all) found.append(nb::make_tuple(path, to_numpy(std::move(scores))));
            all.clear();
        });
    return found;
}

nb::tuple Tagger::trellis(nb::list X, i64 n_labels, LabelWeights* vector) {
    std::vector<double> unary, edges;
    each_batch(
        X, n_labels, vector, {}, false,
        [&](Decoder& decoder, i64 n) {
            const Trellis& x = decoder.trellis();
            for (i64 t = 0; t < n; ++t)
                for (i64 y = 0; y < x.L; ++y)
                    unary.push_back(static_cast<double>(x.unary[t * x.S + y] + (t == 0 ? x.start[y] : 0.0f) +
                                                        (t == n - 1 ? x.stop[y] : 0.0f)));
            for (i64 t = 1; t < n; ++t)
                for (i64 p = 0; p < x.L; ++p)
                    for (i64 y = 0; y < x.L; ++y) edges.push_back(static_cast<double>(x.edge_at(t)[p * x.S + y]));
            return 0.0;
        },
        [](const TokenBatch&) {});
    return nb::make_tuple(to_numpy(std::move(unary)), to_numpy(std::move(edges)));
}

nb::list Tagger::vote(nb::list X, nb::list labels) {
    const auto n_labels = static_cast<i64>(nb::len(labels));
    i64 voters = 0, rounds = 0;
    LabelWeights v(0, false);
    const auto read = [&](auto read) {
        Held held(lock_, Hold::shared);
        nb::gil_scoped_release release;
        read();
    };
    read([&] {
        voters = model_.journal.voters(), rounds = model_.run.rounds;
        v = model_.zeros();
    });
    std::vector<Ballots> ballots(nb::len(X));
    for (i64 k = 0; k < voters; ++k) {
        i64 weight = 0;
        read([&] {
            if (model_.L != n_labels || model_.run.rounds != rounds || !model_.has(v))
                throw std::runtime_error(MODEL_CHANGED);
            model_.replay(k > 0 ? k - 1 : 0, k, v);
            weight = model_.journal.survival[k];
        });
        if (weight == 0) continue;
        std::size_t i = 0;
        std::vector<int> path;
        each_batch(
            X, n_labels, &v, {}, false,
            [&](Decoder& decoder, i64 n) {
                path.resize(static_cast<std::size_t>(n));
                decoder.best_path(0, path.data());
                ballots[i++].add(path, weight);
                return 0.0;
            },
            [](const TokenBatch&) {});
    }
    nb::list found;
    for (const Ballots& cast : ballots) {
        const std::vector<int> path = cast.winner();
        found.append(names_of(labels, path.data(), path.size()));
    }
    return found;
}

}  // namespace perceptive
