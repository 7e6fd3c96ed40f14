// What a value of a table means, in every format: missing, a number, or a word. The twin is
// tests/support/twins/meaning.py.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "formats/lines.hpp"
#include "formats/numbers.hpp"

namespace perceptive {

inline bool is_missing(std::string_view value) {
    return value.empty() || ((value.front() | 0x20) == 'n' && is_one_of(value, {"na", "nan", "null"}));
}

inline bool reads_as_number(std::string_view value, double& x) {
    if (value.empty()) return false;
    const char c = value.front(), *const end = value.data() + value.size();
    return (is_digit(c) || c == '-' || c == '+' || c == '.') && read_decimal(value.data(), end, x) == end;
}

// Takes what a text begins with, if it is as the pattern says, in which 0 is any digit; else nothing.
inline std::string_view take(std::string_view& text, std::string_view pattern) {
    const auto same = [](char p, char c) { return p == '0' ? is_digit(c) : p == c; };
    if (text.size() < pattern.size() || !std::equal(pattern.begin(), pattern.end(), text.begin(), same)) return {};
    const std::string_view taken = text.substr(0, pattern.size());
    text.remove_prefix(pattern.size());
    return taken;
}

// A moment as "2020-01-31 12:30:00.5+01:00", without a fraction of 0, and without a time of 0 that has no zone; any
// other value as it is. `room` holds it where it is not in the value as such.
inline std::string_view moment(std::string_view value, std::string& room) {
    if (value.empty() || !is_digit(value.front())) return value;
    std::string_view rest = value;
    const std::string_view date = take(rest, "0000-00-00");
    if (!date.empty() && take(rest, " ").empty() && take(rest, "T").empty()) return value;
    const std::string_view time = take(rest, "00:00:00");
    if (time.empty()) return value;
    std::string_view fraction = rest.substr(0, 1) == "." ? rest.substr(0, rest.find_first_not_of("0123456789", 1)) : "";
    rest.remove_prefix(fraction.size());
    fraction = fraction.substr(0, fraction.find_last_not_of(".0") + 1);
    std::string_view zone = rest == "Z" ? "+00:00" : rest;
    if (zone.empty() && fraction.empty() && time == "00:00:00" && !date.empty()) return date;
    room.assign(date).append(date.empty() ? "" : " ").append(time).append(fraction);
    if (zone.empty()) return room;
    const char sign = zone.front();
    zone.remove_prefix(1);
    const std::string_view hours = take(zone, "00");
    take(zone, ":");
    const std::string_view minutes = take(zone, "00");
    if ((sign != '+' && sign != '-') || hours.empty() || minutes.empty() || !zone.empty()) return value;
    return room.append(1, sign).append(hours).append(1, ':').append(minutes);
}

// The word that a value stands for, however it is written: a boolean is True or False, a moment is as above.
inline std::string_view meant(std::string_view value, std::string& room) {
    const char first = value.empty() ? '\0' : static_cast<char>(value.front() | 0x20);
    if (first == 't' && is_one_of(value, {"true"})) return "True";
    if (first == 'f' && is_one_of(value, {"false"})) return "False";
    return moment(value, room);
}

}  // namespace perceptive
