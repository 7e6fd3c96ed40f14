#include "formats/labelled_text.hpp"
#include "fuzz.hpp"

using namespace perceptive;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    const LabelledTextOptions options{text_reading(*data), (*data & 128) == 0, (*data & 8) != 0};
    return fuzz<LabelledTextParser>(text_of(data, size), options, whole_lines);
}
