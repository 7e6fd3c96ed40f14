// Updates of linear models, as a journal keeps them: step k is v ← a·v + Σ entries, an entry adding coefficient·vector
// to one class. Vectors are stored once, however often an example errs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "journal.hpp"

namespace perceptive {

struct Entry {
    std::int32_t label;  // class
    std::int32_t vector;
    double coefficient;
    double bias;  // added to the bias weight of the class
};

template <class W>
class RowUpdates {
  public:
    std::vector<double> scale;        // a, one per step
    std::vector<i64> first_entry{0};  // entries of step k: [first_entry[k], first_entry[k + 1])
    std::vector<Entry> entries;
    std::vector<i64> vector_start{0};
    std::vector<std::int32_t> index;
    std::vector<W> value;

    i64 vectors() const { return static_cast<i64>(vector_start.size()) - 1; }

    // Rows are about to be numbered anew: forget which of them are stored.
    void begin_rows(i64 n_rows) { stored_.assign(static_cast<size_t>(n_rows), -1); }

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

    void close_step(double a) {
        scale.push_back(a);
        first_entry.push_back(static_cast<i64>(entries.size()));
    }

    void merge_steps(const std::vector<char>& keep) {
        RowUpdates merged;
        std::vector<std::int32_t> moved(static_cast<size_t>(vectors()), -1);
        std::vector<Entry> open;  // of the steps since the last voter kept
        double a = 1.0;
        for (size_t step = 0; step < scale.size(); ++step) {
            for (Entry& entry : open) entry.coefficient *= scale[step], entry.bias *= scale[step];
            a *= scale[step];
            open.insert(open.end(), entries.begin() + first_entry[step], entries.begin() + first_entry[step + 1]);
            if (!keep[step + 1]) continue;
            if (open.size() > 2)
                merged.append_sum(*this, open);
            else
                for (const Entry& entry : open) {
                    std::int32_t& to = moved[entry.vector];
                    if (to < 0) {
                        for (i64 p = vector_start[entry.vector]; p < vector_start[entry.vector + 1]; ++p)
                            merged.append(index[p], value[p]);
                        to = merged.close_vector();
                    }
                    merged.add_entry(entry.label, to, entry.coefficient, entry.bias);
                }
            merged.close_step(a);
            open.clear();
            a = 1.0;
        }
        for (std::int32_t& row : stored_)
            if (row >= 0) row = moved[row];
        merged.stored_ = std::move(stored_);
        *this = std::move(merged);
    }

    // v ← voter k, given v = voter 0: v.at(feature, class) is a weight, and shrink(a) multiplies all of them.
    template <class V, class Shrink>
    void replay(i64 k, V& v, double* v_bias, i64 n_classes, Shrink shrink) const {
        for (i64 step = 0; step < k; ++step) {
            if (scale[step] != 1.0) {
                shrink(scale[step]);
                for (i64 c = 0; c < n_classes; ++c) v_bias[c] *= scale[step];
            }
            for (i64 e = first_entry[step]; e < first_entry[step + 1]; ++e) {
                const Entry& entry = entries[e];
                for (i64 p = vector_start[entry.vector]; p < vector_start[entry.vector + 1]; ++p)
                    v.at(index[p], entry.label) += entry.coefficient * static_cast<double>(value[p]);
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
    // One entry per class for many: their weighted vectors added up.
    void append_sum(const RowUpdates& source, std::vector<Entry>& many) {
        std::stable_sort(many.begin(), many.end(), [](const Entry& x, const Entry& y) { return x.label < y.label; });
        std::vector<std::pair<std::int32_t, double>> terms;
        for (size_t begin = 0, end; begin < many.size(); begin = end) {
            double bias = 0.0;
            terms.clear();
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

    std::vector<std::int32_t> stored_;  // row of the present data → vector, −1 where it has none
};

template <class W>
using RowJournal = Journal<RowUpdates<W>>;

}  // namespace perceptive
