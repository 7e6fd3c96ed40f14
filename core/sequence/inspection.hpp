// What a sequence model holds, by name: its heaviest weights.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sequence/model.hpp"

namespace perceptive {

struct NamedWeight {
    float weight;
    bool pairs;  // of a label pair, previous·L + label, or of a label
    i64 row;     // of the feature
    i64 label;
};

// The n largest weights of features (n < 0: all), the first of equals first.
inline std::vector<NamedWeight> heaviest(const SequenceModel& model, const LabelWeights& v, i64 n) {
    std::vector<NamedWeight> found;
    const auto collect = [&](const RowStore& store, bool pairs) {
        for (i64 r = 0; r < store.size(); ++r)
            for (i64 p = 0; p < (pairs ? model.L : 1); ++p)
                for (i64 y = 0; y < model.L; ++y)
                    if (store.row(r)[p * model.S + y] != 0.0f)
                        found.push_back({store.row(r)[p * model.S + y], pairs, r, p * model.L + y});
    };
    collect(v.state, false);
    collect(v.edge, true);
    std::stable_sort(found.begin(), found.end(), [](const NamedWeight& a, const NamedWeight& b) {
        return std::abs(a.weight) > std::abs(b.weight);
    });
    if (n >= 0 && static_cast<i64>(found.size()) > n) found.resize(static_cast<std::size_t>(n));
    return found;
}

// The values that the feature of a row read, as text; perhaps no valid UTF-8, where it was cut.
inline std::vector<std::string> feature_values(const SequenceModel& model, bool pairs, i64 row) {
    const Templates& templates = model.kind(pairs).templates;
    const FeatureNames& names = model.kind(pairs).names;
    const std::int32_t in = names.template_of(row);
    std::vector<std::string> values;
    for (std::size_t p = 0; p < names.count(row); ++p) {
        const Id id = names.ids(row)[p];
        std::string text;
        if (in == RAW) {
            text = std::string(model.raw.name(id));
        } else if (in == SEGMENT_TEXT || in == SEGMENT_SHAPE) {
            const int column = in == SEGMENT_TEXT ? model.segment_features.text : model.segment_features.shape;
            if (column >= 0 && id - FIRST_ID < model.columns.symbols(column).size())
                text = model.columns.text(column, id);
        } else if (in < RAW) {
            text = std::to_string(id);
        } else {
            text = model.columns.text(templates[in].parts[p].column, id);
        }
        values.push_back(std::move(text));
    }
    return values;
}

}  // namespace perceptive
