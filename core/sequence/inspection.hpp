// What a sequence model holds, by name: its heaviest weights.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "sequence/model.hpp"

namespace perceptive {

struct NamedWeight {
    float weight;
    bool pairs;  // of a pair of labels, previous·L + label, or of one label
    i64 row, label;
    std::int32_t in = RAW;                 // the template of its feature
    std::vector<std::string> values = {};  // that the feature read; perhaps no valid UTF-8, where they were cut
};

inline std::string value_text(const SequenceModel& model, const NamedWeight& of, std::size_t p) {
    const Id id = model.kind(of.pairs).names.ids(of.row)[p];
    if (of.in >= 0) return model.columns.text(model.kind(of.pairs).templates[of.in].parts[p].column, id);
    if (of.in == RAW) return std::string(model.raw.name(id));
    if (of.in != SEGMENT_TEXT && of.in != SEGMENT_SHAPE) return std::to_string(id);
    const int column = of.in == SEGMENT_TEXT ? model.segment_features.text : model.segment_features.shape;
    const bool known = column >= 0 && id - FIRST_ID < model.columns.symbols(column).size();
    return known ? model.columns.text(column, id) : std::string();
}

// The n largest weights of features (n < 0: all), the first of equals first.
inline std::vector<NamedWeight> heaviest(const SequenceModel& model, const LabelWeights& v, i64 n) {
    std::vector<NamedWeight> found;
    for (const bool pairs : {false, true}) {
        const RowStore& store = pairs ? v.edge : v.state;
        for (i64 r = 0; r < store.size(); ++r)
            store.each(r, [&](i64 column, float weight) {
                found.push_back({weight, pairs, r, model.label_at(pairs, column)});
            });
    }
    std::stable_sort(found.begin(), found.end(), [](const NamedWeight& a, const NamedWeight& b) {
        return std::abs(a.weight) > std::abs(b.weight);
    });
    if (n >= 0 && static_cast<i64>(found.size()) > n) found.erase(found.begin() + n, found.end());
    for (NamedWeight& one : found) {
        const FeatureNames& names = model.kind(one.pairs).names;
        one.in = names.template_of(one.row);
        for (std::size_t p = 0; p < names.count(one.row); ++p) one.values.push_back(value_text(model, one, p));
    }
    return found;
}

}  // namespace perceptive
