#include "formats/json_lines.hpp"
#include "fuzz.hpp"

using namespace perceptive;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    JsonOptions options{feature_options(*data), text_reading(*data), "label", "text", "weight"};
    if (*data & 128) options.columns.emplace();
    options.numerals = (*data & 64) != 0;
    if (options.numerals) options.words = {"a"};
    options.labels = static_cast<LabelReading>(*data >> 5 & 3);
    if (*data & 8) options.ignored = {"b", "a.b", "text"};
    return fuzz<JsonParser>(text_of(data, size), options, whole_lines);
}
