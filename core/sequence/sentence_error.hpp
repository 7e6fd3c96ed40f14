// What is wrong with a sentence: which one it is, what, and what stands before its place ("forced, ").
#pragma once

#include <stdexcept>
#include <string>

#include "rows.hpp"

namespace perceptive {

struct SentenceError : std::invalid_argument {
    SentenceError(i64 sentence, const char* message, const char* about = "")
        : std::invalid_argument(about + ("sentence " + std::to_string(sentence)) + ": " + message),
          example(sentence),
          message(message),
          about(about) {}
    i64 example;
    const char *message, *about;  // literals
};

}  // namespace perceptive
