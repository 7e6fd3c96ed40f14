// Tokens from Python: strings, tuples of columns, or dicts of features, copied so that the GIL can be released.
#pragma once

#include <nanobind/stl/tuple.h>

#include <cfloat>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/arrays.hpp"
#include "sequence/token_batch.hpp"

namespace perceptive {

class TokenReader {
  public:
    TokenBatch batch;

    // `alike`: every sentence has the columns of the first, not only every token those of its sentence.
    explicit TokenReader(int n_columns, bool alike = false) : n_columns_(n_columns), alike_(alike) {}

    // Append sentence i of the caller's list.
    void sentence(nb::handle tokens, i64 i) {
        const bool list = PyList_Check(tokens.ptr());
        if (!list && !PyTuple_Check(tokens.ptr()))
            throw nb::type_error(
                ("sentence " + std::to_string(i) + " is a " + type_name(tokens) + "; give a list of tokens").c_str());
        const Py_ssize_t n = list ? PyList_Size(tokens.ptr()) : PyTuple_Size(tokens.ptr());
        if (!alike_) width_ = -1;
        for (Py_ssize_t t = 0; t < n; ++t) {
            const nb::object token =
                nb::borrow(list ? PyList_GetItem(tokens.ptr(), t) : PyTuple_GetItem(tokens.ptr(), t));
            if (!token.is_valid()) throw nb::python_error();
            read(token, i, t);
        }
        batch.end_sentence();
    }

    // The labels of the sentence that was read last, as numbers; None is −1.
    void labels(nb::handle given, const nb::dict& index, i64 i, std::vector<std::int32_t>& to) const {
        const bool list = PyList_Check(given.ptr());
        if (!list && !PyTuple_Check(given.ptr()))
            throw nb::type_error(
                ("the labels of sentence " + std::to_string(i) + " are a " + type_name(given) + "; give a list")
                    .c_str());
        const Py_ssize_t n = list ? PyList_Size(given.ptr()) : PyTuple_Size(given.ptr());
        const i64 tokens = batch.tokens(batch.size() - 1);
        if (n != tokens)
            throw std::invalid_argument("sentence " + std::to_string(i) + " has " + std::to_string(tokens) +
                                        " tokens, but " + std::to_string(n) + " labels; give one a token");
        for (Py_ssize_t t = 0; t < n; ++t) {
            PyObject* label = list ? PyList_GetItem(given.ptr(), t) : PyTuple_GetItem(given.ptr(), t);
            if (label == Py_None) {
                to.push_back(-1);
                continue;
            }
            PyObject* found = label ? PyDict_GetItemWithError(index.ptr(), label) : nullptr;
            if (!found) {
                if (PyErr_Occurred()) throw nb::python_error();
                throw std::invalid_argument("sentence " + std::to_string(i) + ", token " + std::to_string(t) +
                                            ": an unknown label");
            }
            to.push_back(static_cast<std::int32_t>(PyLong_AsLong(found)));
        }
    }

  private:
    static std::string type_name(nb::handle h) { return nb::cast<std::string>(h.type().attr("__name__")); }

    static std::string_view utf8(nb::handle text, i64 i, i64 t) {
        if (!PyUnicode_Check(text.ptr()))
            throw nb::type_error(("sentence " + std::to_string(i) + ", token " + std::to_string(t) +
                                  ": a column is a " + type_name(text) + "; give strings")
                                     .c_str());
        Py_ssize_t size = 0;
        const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (!bytes) {
            PyErr_Clear();
            throw std::invalid_argument("sentence " + std::to_string(i) + ", token " + std::to_string(t) +
                                        ": a string has no UTF-8 form; repair the text");
        }
        return {bytes, static_cast<std::size_t>(size)};
    }

    void read(const nb::object& token, i64 i, i64 t) {
        const bool list = PyList_Check(token.ptr()), tuple = PyTuple_Check(token.ptr());
        if (PyDict_Check(token.ptr())) {
            need_width(0, i, t);
            batch.begin_token(true);
            read_features(nb::borrow<nb::dict>(token), i, t);
        } else if (PyUnicode_Check(token.ptr()) || list || tuple) {
            batch.begin_token(false);
            const Py_ssize_t n = list ? PyList_Size(token.ptr()) : tuple ? PyTuple_Size(token.ptr()) : 1;
            if (n < n_columns_)
                throw std::invalid_argument("sentence " + std::to_string(i) + ", token " + std::to_string(t) + " has " +
                                            std::to_string(n) + " columns, but the templates read " +
                                            std::to_string(n_columns_) + "; give them, or choose other templates");
            need_width(n, i, t);
            for (int c = 0; c < n_columns_; ++c)
                batch.add_cell(utf8(list    ? PyList_GetItem(token.ptr(), c)
                                    : tuple ? PyTuple_GetItem(token.ptr(), c)
                                            : token.ptr(),
                                    i, t));
        } else {
            throw nb::type_error(("sentence " + std::to_string(i) + ", token " + std::to_string(t) + " is a " +
                                  type_name(token) + "; give a string, a tuple of columns, or a dict of features")
                                     .c_str());
        }
        batch.end_token();
    }

    // Tokens have as many columns as the first one; 0: they are dicts.
    void need_width(i64 n, i64 i, i64 t) {
        if (width_ < 0) width_ = n;
        if (n == width_) return;
        const std::string where = "sentence " + std::to_string(i) + ", token " + std::to_string(t);
        if (n == 0 || width_ == 0)
            throw std::invalid_argument(
                where + (n == 0 ? " is a dict, but those before it are not" : " is no dict, but those before it are") +
                "; give all tokens in one form");
        throw std::invalid_argument(where + " has " + std::to_string(n) + (n == 1 ? " column" : " columns") +
                                    ", but those before it have " + std::to_string(width_) +
                                    "; give every token the same columns");
    }

    void read_features(const nb::dict& features, i64 i, i64 t) {
        for (const auto& [name, value] : features) {
            const std::optional<double> number = plain_number(value.ptr());
            if (!number || !(*number >= -FLT_MAX && *number <= FLT_MAX)) {
                PyErr_Clear();
                throw std::invalid_argument("sentence " + std::to_string(i) + ", token " + std::to_string(t) +
                                            ": a feature is neither a finite number nor a string");
            }
            if (*number == 0.0) continue;
            const std::string_view key = utf8(name, i, t);
            std::string_view text;
            const bool is_text = PyUnicode_Check(value.ptr());
            if (is_text) text = utf8(value, i, t);
            batch.add_feature(key, is_text ? &text : nullptr, static_cast<float>(*number));
        }
    }

    int n_columns_;
    bool alike_;
    i64 width_ = -1;
};

}  // namespace perceptive
