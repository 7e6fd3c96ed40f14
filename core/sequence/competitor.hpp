// How a sentence is answered, and by which competitor a rule then learns: all that depends on v, and changes nothing.
// Threads that answer the sentences of a batch have one each.
#pragma once

#include <algorithm>
#include <vector>

#include "sequence/scores.hpp"

namespace perceptive {

struct SequenceOptions {
    Rule rule;
    bool hamming = false;  // the competitor is sought under score + cost
    i64 k = 5;             // mira: competitors at once
    bool averaged = true;
    i64 beam = 0;
    i64 batch = 1;  // sentences that are answered by the same v
    int threads = 1;
};

inline double hamming_cost(const std::vector<int>& path, const Sentences& data, i64 begin) {
    i64 wrong = 0;
    for (std::size_t t = 0; t < path.size(); ++t)
        wrong += !data.choices.allow(data.label[static_cast<std::size_t>(begin) + t], path[t]);
    return static_cast<double>(wrong);
}

struct Answer {
    std::vector<int> target, path;   // y*, with labels that were not given filled in; and the competitor
    std::vector<ScoredPath> rivals;  // mira: several
    bool mistake = false;
    double m = 0.0;       // of the mistake: v·δ, at most 0
    bool learns = false;  // whether there is a competitor that the rule is to look at
};

class CompetitorSearch {
  public:
    explicit CompetitorSearch(const SequenceModel& model) : model(model) {}

    // v is another, or its weight at a place has changed; `edge` are its weights of label pairs, masked.
    void forget() { scores_.forget(); }
    void change(Place place, const PairWeights& edge) { scores_.change(place, edge); }

    // The answer to sentence i; `edge` are the model's weights of label pairs, masked.
    void find(const Sentences& data, const SentenceRows& rows, i64 i, const SequenceOptions& options,
              const PairWeights& edge, Answer& found) {
        const i64 begin = data.start[i];
        const i64 n = data.start[i + 1] - begin;
        const std::int32_t* truth = data.label.data() + begin;
        found.mistake = found.learns = false;
        if (n == 0 || model.L == 0) return;
        Potentials& x = potentials_;
        scores_.gather(data, rows, i, model.w, edge, x);
        x.trellis.beam = options.beam;
        found.target.assign(truth, truth + n);
        if (std::any_of(truth, truth + n, [](std::int32_t y) { return y < 0; })) complete(x, data, i, found.target);
        found.path.resize(static_cast<std::size_t>(n));

        const bool margins = options.rule.name != RuleName::perceptron || options.rule.margin > 0;
        if (options.hamming || options.rule.name == RuleName::mira) add_cost(x, data, begin, n, 1.0f);
        if (options.rule.name == RuleName::mira) {
            found.rivals = scores_.best_paths(x, options.k + 1);
            add_cost(x, data, begin, n, -1.0f);
            decide(x, found.path, found);
            found.learns = true;
            return;
        }
        scores_.decode(x, viterbi_, segments_, found.path.data());
        if (options.hamming) {
            add_cost(x, data, begin, n, -1.0f);
            if (found.path == found.target) return;  // right by its margin, so right
            best_.resize(static_cast<std::size_t>(n));
            decide(x, best_, found);
        } else {
            found.mistake = found.path != found.target;
            if (found.mistake) found.m = lead(x, found.path, found);
            if (!found.mistake) {
                if (!margins) return;
                second_best(x, found);
                if (found.path == found.target) return;  // there is no other path
            }
        }
        found.learns = true;
    }

  private:
    // The labels that were not given are those of the best path through those that were.
    void complete(const Potentials& x, const Sentences& data, i64 i, std::vector<int>& target) {
        const i64 begin = data.start[i], n = data.start[i + 1] - begin;
        constrained_.assign(x.unary.begin(), x.unary.begin() + n * model.S);
        for (i64 t = 0; t < n; ++t)
            data.choices.each_other(data.label[begin + t], model.L,
                                    [&](i64 y) { constrained_[t * model.S + y] = NEVER; });
        Trellis forced = x.trellis;
        forced.unary = constrained_.data();
        if (!(scores_.decode(forced, x, viterbi_, segments_, target.data()) > static_cast<double>(NEVER)))
            throw SentenceError(i, "no labels fit between those given");
    }

    void add_cost(Potentials& x, const Sentences& data, i64 begin, i64 n, float sign) const {
        for (i64 t = 0; t < n; ++t)
            data.choices.each_other(data.label[begin + t], model.L, [&](i64 y) { x.unary[t * model.S + y] += sign; });
    }

    // Whether the best path, without costs, is wrong.
    void decide(const Potentials& x, std::vector<int>& path, Answer& found) {
        scores_.decode(x, viterbi_, segments_, path.data());
        found.mistake = path != found.target;
        if (found.mistake) found.m = lead(x, path, found);
    }

    double lead(const Potentials& x, const std::vector<int>& path, const Answer& found) const {
        return std::min(0.0, scores_.score(x, found.target.data()) - scores_.score(x, path.data()));
    }

    // The best path but the target, where the target is best.
    void second_best(const Potentials& x, Answer& found) const {
        for (ScoredPath& rival : scores_.best_paths(x, 2))
            if (rival.labels != found.target) {
                found.path = std::move(rival.labels);
                return;
            }
    }

    const SequenceModel& model;
    SequenceScores scores_{model};
    Viterbi viterbi_;
    SegmentViterbi segments_;
    Potentials potentials_;
    std::vector<int> best_;
    std::vector<float> constrained_;
};

}  // namespace perceptive
