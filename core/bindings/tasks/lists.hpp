// Lists of candidates, checked.
#pragma once

#include "bindings/arrays.hpp"
#include "tasks/ranking.hpp"

namespace perceptive {

inline Pairs pairs_by_name(const std::string& name) {
    return by_name<Pairs>(name, {"best", "worst", "all"}, "unknown pairs " + name);
}

// The number of lists; raises where they are not the rows, one after the other.
inline i64 check_starts(i64 n_rows, const Vector<const i64>& starts) {
    require(starts.size() >= 1 && starts.data()[0] == 0, "the first list must begin with the first row");
    const i64 n_lists = length(starts) - 1;
    for (i64 t = 0; t < n_lists; ++t) require(starts.data()[t] < starts.data()[t + 1], "a list is empty");
    require(starts.data()[n_lists] == n_rows, "the lists and the rows differ in number");
    return n_lists;
}

// The same, with their grades.
inline i64 check_lists(i64 n_rows, const Vector<const i64>& starts, const Vector<const double>& grades) {
    const i64 n_lists = check_starts(n_rows, starts);
    require(length(grades) == n_rows, "grades and rows differ in number");
    for (i64 i = 0; i < n_rows; ++i) require(std::isfinite(grades.data()[i]), "a grade is not finite");
    return n_lists;
}

}  // namespace perceptive
