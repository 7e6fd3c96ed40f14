// More than the best path: the k best ones, and for each token and label the best path through it (max-marginals).
//
// States are labels (first order) or pairs of labels (second order), numbered previous·L + last; at the first token
// only the last label counts.
//
// Of many labels only some can be on one of the k best paths, as viterbi.hpp has it for the best: the beginning of a
// path that ends in y at t with the score a is left out where k others do better whatever follows,
//
//   a + max_s edge(y, s) < the k-th largest of b + min_s edge(z, s)
//
// by more than rounding takes.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "sequence/trellis.hpp"

namespace perceptive {

struct StateGraph {
    const Trellis& x;

    bool pairs() const { return x.triple != nullptr; }
    i64 states(i64 t) const { return pairs() && t > 0 ? x.L * x.L : x.L; }
    i64 label(i64 s) const { return s % x.L; }

    // each(from, step, then) for the states before s, the lowest first; of the first order for some of them
    template <class Each>
    void predecessors(i64 t, i64 s, const std::vector<std::int32_t>& some, Each each) const {
        const i64 L = x.L, y = s % L;
        const float* edge = x.edge_at(t);
        if (!pairs()) {
            for (const std::int32_t p : some) each(p, edge[p * x.S + y], 0.0f);
        } else if (t == 1) {
            each(s / L, 0.0f, edge[s / L * x.S + y]);
        } else {
            const i64 p = s / L;
            for (i64 q = 0; q < L; ++q) each(q * L + p, x.triple[(q * L + p) * x.S + y], edge[p * x.S + y]);
        }
    }
    std::vector<std::int32_t> all() const {
        std::vector<std::int32_t> labels(static_cast<std::size_t>(x.L));
        std::iota(labels.begin(), labels.end(), 0);
        return labels;
    }
    float begin(i64 y) const { return x.start[y] + x.unary[y]; }
    float unary(i64 t, i64 s) const { return x.unary[t * x.S + label(s)]; }
};

struct ScoredPath {
    std::vector<int> labels;
    double score;
};

// The k best paths, the best first; fewer if there are not so many. Equal ones in colexicographic order. The additions
// are those of Viterbi, so that the first path is Viterbi's.
inline std::vector<ScoredPath> k_best(const Trellis& x, i64 k) {
    struct Entry {
        float score;
        std::int32_t from, rank;  // the state before (of an end: its own), and which of the entries there
    };
    const StateGraph graph{x};
    if (x.n == 0) return {{{}, 0.0}};
    // lists[t] holds for each state at most k entries, sorted; first[t][s] says where they begin
    std::vector<std::vector<Entry>> lists(static_cast<std::size_t>(x.n));
    std::vector<std::vector<std::int32_t>> first(static_cast<std::size_t>(x.n));
    std::vector<Entry> candidates;
    struct Way {  // into a state: from a state with its sorted list, [at, end) of which is still to come
        std::int32_t from, begin, at, end;
        float step, then, score;
    };
    std::vector<Way> ways;
    std::vector<std::int32_t> some = graph.all();  // labels at the token before that have entries
    std::vector<float> bounds;
    // Leave out what none of the k best paths goes on from.
    const auto prune = [&](i64 t) {
        const PairWeights& next = x.pairs_at(t + 1);
        std::vector<Entry>& entries = lists[t];
        std::vector<std::int32_t>& begins = first[t];
        if (graph.pairs() || !next.bounded() || static_cast<i64>(entries.size()) < k) {
            some = graph.all();
            return;
        }
        bounds.clear();
        for (i64 s = 0; s < x.L; ++s)
            for (std::int32_t e = begins[s]; e < begins[s + 1]; ++e)
                bounds.push_back(std::max(NEVER, entries[e].score + next.least[s]));  // NEVER where it is no number
        std::nth_element(bounds.begin(), bounds.begin() + k - 1, bounds.end(), std::greater<float>());
        float bound = bounds[static_cast<std::size_t>(k - 1)], largest = next.largest;
        for (i64 y = 0; y < x.L; ++y)
            if (graph.unary(t + 1, y) > NEVER) largest = std::max(largest, std::abs(graph.unary(t + 1, y)));
        bound -= FLOAT_ROUNDING * (std::abs(bound) + largest);
        std::int32_t kept = 0;
        some.clear();
        for (i64 s = 0; s < x.L; ++s) {
            const std::int32_t begin = std::exchange(begins[s], kept);
            for (std::int32_t e = begin; e < begins[s + 1] && !(entries[e].score + next.most[s] < bound); ++e)
                entries[kept++] = entries[e];
            if (kept > begins[s]) some.push_back(static_cast<std::int32_t>(s));
        }
        begins[x.L] = kept;
        entries.resize(static_cast<std::size_t>(kept));
    };
    for (i64 t = 0; t < x.n; ++t) {
        auto& now = lists[t];
        auto& begins = first[t];
        begins.push_back(0);
        float top = NEVER;
        for (i64 s = 0; s < graph.states(t); ++s) {
            candidates.clear();
            if (t == 0) {
                if (graph.begin(s) > NEVER) candidates.push_back({graph.begin(s), -1, -1});
            } else {
                const auto& before = lists[t - 1];
                const auto& starts = first[t - 1];
                const float unary = graph.unary(t, s);
                const auto score = [&](const Way& way) { return before[way.at].score + way.step + way.then + unary; };
                ways.clear();
                graph.predecessors(t, s, some, [&](i64 from, float step, float then) {
                    const std::int32_t begin = starts[from], end = starts[from + 1];
                    if (begin == end || step == NEVER || then == NEVER || unary == NEVER) return;
                    ways.push_back({static_cast<std::int32_t>(from), begin, begin, end, step, then, 0.0f});
                    ways.back().score = score(ways.back());
                });
                // the lists are sorted: take the best head k times, the first of equals
                for (i64 taken = 0; taken < k && !ways.empty(); ++taken) {
                    std::size_t best = 0;
                    for (std::size_t i = 1; i < ways.size(); ++i)
                        if (ways[i].score > ways[best].score) best = i;
                    Way& way = ways[best];
                    if (!(way.score > NEVER)) break;
                    candidates.push_back({way.score, way.from, way.at - way.begin});
                    way.score = ++way.at < way.end ? score(way) : NEVER;
                }
            }
            if (!candidates.empty()) top = std::max(top, candidates.front().score);
            now.insert(now.end(), candidates.begin(), candidates.end());
            begins.push_back(static_cast<std::int32_t>(now.size()));
        }
        if (t > 0 && t % RESCALE == 0 && top > NEVER)
            for (Entry& entry : now) entry.score -= top;
        if (t + 1 < x.n) prune(t);
    }
    // the end: lowest last label first, and of pairs the lowest before it
    std::vector<Entry> ends;
    const auto& last = lists.back();
    const auto& starts = first.back();
    const i64 states = graph.states(x.n - 1);
    for (i64 y = 0; y < x.L; ++y)
        for (i64 s = y; s < states; s += x.L)
            for (std::int32_t e = starts[s]; e < starts[s + 1]; ++e) {
                const float score = last[e].score + x.stop[y];
                if (score > NEVER) ends.push_back({score, static_cast<std::int32_t>(s), e - starts[s]});
            }
    std::stable_sort(ends.begin(), ends.end(), [](const Entry& a, const Entry& b) { return a.score > b.score; });
    if (static_cast<i64>(ends.size()) > k) ends.resize(static_cast<std::size_t>(k));
    std::vector<ScoredPath> found;
    for (Entry entry : ends) {
        ScoredPath path{std::vector<int>(static_cast<std::size_t>(x.n)), 0.0};
        for (i64 t = x.n - 1; t >= 0; --t) {
            path.labels[t] = static_cast<int>(graph.label(entry.from));
            entry = lists[t][first[t][entry.from] + entry.rank];
        }
        path.score = path_score(x, path.labels.data());
        found.push_back(std::move(path));
    }
    return found;
}

// best[t·L + y] = the score of the best path with y_t = y, −∞ if there is none.
inline std::vector<double> max_marginals(const Trellis& x) {
    const StateGraph graph{x};
    const double never = static_cast<double>(NEVER);
    std::vector<double> best(static_cast<std::size_t>(x.n * x.L), never);
    if (x.n == 0) return best;
    const std::vector<std::int32_t> all = graph.all();
    std::vector<std::vector<double>> forward(static_cast<std::size_t>(x.n));
    for (i64 t = 0; t < x.n; ++t) {
        auto& now = forward[t];
        now.assign(static_cast<std::size_t>(graph.states(t)), never);
        for (i64 s = 0; s < graph.states(t); ++s) {
            double value = never;
            if (t == 0)
                value = static_cast<double>(graph.begin(s));
            else
                graph.predecessors(t, s, all, [&](i64 from, float step, float then) {
                    const double before = forward[t - 1][from];
                    value = std::max(value, before + static_cast<double>(step) + static_cast<double>(then));
                });
            now[s] = t == 0 ? value : value + static_cast<double>(graph.unary(t, s));
        }
    }
    std::vector<double> behind(static_cast<std::size_t>(graph.states(x.n - 1))), next;
    for (std::size_t s = 0; s < behind.size(); ++s)
        behind[s] = static_cast<double>(x.stop[graph.label(static_cast<i64>(s))]);
    for (i64 t = x.n - 1; t >= 0; --t) {
        for (std::size_t s = 0; s < behind.size(); ++s) {
            double& at = best[t * x.L + graph.label(static_cast<i64>(s))];
            at = std::max(at, forward[t][s] + behind[s]);
        }
        if (t == 0) break;
        next.assign(static_cast<std::size_t>(graph.states(t - 1)), never);
        for (std::size_t s = 0; s < behind.size(); ++s) {
            if (behind[s] == never) continue;
            const double rest = behind[s] + static_cast<double>(graph.unary(t, static_cast<i64>(s)));
            graph.predecessors(t, static_cast<i64>(s), all, [&](i64 from, float step, float then) {
                double& at = next[from];
                at = std::max(at, rest + static_cast<double>(step) + static_cast<double>(then));
            });
        }
        behind.swap(next);
    }
    return best;
}

}  // namespace perceptive
