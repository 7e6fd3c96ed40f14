// What a sequence model says of sentences: labels, the k best, margins, votes.
#include "bindings/sequence/tagger.hpp"

namespace perceptive {

nb::list Tagger::predict(nb::list X, nb::list labels, Hypothesis* vector, const Forced& forced, i64 beam) {
    nb::list found;
    const auto n_labels = static_cast<i64>(nb::len(labels));
    std::vector<int> paths;
    each_batch(
        X, n_labels, vector, forced, false,
        [&](Decoder& decoder, i64 n) {
            decoder.x.trellis.beam = beam;
            const std::size_t at = paths.size();
            paths.resize(at + static_cast<std::size_t>(n));
            return scores_.decode(decoder.x, decoder.viterbi, decoder.segments, paths.data() + at);
        },
        [&](const CellReader& reader) {
            std::size_t at = 0;
            for (i64 i = 0; i < reader.size(); ++i) {
                const i64 n = reader.tokens(i);
                PyObject* list = PyList_New(n);
                if (!list) throw nb::python_error();
                for (i64 t = 0; t < n; ++t) {
                    PyObject* label = PyList_GetItem(labels.ptr(), paths[at++]);
                    Py_XINCREF(label);
                    PyList_SetItem(list, t, label);
                }
                found.append(nb::steal(list));
            }
            paths.clear();
        });
    return found;
}

nb::list Tagger::predict_kbest(nb::list X, i64 k, nb::list labels, Hypothesis* vector, const Forced& forced, i64 beam) {
    require(k >= 1, "k must be at least 1");
    const auto n_labels = static_cast<i64>(nb::len(labels));
    nb::list found;
    std::vector<std::vector<ScoredPath>> all;
    std::vector<int> path;
    each_batch(
        X, n_labels, vector, forced, true,
        [&](Decoder& decoder, i64 n) {
            path.resize(static_cast<std::size_t>(n));
            if (beam > 0) scores_.narrow(decoder.x, beam, decoder.viterbi, decoder.segments, path.data());
            all.push_back(scores_.best_paths(decoder.x, k));
            return all.back().empty() ? NO_PATH : all.back().front().score;
        },
        [&](const CellReader&) {
            for (const auto& paths : all) {
                nb::list mine;
                for (const ScoredPath& path : paths) {
                    nb::list names;
                    for (const int y : path.labels) names.append(labels[y]);
                    mine.append(nb::make_tuple(names, path.score));
                }
                found.append(mine);
            }
            all.clear();
        });
    return found;
}

nb::list Tagger::max_marginals_of(nb::list X, i64 n_labels, Hypothesis* vector, i64 beam) {
    nb::list found;
    std::vector<std::pair<std::vector<int>, std::vector<double>>> all;
    each_batch(
        X, n_labels, vector, {}, false,
        [&](Decoder& decoder, i64 n) {
            std::vector<int> path(static_cast<std::size_t>(n));
            const double best = scores_.narrow(decoder.x, beam, decoder.viterbi, decoder.segments, path.data());
            all.emplace_back(std::move(path), scores_.marginals(decoder.x));
            return best;
        },
        [&](const CellReader&) {
            for (auto& [path, scores] : all) found.append(nb::make_tuple(path, to_numpy(std::move(scores))));
            all.clear();
        });
    return found;
}

nb::tuple Tagger::trellis(nb::list X, i64 n_labels, Hypothesis* vector) {
    std::vector<double> unary, edges;
    each_batch(
        X, n_labels, vector, {}, false,
        [&](Decoder& decoder, i64 n) {
            const Trellis& x = decoder.x.trellis;
            for (i64 t = 0; t < n; ++t)
                for (i64 y = 0; y < x.L; ++y)
                    unary.push_back(static_cast<double>(x.unary[t * x.S + y] + (t == 0 ? x.start[y] : 0.0f) +
                                                        (t == n - 1 ? x.stop[y] : 0.0f)));
            for (i64 t = 1; t < n; ++t)
                for (i64 p = 0; p < x.L; ++p)
                    for (i64 y = 0; y < x.L; ++y) edges.push_back(static_cast<double>(x.edge_at(t)[p * x.S + y]));
            return 0.0;
        },
        [](const CellReader&) {});
    return nb::make_tuple(to_numpy(std::move(unary)), to_numpy(std::move(edges)));
}

nb::list Tagger::vote(nb::list X, nb::list labels) {
    nb::list found;
    const auto n_labels = static_cast<i64>(nb::len(labels));
    LabelWeights v(n_labels, model_.trigrams);
    i64 voters = 0, rounds = 0;
    {
        const auto lock = reading();
        voters = log_.voters(), rounds = model_.run.rounds;
        v.state.resize(model_.w.state.size());
        v.edge.resize(model_.w.edge.size());
    }
    struct Ballot {
        std::vector<int> path;
        i64 votes;
    };
    std::vector<std::vector<Ballot>> ballots(nb::len(X));
    for (i64 k = 0; k < voters; ++k) {
        i64 weight = 0;
        {
            const auto lock = reading();
            if (model_.L != n_labels || model_.run.rounds != rounds || !model_.has(v))
                throw std::runtime_error(CHANGED);
            replay(k > 0 ? k - 1 : 0, k, v);
            weight = log_.survival[k];
        }
        if (weight == 0) continue;
        Hypothesis voter{LabelWeights(0, false), {}};
        std::swap(voter.v, v);
        std::size_t i = 0;
        std::vector<int> path;
        each_batch(
            X, n_labels, &voter, {}, false,
            [&](Decoder& decoder, i64 n) {
                path.resize(static_cast<std::size_t>(n));
                scores_.decode(decoder.x, decoder.viterbi, decoder.segments, path.data());
                auto& mine = ballots[i++];
                for (Ballot& ballot : mine)
                    if (ballot.path == path) {
                        ballot.votes += weight;
                        return 0.0;
                    }
                mine.push_back({path, weight});
                return 0.0;
            },
            [](const CellReader&) {});
        std::swap(voter.v, v);
    }
    for (const auto& mine : ballots) {
        const Ballot* best = nullptr;
        for (const Ballot& ballot : mine)
            if (!best || ballot.votes > best->votes) best = &ballot;
        nb::list names;
        if (best)
            for (const int y : best->path) names.append(labels[y]);
        found.append(names);
    }
    return found;
}

}  // namespace perceptive
