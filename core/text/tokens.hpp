// A text as words. Its twin is tests/support/twins/text.py.
//
// A run is a maximal sequence of word characters (letters, numbers, connectors such as the underscore), with the marks
// among them and after them. A run is one word, but letters of scripts written without spaces are words of their own,
// with the marks that follow. All else separates, broken UTF-8 too. Lower-casing is Unicode's simple one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "text/characters.hpp"

namespace perceptive {

class Tokens {
  public:
    explicit Tokens(bool lowercase, bool with_runs)
        : characters_(Characters::all()), lowercase_(lowercase), with_runs_(with_runs) {
        for (std::uint32_t code = 0; code < 0x80; ++code) {
            const std::uint32_t kept = lowercase ? characters_.lower(code) : code;
            ascii_[code] = characters_[code].role == Role::separator ? ' ' : static_cast<char>(kept);
        }
    }

    // Reads a text in place of the last one. Views of the last one end here.
    void read(std::string_view utf8) {
        if (utf8.size() > max_size) throw std::length_error("a text must be no longer than 1 GiB; split it");
        // A word takes a space more, a run two brackets, a lower-case letter at most 3/2 of the bytes; and a word takes
        // at least two bytes, its separator being one.
        if (const std::size_t room = 2 * utf8.size() + padding; words_.size() < room) {
            words_.resize(room);
            begins_.resize(utf8.size() / 2 + 2);
            ends_.resize(utf8.size() / 2 + 2);
            if (with_runs_) runs_.resize(room);
        }
        points_.clear();
        run_ends_.clear();
        n_words_ = word_at_ = run_at_ = 0;
        State state = State::outside;
        const auto* p = reinterpret_cast<const unsigned char*>(utf8.data());
        const unsigned char* const end = p + utf8.size();
        while (p < end) {
            if (!with_runs_ && state != State::alone) {
                for (; end - p >= 8 && is_ascii(p); p += 8) state = read_ascii(p, state);
                if (p == end) break;
            }
            const Decoded character = decode_utf8(p, end);
            p += character.length;
            broken_ += !character.sound;
            const Role role = character.sound ? characters_[character.code].role : Role::separator;
            if (role == Role::separator || (role == Role::mark && state == State::outside)) {
                state = leave(state);
                continue;
            }
            state = enter(state, role);
            const std::uint32_t code = lowercase_ ? characters_.lower(character.code) : character.code;
            word_at_ += encode_utf8(code, &words_[word_at_]);
            if (with_runs_) {
                points_.push_back(run_at_);
                run_at_ += encode_utf8(code, &runs_[run_at_]);
            }
        }
        leave(state);
        points_.push_back(run_at_);
    }

    // The words, and n of them from word i on, joined by single spaces. A few bytes after them may be read.
    std::size_t n_words() const { return n_words_; }
    std::string_view words(std::size_t i, std::size_t n) const {
        return {words_.data() + begins_[i], ends_[i + n - 1] - begins_[i]};
    }

    // The characters of all runs, each run in < and >. Run r ends before character run_end(r).
    std::size_t n_runs() const { return run_ends_.size(); }
    std::size_t run_end(std::size_t r) const { return run_ends_[r]; }
    std::string_view characters(std::size_t i, std::size_t n) const {
        return {runs_.data() + points_[i], points_[i + n] - points_[i]};
    }

    std::uint64_t broken() const { return broken_; }  // sequences of bytes that are not UTF-8, in all texts

  private:
    static constexpr std::size_t max_size = std::size_t{1} << 30;  // offsets are 32 bits
    static constexpr std::size_t padding = 8;
    enum class State { outside, inside, alone };  // of a run; after a letter that is a word

    static bool is_ascii(const unsigned char* p) {  // 8 bytes
        std::uint64_t bytes;
        std::memcpy(&bytes, p, 8);
        return (bytes & 0x8080808080808080u) == 0;
    }

    // Eight ASCII characters, in a run or outside, without a branch: where a word ends is hard to foresee.
    State read_ascii(const unsigned char* p, State state) {
        char* const words = words_.data();
        std::uint32_t *const begins = begins_.data(), *const ends = ends_.data();
        std::uint32_t at = word_at_, n = n_words_, inside = state == State::inside;
        std::uint32_t begin = begins[n];
        for (int k = 0; k < 8; ++k) {
            const char c = ascii_[p[k]];
            const std::uint32_t of_word = c != ' ';
            words[at] = c;
            begin = inside ? begin : at;
            begins[n] = begin;
            ends[n] = at;
            n += inside & ~of_word;
            at += inside | of_word;
            inside = of_word;
        }
        word_at_ = at;
        n_words_ = n;
        return inside ? State::inside : State::outside;
    }

    // Before a character of a run.
    State enter(State state, Role role) {
        if (role == Role::mark || (state == State::inside && role == Role::letter)) return state;
        if (state != State::outside) {
            end_word();
        } else if (with_runs_) {
            points_.push_back(run_at_);
            runs_[run_at_++] = '<';
        }
        begins_[n_words_] = word_at_;
        return role == Role::word ? State::alone : State::inside;
    }

    // Before a separator, and at the end.
    State leave(State state) {
        if (state == State::outside) return state;
        end_word();
        if (with_runs_) {
            points_.push_back(run_at_);
            runs_[run_at_++] = '>';
            run_ends_.push_back(points_.size());
        }
        return State::outside;
    }

    void end_word() {
        ends_[n_words_++] = word_at_;
        words_[word_at_++] = ' ';
    }

    const Characters& characters_;
    bool lowercase_, with_runs_;
    std::array<char, 128> ascii_{};             // of a word: the byte as it is kept; else a space
    std::vector<char> words_, runs_;            // with room to spare
    std::vector<std::uint32_t> begins_, ends_;  // of the words; with room to spare
    std::vector<std::uint32_t> points_;         // where the characters of the runs begin, and the end
    std::vector<std::size_t> run_ends_;         // in points_
    std::uint32_t n_words_ = 0, word_at_ = 0, run_at_ = 0;
    std::uint64_t broken_ = 0;
};

}  // namespace perceptive
