// Checks of what comes from outside: from a caller, or from a file that may be forged.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>

namespace perceptive {

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

// The value of an enum whose values have these names, in their order.
template <class Enum>
Enum by_name(const std::string& name, std::initializer_list<const char*> names, const std::string& wrong) {
    int value = 0;
    for (const char* one : names) {
        if (name == one) return static_cast<Enum>(value);
        ++value;
    }
    throw std::invalid_argument(wrong);
}

}  // namespace perceptive
