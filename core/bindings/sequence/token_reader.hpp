// Tokens from Python: strings, tuples of columns, dicts of features, or tuples of columns that end in such a dict;
// copied so that the GIL can be released.
#pragma once

#include <cfloat>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/arrays.hpp"
#include "sequence/token_batch.hpp"

namespace perceptive {

inline bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

inline nb::object item(nb::handle list, i64 i) {
    nb::object found = nb::steal(PySequence_GetItem(list.ptr(), static_cast<Py_ssize_t>(i)));
    if (!found.is_valid()) throw nb::python_error();
    return found;
}

class TokenReader {
  public:
    TokenBatch batch;

    // `alike`: every sentence has the columns of the first, not only every token those of its sentence.
    explicit TokenReader(int n_columns, bool alike = false) : n_columns_(n_columns), alike_(alike) {}

    // Append sentence i of the caller's list.
    void sentence(nb::handle tokens, i64 i) {
        if (!is_list(tokens)) wrong_type(where(i) + " is a " + type_name(tokens) + "; give a list of tokens");
        if (!alike_) width_ = -1;
        for (i64 t = 0, n = static_cast<i64>(nb::len(tokens)); t < n; ++t) read(item(tokens, t), i, t);
        batch.end_sentence();
    }

    // The labels of the sentence that was read last, as numbers; None is −1.
    void labels(nb::handle given, const nb::dict& index, i64 i, std::vector<std::int32_t>& to) const {
        if (!is_list(given)) wrong_type("the labels of " + where(i) + " are a " + type_name(given) + "; give a list");
        const i64 n = static_cast<i64>(nb::len(given)), tokens = batch.tokens(batch.size() - 1);
        if (n != tokens)
            throw std::invalid_argument(where(i) + " has " + std::to_string(tokens) + " tokens, but " +
                                        std::to_string(n) + " labels; give one a token");
        for (i64 t = 0; t < n; ++t) {
            const nb::object label = item(given, t);
            PyObject* found = label.is_none() ? nullptr : PyDict_GetItemWithError(index.ptr(), label.ptr());
            if (!found && PyErr_Occurred()) throw nb::python_error();
            if (!found && !label.is_none()) throw std::invalid_argument(where(i, t) + ": an unknown label");
            to.push_back(found ? static_cast<std::int32_t>(PyLong_AsLong(found)) : -1);
        }
    }

  private:
    static std::string where(i64 i) { return "sentence " + std::to_string(i); }
    static std::string where(i64 i, i64 t) { return where(i) + ", token " + std::to_string(t); }
    static std::string type_name(nb::handle h) { return nb::cast<std::string>(h.type().attr("__name__")); }
    [[noreturn]] static void wrong_type(const std::string& message) { throw nb::type_error(message.c_str()); }

    static std::string_view utf8(nb::handle text, i64 i, i64 t) {
        if (!PyUnicode_Check(text.ptr()))
            wrong_type(where(i, t) + ": a column is a " + type_name(text) + "; give strings");
        if (const auto bytes = utf8_of(text)) return *bytes;
        PyErr_Clear();
        throw std::invalid_argument(where(i, t) + ": a string has no UTF-8 form; repair the text");
    }

    void read(const nb::object& token, i64 i, i64 t) {
        if (PyDict_Check(token.ptr())) {
            need_width(0, i, t);
            batch.begin_token(true);
            read_features(nb::borrow<nb::dict>(token), i, t);
        } else if (PyUnicode_Check(token.ptr()) || is_list(token)) {
            const bool one = PyUnicode_Check(token.ptr());
            const i64 all = one ? 1 : static_cast<i64>(nb::len(token));
            const nb::object last = one || all == 0 ? nb::none() : item(token, all - 1);
            const bool valued = PyDict_Check(last.ptr());
            const i64 n = all - valued;
            if (n < n_columns_)
                throw std::invalid_argument(where(i, t) + " has " + std::to_string(n) +
                                            " columns, but the templates read " + std::to_string(n_columns_) +
                                            "; give them, or train with fewer columns or other templates");
            need_width(n, i, t);
            batch.begin_token(false);
            for (int c = 0; c < n_columns_; ++c) batch.add_cell(utf8(one ? token : item(token, c), i, t));
            if (valued) read_features(nb::borrow<nb::dict>(last), i, t);
        } else {
            wrong_type(where(i, t) + " is a " + type_name(token) +
                       "; give a string, a tuple of columns, or a dict of features");
        }
        batch.end_token();
    }

    // Tokens have as many columns as the first one; 0: they are dicts.
    void need_width(i64 n, i64 i, i64 t) {
        if (width_ < 0) width_ = n;
        if (n == width_) return;
        if (n == 0 || width_ == 0)
            throw std::invalid_argument(
                where(i, t) +
                (n == 0 ? " is a dict, but those before it are not" : " is not a dict, but those before it are") +
                "; give all tokens in one form");
        throw std::invalid_argument(where(i, t) + " has " + std::to_string(n) + (n == 1 ? " column" : " columns") +
                                    ", but those before it have " + std::to_string(width_) +
                                    "; give every token the same columns");
    }

    // NumPy's numbers are numbers, too.
    static std::optional<double> number_of(PyObject* value) {
        if (const std::optional<double> plain = plain_number(value)) return plain;
        if (PyErr_Occurred() || PyUnicode_Check(value) || !PyNumber_Check(value) || PyComplex_Check(value))
            return std::nullopt;
        const double number = PyFloat_AsDouble(value);
        if (number == -1.0 && PyErr_Occurred()) return std::nullopt;
        return number;
    }

    void read_features(const nb::dict& features, i64 i, i64 t) {
        for (const auto& [name, value] : features) {
            const std::optional<double> number = number_of(value.ptr());
            if (!number || !(*number >= -FLT_MAX && *number <= FLT_MAX)) {
                PyErr_Clear();
                throw std::invalid_argument(where(i, t) + ": a feature is neither a finite number nor a string");
            }
            if (*number == 0.0) continue;
            const std::string_view key = utf8(name, i, t);
            const bool is_text = PyUnicode_Check(value.ptr());
            const std::string_view text = is_text ? utf8(value, i, t) : std::string_view();
            batch.add_feature(key, is_text ? &text : nullptr, static_cast<float>(*number));
        }
    }

    int n_columns_;
    bool alike_;
    i64 width_ = -1;
};

}  // namespace perceptive
