// What Python calls columns, rules and templates, as the core has them.
#pragma once

#include <nanobind/stl/pair.h>

#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rules.hpp"
#include "sequence/templates.hpp"

namespace perceptive {

using ColumnSpec = std::tuple<std::string, int, int, std::string>;  // function, its number, base, how it is read

inline Derive derive_named(const std::string& name) {
    static const std::map<std::string, Derive> all = {
        {"", Derive::itself},         {"lower", Derive::lower},   {"norm", Derive::norm},
        {"prefix", Derive::prefix},   {"suffix", Derive::suffix}, {"shape", Derive::shape},
        {"pattern", Derive::pattern}, {"has", Derive::has},       {"is", Derive::is},
        {"length", Derive::length},   {"in", Derive::in},
    };
    const auto found = all.find(name);
    if (found == all.end()) throw std::invalid_argument("no such column function: " + name);
    return found->second;
}

inline RuleName rule_named(const std::string& name) {
    if (name == "perceptron") return RuleName::perceptron;
    if (name == "pa") return RuleName::pa;
    if (name == "pa1") return RuleName::pa1;
    if (name == "pa2") return RuleName::pa2;
    if (name == "mira") return RuleName::mira;
    throw std::invalid_argument("no such rule for sequences: " + name);
}

using TemplateSpec = std::pair<int, std::vector<std::pair<int, int>>>;

inline std::vector<Template> templates_of(const std::vector<TemplateSpec>& specs) {
    std::vector<Template> templates;
    for (const auto& [name, parts] : specs) {
        templates.push_back({name, {}});
        for (const auto& [column, offset] : parts) templates.back().parts.push_back({column, offset});
    }
    return templates;
}

}  // namespace perceptive
