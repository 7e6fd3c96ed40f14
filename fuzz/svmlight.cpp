#include "formats/svmlight.hpp"

#include "fuzz.hpp"

using namespace perceptive;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    SvmlightOptions options{(*data & 64) != 0, *data & 128 ? 50 : -1, std::nullopt, (*data & 32) != 0};
    if (*data & 63) options.hashed = feature_options(*data);
    return fuzz<SvmlightParser>(text_of(data, size), options, whole_lines);
}
