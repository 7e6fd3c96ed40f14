// All fuzzers in one program, where there is no libFuzzer: `mutate SECONDS SEED CORPUS` changes the inputs of each
// parser's corpus at random and runs the parser on them. It follows no coverage; it is to notice, in seconds and with
// any compiler, that a parser broke. Half of the inputs are long, up to 64 KiB: pieces of the corpus one behind the
// other, or one piece over and over.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#define LLVMFuzzerTestOneInput fuzz_columns
#include "columns.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_csv
#include "csv.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_json
#include "json.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_svmlight
#include "svmlight.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_text
#include "text.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_trees
#include "trees.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_vw
#include "vw.cpp"
#undef LLVMFuzzerTestOneInput

extern "C" void __sanitizer_set_death_callback(void (*callback)());
extern "C" const char* __asan_default_options() { return "handle_abort=1"; }  // a broken demand is a finding too

namespace {

constexpr std::size_t LONGEST = 64 * 1024;

std::string input;  // the one being tried
std::string failed_name;

void keep_input() {
    std::ofstream(failed_name, std::ios::binary) << input;
    std::fprintf(stderr, "the input is in %s\n", failed_name.c_str());
}

class Mutator {
  public:
    Mutator(std::vector<std::string> corpus, unsigned seed) : corpus_(std::move(corpus)), random_(seed) {}

    std::string next() {
        std::string made = pick();
        if (below(2)) lengthen(made);
        for (std::size_t times = 1 + below(8); times > 0; --times) change(made);
        made.resize(std::min(made.size(), LONGEST));
        return made;
    }

  private:
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
    const std::string& pick() { return corpus_[below(corpus_.size())]; }

    std::string piece(const std::string& of) {
        const std::size_t from = below(of.size() + 1);
        return of.substr(from, below(of.size() - from + 1));
    }

    void lengthen(std::string& made) {
        const std::size_t size = std::size_t{1} << below(17);
        const std::string unit = below(2) ? piece(made) : std::string();
        while (made.size() < size) made += unit.empty() ? pick() + '\n' : unit;
    }

    void change(std::string& made) {
        const std::size_t at = below(made.size() + 1);
        switch (below(4)) {
            case 0:
                if (at < made.size()) made[at] = static_cast<char>(below(256));
                break;
            case 1: made.insert(at, 1, static_cast<char>(below(256))); break;
            case 2: made.erase(at, below(16)); break;
            default: made.insert(at, piece(pick()));
        }
    }

    std::vector<std::string> corpus_;
    std::mt19937 random_;
};

std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());  // so that a seed means the same everywhere
    std::vector<std::string> corpus;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return corpus;
}

using Parser = int (*)(const unsigned char* data, std::size_t size);

void run(Parser parser, const std::string& bytes) {
    input = bytes;
    const std::vector<unsigned char> apart(bytes.begin(), bytes.end());  // so that reading past the end is seen
    parser(apart.data(), apart.size());
}

const std::pair<const char*, Parser> PARSERS[] = {
    {"columns", fuzz_columns}, {"csv", fuzz_csv},     {"json", fuzz_json}, {"svmlight", fuzz_svmlight},
    {"text", fuzz_text},       {"trees", fuzz_trees}, {"vw", fuzz_vw},
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return std::fprintf(stderr, "usage: %s CPU-SECONDS SEED CORPUS\n", argv[0]), 2;
    __sanitizer_set_death_callback(keep_input);
    for (const auto& [name, parser] : PARSERS) {
        failed_name = std::string(argv[0]) + "-" + name + "-failed";
        const auto end = std::clock() + static_cast<std::clock_t>(std::atof(argv[1]) * CLOCKS_PER_SEC);
        const std::vector<std::string> corpus = read_corpus(std::filesystem::path(argv[3]) / name);
        for (const std::string& kept : corpus) run(parser, kept);
        Mutator mutator(corpus, static_cast<unsigned>(std::atoi(argv[2])));
        long tried = 0;
        for (; std::clock() < end; ++tried) run(parser, mutator.next());
        std::printf("%s: %ld inputs, no finding\n", name, tried);
    }
}
