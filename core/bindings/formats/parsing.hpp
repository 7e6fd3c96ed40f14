// What the bindings of all parsers share: text in, examples out.
#pragma once

#include "bindings/arrays.hpp"
#include "formats/examples.hpp"
#include "formats/features.hpp"
#include "formats/lines.hpp"

namespace perceptive {

// The bytes of any object that has some, held for as long as they are read.
class Text {
  public:
    explicit Text(const nb::object& object) {
        if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
        if (buffer_.len >= Py_ssize_t{1} << 31) {
            PyBuffer_Release(&buffer_);
            throw std::invalid_argument("a block must be below 2 GiB; a line may be no longer");
        }
    }
    ~Text() { PyBuffer_Release(&buffer_); }
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;

    operator std::string_view() const {
        return {static_cast<const char*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
    }

  private:
    Py_buffer buffer_;
};

inline nb::object plain_label(const LabelTable::Value& value) {
    if (const double* number = std::get_if<double>(&value)) {
        const bool whole = *number == std::floor(*number);
        return whole ? nb::steal(PyLong_FromDouble(*number)) : nb::object(nb::float_(*number));
    }
    if (const WholeNumber* whole = std::get_if<WholeNumber>(&value))
        return nb::steal(PyLong_FromString(whole->digits.c_str(), nullptr, 10));
    return decoded(std::get<std::string>(value));
}

// (labels, which, weight, qid, indptr, indices, data, gaps, odd, codes, lines, skipped, complaints, names)
template <class V>
nb::tuple to_python(std::string_view text, Examples<V>& examples, Report& report, const Oddity& broken,
                    InvertedIndex& index) {
    nb::list labels, complaints, odd;
    for (const LabelTable::Value& value : examples.labels.values()) labels.append(plain_label(value));
    const auto told = [](const Complaint& c) { return nb::make_tuple(c.line, c.byte, c.column, c.message); };
    for (const Complaint& c : report.complaints) complaints.append(told(c));
    const auto note = [&](const char* kind, const Oddity& one) {
        if (!one.lines) return;
        const Complaint first = complain({one.first, one.said}, text.data(), 0, text.data());
        odd.append(nb::make_tuple(kind, one.lines, told(first)));
    };
    note("several", examples.several);
    note("missing labels", examples.missing_labels);
    note("spellings", examples.spellings);
    note("spans", examples.spans);
    note("utf-8", broken);
    const auto maybe = [](auto& buffer) {
        return buffer.size() ? nb::cast(to_numpy(std::move(buffer))) : nb::object(nb::none());
    };
    nb::dict codes;
    for (const auto& [label, written] : examples.codes) codes[plain_label(label)] = decoded(written);
    nb::object names = nb::none();
    if (!index.empty()) names = nb::cast(std::move(index));
    return nb::make_tuple(labels, to_numpy(std::move(examples.which)), maybe(examples.weight), maybe(examples.qid),
                          to_numpy(std::move(examples.indptr)), to_numpy(std::move(examples.indices)),
                          to_numpy(std::move(examples.data)), to_numpy(std::move(report.gaps)), odd, codes,
                          report.lines, report.skipped, complaints, names);
}

inline void require_same_kernel(const FeatureOptions& features, const TextReading& text) {
    const HashKernel &a = features.kernel, &b = text.options.kernel;
    require(a.bits == b.bits && a.seed == b.seed && a.with_signs == b.with_signs,
            "texts and other features need the same hash kernel");
}

// Runs a parser that is made from (text, options), in float32 or float64.
template <template <class> class Parser, class Options>
nb::tuple parse(const nb::object& object, const Options& options, bool single, bool skip) {
    const Text text(object);
    const auto run = [&](auto parser) {
        Report report;
        Oddity broken;
        {
            nb::gil_scoped_release release;
            report = parse_lines(text, parser, skip);
            if (decltype(parser)::tells_broken_utf8) broken = broken_utf8(text);
        }
        return to_python(text, parser.examples, report, broken, parser.names());
    };
    return single ? run(Parser<float>(text, options)) : run(Parser<double>(text, options));
}

}  // namespace perceptive
