// Decoding sentences that are not to be learned from.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "sequence/scores.hpp"
#include "sequence/token_batch.hpp"

namespace perceptive {

constexpr double NO_PATH = -std::numeric_limits<double>::infinity();
constexpr const char* MODEL_CHANGED = "the model has changed while it was predicting; ask again";

// Labels that some tokens must have.
struct ForcedLabels {
    const std::int32_t* label;  // of each token of a batch (choices.hpp), or null: all are free
    i64 count;
    const Choices& choices;
};

// One sentence: its trellis, and what can be asked of it.
class Decoder {
  public:
    explicit Decoder(SequenceModel& model) : model_(model), scores_(model) {}

    // decode(n) for each sentence of a batch under v, which answers with the score of the best path. `first` is the
    // number of the batch's first sentence in the caller's list; `scored`: a best path must have a finite score.
    template <class Decode>
    void each(const TokenBatch& batch, i64 first, i64 n_labels, const LabelWeights& v, const ForcedLabels& forced,
              bool scored, Decode decode) {
        if (model_.L != n_labels || !model_.has(v)) throw std::runtime_error(MODEL_CHANGED);
        for (i64 t = 0; t < forced.count; ++t)
            if (forced.label[t] >= n_labels) throw std::runtime_error(MODEL_CHANGED);
        const PairWeights edge = model_.masked_edges(v);
        scores_.forget();
        const std::int32_t* label = forced.label;
        for (i64 i = 0; i < batch.size(); ++i) {
            const i64 n = batch.tokens(i);
            gather(batch, i, v, edge);
            if (label)
                for (i64 t = 0; t < n; ++t) scores_.force(x_, t, *label++, forced.choices);
            const double best = decode(n);
            if (label && !(best > NO_PATH))
                throw SentenceError(first + i, "no labels of the scheme fit those given", "forced, ");
            if (scored && n > 0 && !std::isfinite(best))
                throw SentenceError(first + i, "no labels have a finite score; learn with smaller steps");
        }
    }

    double best_path(i64 beam, int* path) {
        x_.trellis.beam = beam;
        return scores_.decode(x_, viterbi_, segments_, path);
    }
    // The same, after which only what the beam kept is left of the trellis.
    double narrow(i64 beam, int* path) { return scores_.narrow(x_, beam, viterbi_, segments_, path); }
    std::vector<ScoredPath> best_paths(i64 k) const { return scores_.best_paths(x_, k); }
    std::vector<double> max_marginals() const { return scores_.marginals(x_); }
    const Trellis& trellis() const { return x_.trellis; }

  private:
    void gather(const TokenBatch& batch, i64 i, const LabelWeights& v, const PairWeights& edge) {
        const i64 n = batch.tokens(i);
        window_.resize(model_.columns, n);
        keys_.raw.clear();
        keys_.raw_start.assign(1, 0);
        for (i64 t = 0; t < n; ++t) {
            const std::string_view* cells = batch.cells(i, t);
            if (cells) model_.columns.token(cells, false, window_.at(t));
            if (!batch.has_bags()) continue;
            batch.features(i, t, [&](std::string_view name, float value) {
                const Id id = model_.raw.find(name);
                if (id >= 0) keys_.raw.emplace_back(id, value);
            });
            keys_.raw_start.push_back(static_cast<i64>(keys_.raw.size()));
        }
        scores_.keys(window_, n, keys_);
        scores_.gather(keys_, n, v, edge, x_);
        if (!model_.types.on()) return;
        batch.cells(i, cells_);
        scores_.gather_segments(window_, cells_.data(), n, v, x_);
    }

    SequenceModel& model_;  // derived columns are worked out when they are first asked for
    SequenceScores scores_;
    Potentials x_;
    Viterbi viterbi_;
    SegmentViterbi segments_;
    std::vector<const std::string_view*> cells_;
    Window window_;
    SequenceScores::Keys keys_;
};

// Votes for label sequences; ties go to the sequence that was voted for first.
class Ballots {
  public:
    void add(const std::vector<int>& path, i64 votes) {
        for (auto& [voted, count] : ballots_)
            if (voted == path) return count += votes, void();
        ballots_.emplace_back(path, votes);
    }

    std::vector<int> winner() const {
        const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
        const auto best = std::max_element(ballots_.begin(), ballots_.end(), fewer);
        return best == ballots_.end() ? std::vector<int>{} : best->first;
    }

  private:
    std::vector<std::pair<std::vector<int>, i64>> ballots_;
};

}  // namespace perceptive
