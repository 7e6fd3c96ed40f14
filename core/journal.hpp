// The journal of a run: every update as it was, so that every v_k can be had again and can vote.
//
// Voter 0 is the initial vector; step k makes voter k+1 = a·(voter k) + Σ entries, an entry adding coefficient·vector
// to one class. Vectors are stored once, however often an example errs. survival[k] is m_k, the number of
// examples that voter k predicted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "rows.hpp"

namespace perceptive {

struct Entry {
    std::int32_t label;  // class
    std::int32_t vector;
    double coefficient;
    double bias;  // added to the bias weight of the class
};

template <class W>
class Journal {
  public:
    explicit Journal(i64 max_voters = 0) : max_voters_(max_voters) {}

    std::vector<i64> survival{0};     // one per voter, the present one included
    std::vector<double> scale;        // a, one per step
    std::vector<i64> first_entry{0};  // entries of step k: [first_entry[k], first_entry[k + 1])
    std::vector<Entry> entries;
    std::vector<i64> vector_start{0};
    std::vector<std::int32_t> index;
    std::vector<W> value;

    i64 voters() const { return static_cast<i64>(survival.size()); }
    i64 vectors() const { return static_cast<i64>(vector_start.size()) - 1; }

    // Rows are about to be numbered anew: forget which of them are stored.
    void begin_rows(i64 n_rows) { stored_.assign(static_cast<size_t>(n_rows), -1); }

    void predicted() { ++survival.back(); }

    template <class Row>
    std::int32_t store(const Row& x, i64 row) {
        const bool known_rows = row >= 0 && row < static_cast<i64>(stored_.size());
        if (known_rows && stored_[row] >= 0) return stored_[row];
        for (i64 p = 0; p < x.size(); ++p)
            if (x.value(p) != 0) append(x.index(p), static_cast<W>(x.value(p)));
        const std::int32_t id = close_vector();
        if (known_rows) stored_[row] = id;
        return id;
    }

    // A vector that is no row: fill with append(), then close_vector().
    void append(i64 j, W v) {
        index.push_back(static_cast<std::int32_t>(j));
        value.push_back(v);
    }
    std::int32_t close_vector() {
        vector_start.push_back(static_cast<i64>(index.size()));
        return static_cast<std::int32_t>(vectors() - 1);
    }

    void add_entry(i64 label, std::int32_t vector, double coefficient, double bias) {
        entries.push_back({static_cast<std::int32_t>(label), vector, coefficient, bias});
    }

    // The entries added since the last step are one update, v ← a·v + Σ entries.
    void close_step(double a) {
        scale.push_back(a);
        first_entry.push_back(static_cast<i64>(entries.size()));
        survival.push_back(0);
        if (max_voters_ > 0 && voters() > 2 * max_voters_ + 2) thin();
    }

    // Keep the max_voters longest survivors (the earlier of equals) and the present voter; merge the steps between.
    // A voter that has erred survives no longer, so thinning now and then gives the same as thinning once at the end.
    void thin() {
        if (max_voters_ <= 0 || voters() <= max_voters_) return;
        std::vector<i64> order(static_cast<size_t>(voters() - 1));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) { return survival[a] > survival[b]; });
        order.resize(static_cast<size_t>(std::min<i64>(max_voters_, voters() - 1)));
        std::vector<char> keep(survival.size(), 0);
        for (const i64 k : order) keep[k] = 1;
        keep.back() = 1;
        rebuild(keep);
    }

    // v ← voter k, given v = voter 0; weights of one feature lie `stride` apart.
    void replay(i64 k, double* v, double* v_bias, i64 n_features, i64 stride, i64 n_classes) const {
        for (i64 step = 0; step < k; ++step) {
            if (scale[step] != 1.0) {
                for (i64 j = 0; j < n_features * stride; ++j) v[j] *= scale[step];
                for (i64 c = 0; c < n_classes; ++c) v_bias[c] *= scale[step];
            }
            for (i64 e = first_entry[step]; e < first_entry[step + 1]; ++e) {
                const Entry& entry = entries[e];
                for (i64 p = vector_start[entry.vector]; p < vector_start[entry.vector + 1]; ++p)
                    v[index[p] * stride + entry.label] += entry.coefficient * static_cast<double>(value[p]);
                v_bias[entry.label] += entry.bias;
            }
        }
    }

    // Class c is now called new_label[c].
    void relabel(const i64* new_label, i64 count) {
        for (Entry& entry : entries) {
            if (entry.label >= count) throw std::invalid_argument("relabel: class out of range");
            entry.label = static_cast<std::int32_t>(new_label[entry.label]);
        }
    }

  private:
    void rebuild(const std::vector<char>& keep) {
        Journal<W> kept(max_voters_);
        std::vector<i64> moved(static_cast<size_t>(vectors()), -1);
        std::vector<Entry> merged;  // of the steps since the last voter kept
        double a = 1.0;
        kept.survival[0] = keep[0] ? survival[0] : 0;
        for (i64 step = 0; step + 1 < voters(); ++step) {
            for (Entry& entry : merged) entry.coefficient *= scale[step], entry.bias *= scale[step];
            a *= scale[step];
            merged.insert(merged.end(), entries.begin() + first_entry[step], entries.begin() + first_entry[step + 1]);
            if (!keep[step + 1]) continue;
            if (merged.size() > 2)
                kept.append_sum(*this, merged);
            else
                for (const Entry& entry : merged) {
                    if (moved[entry.vector] < 0) {
                        for (i64 p = vector_start[entry.vector]; p < vector_start[entry.vector + 1]; ++p)
                            kept.append(index[p], value[p]);
                        moved[entry.vector] = kept.close_vector();
                    }
                    kept.add_entry(entry.label, static_cast<std::int32_t>(moved[entry.vector]), entry.coefficient,
                                   entry.bias);
                }
            kept.scale.push_back(a);
            kept.first_entry.push_back(static_cast<i64>(kept.entries.size()));
            kept.survival.push_back(survival[step + 1]);
            merged.clear();
            a = 1.0;
        }
        for (std::int32_t& row : stored_)
            if (row >= 0) row = static_cast<std::int32_t>(moved[row]);
        kept.stored_ = std::move(stored_);
        *this = std::move(kept);
    }

    // One entry per class for many: their weighted vectors added up.
    void append_sum(const Journal& source, std::vector<Entry>& many) {
        std::stable_sort(many.begin(), many.end(), [](const Entry& x, const Entry& y) { return x.label < y.label; });
        for (size_t begin = 0, end; begin < many.size(); begin = end) {
            double bias = 0.0;
            std::vector<std::pair<std::int32_t, double>> terms;
            for (end = begin; end < many.size() && many[end].label == many[begin].label; ++end) {
                const Entry& entry = many[end];
                bias += entry.bias;
                for (i64 p = source.vector_start[entry.vector]; p < source.vector_start[entry.vector + 1]; ++p)
                    terms.emplace_back(source.index[p], entry.coefficient * static_cast<double>(source.value[p]));
            }
            std::stable_sort(terms.begin(), terms.end(), [](auto& x, auto& y) { return x.first < y.first; });
            for (size_t t = 0; t < terms.size();) {
                const std::int32_t j = terms[t].first;
                double total = 0.0;
                for (; t < terms.size() && terms[t].first == j; ++t) total += terms[t].second;
                append(j, static_cast<W>(total));
            }
            add_entry(many[begin].label, close_vector(), 1.0, bias);
        }
    }

    i64 max_voters_;
    std::vector<std::int32_t> stored_;  // row of the present data → vector, −1 where it has none
};

}  // namespace perceptive
