// Strict JSON (RFC 8259) in one line, read once from left to right: what there is, is asked for as it comes.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "formats/lines.hpp"
#include "formats/numbers.hpp"
#include "text/utf8.hpp"

namespace perceptive {

class JsonReader {
  public:
    static constexpr int deepest = 64;

    void start(const char* p, const char* end) {
        p_ = p;
        end_ = end;
        depth_ = 0;
    }

    // The byte that the next value begins with, or 0 at the end.
    char peek() {
        while (p_ < end_ && (is_blank(*p_) || *p_ == '\r')) ++p_;
        return p_ < end_ ? *p_ : '\0';
    }

    const char* at() const { return p_; }

    // Calls each(key) for the members of an object; it must read the value. The key is gone when it does.
    template <class Each>
    void object(Each&& each) {
        open('{', "an object");
        if (peek() == '}') return close();
        while (true) {
            if (peek() != '"') expected("a key in quotes");
            string(key_);
            if (peek() != ':') expected("':' after the key");
            ++p_;
            each(std::string_view(key_));
            if (!next('}')) return;
        }
    }

    // Calls each(i) for the items of an array; it must read the item.
    template <class Each>
    void array(Each&& each) {
        open('[', "an array");
        if (peek() == ']') return close();
        for (std::size_t i = 0;; ++i) {
            each(i);
            if (!next(']')) return;
        }
    }

    void string(std::string& out) {
        out.clear();
        const char* const quote = p_++;
        while (true) {
            const char* const begin = p_;
            while (p_ < end_ && is_plain(*p_)) ++p_;
            out.append(begin, p_);
            if (p_ == end_) refuse(quote, "the string that begins here is not closed; close it with a quote");
            if (*p_ == '"') return ++p_, void();
            if (*p_ == '\\')
                escape(out);
            else if (static_cast<unsigned char>(*p_) < 32)
                refuse(p_, "there is a control character in a string; write it as \\u00..");
            else
                wide(out);
        }
    }

    // -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
    double number() {
        const char* const begin = p_;
        if (*p_ == '-') ++p_;
        if (p_ < end_ && *p_ == '0')
            ++p_;
        else
            digits();
        if (p_ < end_ && *p_ == '.') {
            ++p_;
            digits();
        }
        if (p_ < end_ && (*p_ == 'e' || *p_ == 'E')) {
            ++p_;
            if (p_ < end_ && (*p_ == '+' || *p_ == '-')) ++p_;
            digits();
        }
        double x = 0.0;
        read_decimal(begin, p_, x);
        if (std::isinf(x))
            refuse(begin, "number '" + shown({begin, static_cast<std::size_t>(p_ - begin)}) +
                              "' is too large for float64; rescale");
        return x;
    }

    void word(std::string_view wanted) {
        if (std::string_view(p_, static_cast<std::size_t>(end_ - p_)).substr(0, wanted.size()) != wanted)
            expected("a value");
        p_ += wanted.size();
    }

    void finish() {
        if (peek(), p_ < end_) expected("the end of the line");
    }

    [[noreturn]] void expected(const char* what) const {
        const std::string said = std::string("expected ") + what + ", found ";
        if (p_ == end_) refuse(p_, said + "the end of the line; write each object on one line");
        const std::string_view rest(p_, static_cast<size_t>(end_ - p_));
        for (const std::string_view name : {"NaN", "Infinity"})  // as Python's json writes them
            if (rest.substr(0, name.size()) == name)
                refuse(p_, said + std::string(name) + ", which is not JSON; write null if it is missing");
        refuse(p_, said + "'" + shown({p_, 1}) + "'");
    }

  private:
    static bool is_plain(char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte >= 32 && byte < 128 && c != '"' && c != '\\';
    }

    void open(char bracket, const char* what) {
        if (peek() != bracket) expected(what);
        if (++depth_ > deepest) refuse(p_, "values are nested deeper than 64; flatten them");
        ++p_;
    }

    void close() {
        --depth_;
        ++p_;
    }

    // Whether there is one more.
    bool next(char bracket) {
        const char c = peek();
        if (c == bracket) return close(), false;
        if (c != ',') expected(bracket == '}' ? "',' or '}'" : "',' or ']'");
        ++p_;
        return true;
    }

    void digits() {
        if (p_ == end_ || !is_digit(*p_)) expected("a digit");
        while (p_ < end_ && is_digit(*p_)) ++p_;
    }

    void escape(std::string& out) {
        static constexpr std::string_view NAMES = "\"\\/bfnrt", MEANT = "\"\\/\b\f\n\r\t";
        const char* const begin = p_++;
        if (p_ == end_) expected("what is escaped");
        if (*p_ != 'u') {
            const std::size_t which = NAMES.find(*p_);
            if (which == std::string_view::npos) expected("one of \" \\ / b f n r t u after '\\'");
            out += MEANT[which];
            ++p_;
            return;
        }
        std::uint32_t code = hex();
        if (code >= 0xD800 && code < 0xDC00 && end_ - p_ >= 2 && p_[0] == '\\' && p_[1] == 'u') {
            ++p_;
            const std::uint32_t low = hex();
            if (low < 0xDC00 || low > 0xDFFF) lone(begin);
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        } else if (code >= 0xD800 && code < 0xE000) {
            lone(begin);
        }
        char bytes[4];
        out.append(bytes, encode_utf8(code, bytes));
    }

    [[noreturn]] static void lone(const char* at) {
        refuse(at, "there is half a surrogate pair in a string; write both, high before low");
    }

    // The four digits after the u at p_.
    std::uint32_t hex() {
        ++p_;
        std::uint32_t code = 0;
        for (int i = 0; i < 4; ++i, ++p_) {
            const char c = p_ < end_ ? static_cast<char>(*p_ | 0x20) : '\0';
            if (p_ < end_ && is_digit(*p_))
                code = code << 4 | static_cast<std::uint32_t>(*p_ - '0');
            else if (c >= 'a' && c <= 'f')
                code = code << 4 | static_cast<std::uint32_t>(c - 'a' + 10);
            else
                expected("four hexadecimal digits after '\\u'");
        }
        return code;
    }

    void wide(std::string& out) {
        const auto* const p = reinterpret_cast<const unsigned char*>(p_);
        const Decoded c = decode_utf8(p, reinterpret_cast<const unsigned char*>(end_));
        if (!c.sound) refuse(p_, "a string is not UTF-8; convert the file to it");
        out.append(p_, static_cast<std::size_t>(c.length));
        p_ += c.length;
    }

    const char *p_ = nullptr, *end_ = nullptr;
    int depth_ = 0;
    std::string key_;
};

}  // namespace perceptive
