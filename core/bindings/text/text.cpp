// Texts through the tokeniser and the hash kernel: a batch is held on to, then read without the interpreter's lock.
#include "text/text.hpp"

#include <memory>

#include "bindings/text/csr_builder.hpp"
#include "formats/features.hpp"

namespace perceptive {

namespace {

using Factors = Maybe<float>;  // idf

const float* factors_of(const Factors& idf, int bits) {
    require(!idf || idf->size() == size_t{1} << bits, "idf must hold 2^bits numbers");
    return data_of(idf);
}

void make_reading(TextReading* self, std::pair<int, int> words, std::pair<int, int> chars, bool lowercase,
                  const std::string& weighting, bool normalize, int bits, std::uint32_t seed, bool with_signs,
                  Factors idf) {
    require(bits >= 1 && bits <= 30, "bits must be 1 … 30");
    for (const auto& [least, most] : {words, chars})
        require((least == 0 && most == 0) || (1 <= least && least <= most && most <= TextOptions::longest),
                "n-grams must be 1 ≤ least ≤ most ≤ 32, or 0 and 0");
    const auto kind =
        by_name<Weighting>(weighting, {"binary", "tf", "log-tf"}, "weighting must be 'binary', 'tf' or 'log-tf'");
    const TextOptions options{words.first, words.second, chars.first, chars.second,
                              lowercase,   kind,         normalize,   {bits, seed, with_signs}};
    const float* const factors = factors_of(idf, bits);
    new (self) TextReading{options, factors, std::make_shared<Factors>(std::move(idf))};
}

class TextEncoder {
  public:
    explicit TextEncoder(const TextReading& reading) : options_(reading.options) {}

    // Names are kept only if all texts are sound.
    CsrArrays encode(const nb::object& texts, const Factors& idf, bool remember) {
        TextFeatures features(options_, factors_of(idf, options_.kernel.bits));
        CsrBuilder rows;
        InvertedIndex met;
        read(texts, [&](std::string_view text) {
            features.add(text, remember ? &met : nullptr);
            features.end_row();
            rows.indices.insert(rows.indices.end(), features.buckets().begin(), features.buckets().end());
            rows.data.insert(rows.data.end(), features.values().begin(), features.values().end());
            rows.end_row();
        });
        index_.merge(std::move(met));
        broken_ += features.broken();
        return rows.arrays();
    }

    // df[h] += 1 for each text that bucket h is in; how many texts there are.
    i64 count(const nb::object& texts, const Vector<std::int32_t>& df) {
        require(df.size() == size_t{1} << options_.kernel.bits, "df must hold 2^bits numbers");
        TextOptions options = options_;
        options.normalize = false;
        TextFeatures features(options);
        i64 rows = 0;
        read(texts, [&](std::string_view text) {
            features.add(text);
            features.end_row();
            for (const std::int32_t bucket : features.buckets()) ++df.data()[bucket];
            ++rows;
        });
        broken_ += features.broken();
        return rows;
    }

    void remember(const nb::list& names) {
        for (nb::handle name : names) {
            const auto text = nb::cast<std::string>(name);
            index_.add(options_.kernel.bucket(options_.kernel.hash(text)), text);
        }
    }

    const InvertedIndex& index() const { return index_; }
    std::uint64_t broken() const { return broken_; }

  private:
    static constexpr std::size_t batch_texts = 4096, batch_bytes = std::size_t{1} << 22;

    // each(text), without the lock.
    template <class Each>
    static void read(const nb::object& texts, const Each& each) {
        std::vector<nb::object> held;
        std::vector<std::string_view> views;
        std::size_t bytes = 0, row = 0;
        const auto flush = [&] {
            {
                nb::gil_scoped_release release;
                for (const std::string_view view : views) each(view);
            }
            held.clear();
            views.clear();
            bytes = 0;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
        };
        for (nb::handle text : texts) {
            views.push_back(utf8(text, row++));
            held.push_back(nb::borrow(text));
            bytes += views.back().size();
            if (views.size() == batch_texts || bytes >= batch_bytes) flush();
        }
        flush();
    }

    static std::string_view utf8(nb::handle text, std::size_t row) {
        const auto where = [&] { return "row " + std::to_string(row); };
        if (PyUnicode_Check(text.ptr())) {
            if (const auto bytes = utf8_of(text)) return *bytes;
            if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw nb::python_error();
            PyErr_Clear();
            throw std::invalid_argument(where() + " has no UTF-8 form (a lone surrogate); repair the text");
        }
        if (!PyBytes_Check(text.ptr()))
            throw std::invalid_argument(where() + " is a " + nb::cast<std::string>(text.type().attr("__name__")) +
                                        "; give texts as str, or as UTF-8 bytes, and '' where one is missing");
        char* data = nullptr;
        Py_ssize_t size = 0;
        PyBytes_AsStringAndSize(text.ptr(), &data, &size);
        return {data, static_cast<std::size_t>(size)};
    }

    TextOptions options_;
    InvertedIndex index_;
    std::uint64_t broken_ = 0;
};

}  // namespace

void bind_text(nb::module_& m) {
    m.attr("UNICODE_VERSION") = unicode_version;
    m.def(
        "smooth_idf",
        [](const Vector<const std::int32_t>& df, i64 n) { return to_numpy(smooth_idf(df.data(), df.size(), n)); },
        "df"_array, "n"_a, "ln((1 + n) / (1 + df)) + 1 of each bucket, which is in df of n texts.");
    nb::class_<TextReading>(m, "TextReading", "How texts become features.")
        .def("__init__", &make_reading, "words"_a, "chars"_a, "lowercase"_a, "weighting"_a, "normalize"_a, "bits"_a,
             "seed"_a, "signed"_a, "idf"_array.none());
    nb::class_<TextEncoder>(m, "TextFeatures", "Texts as hashed features.")
        .def(nb::init<const TextReading&>(), "reading"_a)
        .def("encode", &TextEncoder::encode, "texts"_a, "idf"_array.none(), "remember"_a,
             "Texts as the rows of a CSR matrix: indptr, indices, data.")
        .def("count", &TextEncoder::count, "texts"_a, "df"_array,
             "Adds 1 to df of each bucket that a text is in, for all texts; returns their number.")
        .def("remember", &TextEncoder::remember, "names"_a, "Enters names into the inverted index.")
        .def_prop_ro("broken", &TextEncoder::broken, "How many sequences of bytes were not UTF-8.")
        .def_prop_ro("index", &TextEncoder::index);
}

}  // namespace perceptive
