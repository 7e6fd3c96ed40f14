// Checks of what comes from outside: from a caller, or from a file that may be forged.
#pragma once

#include <stdexcept>

namespace perceptive {

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

}  // namespace perceptive
