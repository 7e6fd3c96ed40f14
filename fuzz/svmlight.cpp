#include "formats/svmlight.hpp"

#include "fuzz.hpp"

using namespace perceptive;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    const SvmlightOptions options{(*data & 64) != 0, *data & 128 ? 50 : -1, (*data & 63) != 0, feature_options(*data),
                                  (*data & 32) != 0};
    return fuzz<SvmlightParser>(text_of(data, size), options, whole_lines);
}
