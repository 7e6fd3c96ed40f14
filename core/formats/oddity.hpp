// Something odd, and no error: how many lines have it, where the first of them has it, and what is said of that one.
#pragma once

#include <string>

#include "rows.hpp"

namespace perceptive {

struct Oddity {
    i64 lines = 0;
    const char* first = nullptr;
    std::string said;

    template <class Say>
    void note(const char* at, Say say) {
        if (lines++ == 0) first = at, said = say();
    }
};

}  // namespace perceptive
