// Where the weights of hashed features lie: side by side, in the order in which the features were first met, so that
// memory grows with the features that there are and not with the width of the hash.
//
// Place 0 is that of all features that were never met. Nothing is learned there, so its weights stay 0.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "rows.hpp"

namespace perceptive {

class Places {
  public:
    explicit Places(i64 n_features)
        : n_features_(n_features),
          place_(
              static_cast<std::int32_t*>(std::calloc(static_cast<std::size_t>(n_features) + 1, sizeof(std::int32_t))),
              &std::free) {
        if (!place_) throw std::bad_alloc();
    }

    i64 n_features() const { return n_features_; }
    i64 size() const { return static_cast<i64>(feature_.size()); }  // place 0 included
    const std::vector<std::int32_t>& features() const { return feature_; }

    std::int32_t find(i64 feature) const { return place_.get()[feature]; }

    std::int32_t meet(i64 feature) {
        std::int32_t& place = place_.get()[feature];
        if (place == 0) {
            feature_.push_back(static_cast<std::int32_t>(feature));
            place = static_cast<std::int32_t>(size() - 1);
        }
        return place;
    }

    // Forget what was met since there were so many places.
    void forget(i64 size) {
        for (; this->size() > size; feature_.pop_back()) place_.get()[feature_.back()] = 0;
    }

  private:
    i64 n_features_;
    std::unique_ptr<std::int32_t, decltype(&std::free)> place_;  // pages that are never met stay unwritten
    std::vector<std::int32_t> feature_{-1};                      // by place
};

}  // namespace perceptive
