// The difference of two feature vectors, which is what a mistake teaches.
#pragma once

#include <algorithm>
#include <vector>

#include "sequence/label_rows.hpp"

namespace perceptive {

// δ = Φ(x, y*) − Φ(x, ŷ), a sparse vector: equal places are added up, in the order in which they first came.
class FeatureDifference {
  public:
    struct Term {
        Place place;
        double value;
    };

    FeatureDifference() : slots_(1024, -1) {}

    void clear() {
        if (terms_.empty()) return;
        std::fill(slots_.begin(), slots_.end(), -1);
        terms_.clear();
    }

    void add(Place place, double value) {
        std::int32_t& slot = slots_[slot_of(place)];
        if (slot >= 0) {
            terms_[slot].value += value;
            return;
        }
        slot = static_cast<std::int32_t>(terms_.size());
        terms_.push_back({place, value});
        if (terms_.size() * 2 > slots_.size()) index(slots_.size() * 2);
    }

    const std::vector<Term>& terms() const { return terms_; }

    // Have every term at another place, which `to` gives for its own. Who then adds, or asks for `dot`, finds the terms
    // again after `find_again`.
    template <class To>
    void move(To to) {
        for (Term& term : terms_) term.place = to(term.place);
    }
    void find_again() { index(slots_.size()); }

    double squared_norm() const {
        double total = 0.0;
        for (const Term& term : terms_) total += term.value * term.value;
        return total;
    }

    double dot(const FeatureDifference& other) const {
        if (other.terms_.size() < terms_.size()) return other.dot(*this);
        double total = 0.0;
        for (const Term& term : terms_) {
            const std::int32_t i = other.slots_[other.slot_of(term.place)];
            if (i >= 0) total += term.value * other.terms_[i].value;
        }
        return total;
    }

  private:
    static std::size_t hash(Place place) {
        place *= 0x9E3779B97F4A7C15ull;
        return static_cast<std::size_t>(place >> 32);
    }
    // Where a place is, or the free slot where it would be.
    std::size_t slot_of(Place place) const {
        std::size_t slot = hash(place) & (slots_.size() - 1);
        while (slots_[slot] >= 0 && terms_[slots_[slot]].place != place) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }
    void index(std::size_t n) {
        slots_.assign(n, -1);
        for (std::size_t i = 0; i < terms_.size(); ++i) slots_[slot_of(terms_[i].place)] = static_cast<std::int32_t>(i);
    }

    std::vector<Term> terms_;
    std::vector<std::int32_t> slots_;
};

}  // namespace perceptive
