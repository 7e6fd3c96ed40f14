// From tokens to sentences that are ready to be learned from: which features fire at each token and in each segment.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "sequence/model.hpp"
#include "sequence/token_batch.hpp"

namespace perceptive {

class Encoder {
  public:
    explicit Encoder(SequenceModel& model) : model_(model) {}

    // Append the sentences of a batch, whose labels are there already.
    void add(const TokenBatch& batch, Sentences& data) {
        for (i64 i = 0; i < batch.size(); ++i) add(batch, i, data);
    }

    // Let the model know the strings of a batch.
    void meet(const TokenBatch& batch) {
        for (i64 i = 0; i < batch.size(); ++i) {
            window_.resize(model_.columns, batch.tokens(i));
            for (i64 t = 0; t < batch.tokens(i); ++t) {
                if (const std::string_view* cells = batch.cells(i, t)) model_.columns.token(cells, true, window_.at(t));
                batch.features(i, t, [&](std::string_view name, float) { model_.raw.add(name); });
            }
        }
    }

    // All sentences are there: rare features go, and the others get the rows of weights that they have.
    void finish(Sentences& data, i64 min_count) const {
        data.rows.state = data.state.finish(min_count, [&](Key key) { return model_.state.rows.find(key); });
        data.rows.edge = data.edge.finish(min_count, [&](Key key) { return model_.edge.rows.find(key); });
        data.rows.segment = data.segment.finish(min_count, [&](Key key) { return model_.state.rows.find(key); });
    }

  private:
    void add(const TokenBatch& batch, i64 i, Sentences& data) {
        const i64 n = batch.tokens(i), first = data.tokens();
        window_.resize(model_.columns, n);
        for (i64 t = 0; t < n; ++t) {
            const std::string_view* cells = batch.cells(i, t);
            if (cells) model_.columns.token(cells, true, window_.at(t));
            for (int b = 0; b < data.n_base; ++b) data.base.push_back(window_.at(t)[b]);
        }
        for (i64 t = 0; t < n; ++t) {
            add_token(data, first + t, window_.at(t));
            batch.features(i, t, [&](std::string_view name, float value) {
                const Id id = model_.raw.add(name);
                data.state.add(SequenceModel::raw_key(id), id, RAW, value);
            });
            data.state.start.push_back(static_cast<i64>(data.state.number.size()));
            if (model_.edge.templates.size())  // a number a token is worth leaving out
                data.edge.start.push_back(static_cast<i64>(data.edge.number.size()));
        }
        if (data.longest) {
            batch.cells(i, cells_);
            add_segments(data, n);
        }
        data.hash.push_back(hash(data, first, n));
        data.start.push_back(first + n);
    }

    void add_token(Sentences& data, i64 token, const Id* ids) {
        const Templates &state = model_.state.templates, &edge = model_.edge.templates;
        keys_.resize(std::max(state.size(), edge.size()));
        state.keys(ids, keys_.data());
        for (std::size_t k = 0; k < state.size(); ++k)
            if (keys_[k] != NO_KEY) data.state.numbers.prefetch(keys_[k]);
        for (std::size_t k = 0; k < state.size(); ++k)
            if (keys_[k] != NO_KEY)
                data.state.add(keys_[k], token, static_cast<std::int32_t>(k),
                               model_.scale.empty() ? 1.0f : model_.scale[k]);
        edge.keys(ids, keys_.data());
        for (std::size_t k = 0; k < edge.size(); ++k)
            if (keys_[k] != NO_KEY) data.edge.add(keys_[k], token, static_cast<std::int32_t>(k), 1.0f);
    }

    // Features of all segments of a sentence of n tokens.
    void add_segments(Sentences& data, i64 n) const {
        for (i64 b = 0; b < n; ++b) {
            const i64 slot = static_cast<i64>(data.segment.start.size()) - 1;
            const i64 most = std::min(data.longest, n - b);
            if (slot + most > INT32_MAX) throw std::length_error("too many segments; lower max_segment");
            data.segments.push_back(slot);
            i64 done = 1;
            const auto close = [&](i64 length) {
                for (; done < length; ++done)
                    data.segment.start.push_back(static_cast<i64>(data.segment.number.size()));
            };
            model_.segment_features.each_key(window_, cells_.data(), b, most, [&](i64 length, int kind, Key key) {
                close(length);
                data.segment.add(key, slot + length - 1, kind, 1.0f);
            });
            close(most + 1);
        }
    }

    // Of the sentence whose window is at hand: its features and labels.
    std::uint64_t hash(const Sentences& data, i64 first, i64 n) const {
        std::uint64_t hash = static_cast<std::uint64_t>(n);
        const auto add = [&hash](std::uint64_t value) { hash = mix(hash, value + 0x9E37u); };
        for (i64 t = first; t < first + n; ++t) {
            for (i64 p = data.state.start[t]; p < data.state.start[t + 1]; ++p) {
                const auto at = static_cast<std::size_t>(p);
                add(data.state.key[data.state.number[at]]);
                if (!data.state.value.empty()) {
                    std::uint32_t bits;
                    std::memcpy(&bits, &data.state.value[at], sizeof bits);
                    add(bits);
                }
            }
            if (data.longest && model_.segment_features.text >= 0)
                add(static_cast<std::uint64_t>(window_.at(t - first)[model_.segment_features.text]));
            const std::int32_t label = data.label[t];
            if (label >= ANY_LABEL)
                add(static_cast<std::uint64_t>(label + 1));
            else  // by its members: choices are numbered anew for each data set
                data.choices.each_member(label, [&](std::uint64_t y) { add(~y); });
        }
        return hash;
    }

    SequenceModel& model_;
    Window window_;
    std::vector<Key> keys_;
    std::vector<const std::string_view*> cells_;
};

}  // namespace perceptive
