#include "formats/vw.hpp"

#include "fuzz.hpp"

using namespace perceptive;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    return fuzz<VwParser>(text_of(data, size), VwOptions{feature_options(*data)}, whole_lines);
}
