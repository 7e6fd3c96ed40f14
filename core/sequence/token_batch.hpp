// Some sentences as they came: each token is a row of strings, one a column, a bag of named features, or both.
#pragma once

#include <string_view>
#include <vector>

#include "rows.hpp"

namespace perceptive {

class TokenBatch {
  public:
    void clear() {  // the memory is kept
        text_.clear(), ends_.resize(1), first_token_.resize(1), cell_of_.clear(), views_.clear();
        names_.clear(), feature_start_.resize(1), feature_end_.clear(), value_.clear();
        has_bags_ = false;
    }

    // A token is begun, given its cells or its features, and ended.
    void begin_token(bool is_bag) {
        cell_of_.push_back(is_bag ? -1 : static_cast<i64>(ends_.size()) - 1);
        has_bags_ |= is_bag;
    }
    void add_cell(std::string_view text) {
        text_.insert(text_.end(), text.begin(), text.end());
        ends_.push_back(text_.size());
    }
    // Its name is `name`, or `name=text`.
    void add_feature(std::string_view name, const std::string_view* text, float value) {
        names_.insert(names_.end(), name.begin(), name.end());
        if (text) {
            names_.push_back('=');
            names_.insert(names_.end(), text->begin(), text->end());
        }
        feature_end_.push_back(names_.size());
        value_.push_back(value);
        has_bags_ = true;
    }
    void end_token() { feature_start_.push_back(value_.size()); }
    void end_sentence() { first_token_.push_back(static_cast<i64>(cell_of_.size())); }

    i64 size() const { return static_cast<i64>(first_token_.size()) - 1; }
    i64 tokens(i64 i) const { return first_token_[i + 1] - first_token_[i]; }
    bool has_bags() const { return has_bags_; }

    // The columns of a token, or null if it is a bag. Valid until the next token is added.
    const std::string_view* cells(i64 i, i64 t) const {
        if (views_.size() + 1 != ends_.size()) {
            views_.resize(ends_.size() - 1);
            for (std::size_t c = 0; c < views_.size(); ++c)
                views_[c] = {text_.data() + ends_[c], ends_[c + 1] - ends_[c]};
        }
        const i64 cell = cell_of_[first_token_[i] + t];
        return cell < 0 ? nullptr : views_.data() + cell;
    }

    // The columns of each token of a sentence.
    void cells(i64 i, std::vector<const std::string_view*>& out) const {
        out.resize(static_cast<std::size_t>(tokens(i)));
        for (i64 t = 0; t < tokens(i); ++t) out[t] = cells(i, t);
    }

    // each(name, value) for the features that a token has by name
    template <class Each>
    void features(i64 i, i64 t, Each each) const {
        if (!has_bags_) return;
        const auto token = static_cast<std::size_t>(first_token_[i] + t);
        for (std::size_t f = feature_start_[token]; f < feature_start_[token + 1]; ++f) {
            const std::size_t begin = f == 0 ? 0 : feature_end_[f - 1];
            each(std::string_view(names_.data() + begin, feature_end_[f] - begin), value_[f]);
        }
    }

  private:
    std::vector<char> text_;
    std::vector<std::size_t> ends_{0};
    std::vector<i64> first_token_{0}, cell_of_;
    mutable std::vector<std::string_view> views_;
    std::vector<char> names_;
    std::vector<std::size_t> feature_start_{0}, feature_end_;
    std::vector<float> value_;
    bool has_bags_ = false;
};

}  // namespace perceptive
