// Trees in brackets, one a line: what is accepted is compared, in every way there is.
#include "dual/trees.hpp"

#include "fuzz.hpp"

using namespace perceptive;

namespace {

constexpr std::size_t COPIES = 16;  // of each tree: so many that subtrees are remembered

bool close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

std::vector<double> compared(const Forest& a, const Forest& b, const Productions& names, double decay, double sigma,
                             bool symmetric, int threads) {
    std::vector<double> K(a.size() * b.size(), -1.0);
    tree_kernels(a, b, names.size(), names.subtrees(), decay, sigma, symmetric, threads, K.data(),
                 static_cast<i64>(b.size()), 1);
    return K;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    const double decay = *data & 1 ? 0.5 : 1.0, sigma = *data & 2 ? 0.0 : 1.0;
    TreeBank bank, other;
    for (std::string_view text = text_of(data, size); !text.empty();) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string line(text.substr(0, end));  // so that reading past its end is seen
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t before = bank.trees.size();
        try {
            bank.add(line);
        } catch (const std::invalid_argument& error) {
            demand(std::string_view(error.what()).substr(0, 9) == "position ", "faults have a position");
            demand(bank.trees.size() == before, "what is refused is not there");
            continue;
        }
        other.add(line);
        demand(bank.trees.size() == before + 1, "what is accepted is there");
        const Tree& tree = *bank.trees.back();
        demand(tree.size() > 0 && tree.first_child.size() == tree.production.size() + 1, "a tree has nodes");
        for (std::int32_t node = 0; node < tree.size(); ++node)
            for (std::int32_t c = tree.first_child[node]; c < tree.first_child[node + 1]; ++c)
                demand(tree.children[c] >= 0 && tree.children[c] < node, "children come before their parents");
    }
    if (bank.trees.empty() || size > 1024) return 0;  // comparing takes time quadratic in their nodes
    demand(bank.contents() == other.contents(), "the same trees have the same contents");
    Forest many;
    for (std::size_t i = 0; i < COPIES; ++i) many.insert(many.end(), bank.trees.begin(), bank.trees.end());
    const std::size_t n = bank.trees.size(), m = many.size();
    const auto whole = compared(many, many, *bank.names, decay, sigma, true, 1);
    const auto across = compared(many, other.in_terms_of(*bank.names, true), *bank.names, decay, sigma, false, 2);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            TreeRoom room(bank.names->size());
            room.hold(*many[j]);
            const double K = tree_kernel(*many[i], *many[j], decay, sigma, room);
            room.release(*many[j]);
            demand(std::isfinite(K) && K >= 0.0, "values are numbers");
            demand(across[i * n + j] == K, "what is remembered is the same");
            demand(close(whole[i * m + j], K) && whole[i * m + j] == whole[j * m + i], "K is symmetric");
        }
    TreeBank grown;
    for (const Forest& more : {bank.in_terms_of(*grown.names, false), other.in_terms_of(*grown.names, false)})
        grown.trees.insert(grown.trees.end(), more.begin(), more.end());
    demand(compared(grown.trees, grown.trees, *grown.names, decay, sigma, true, 1)[n] == whole[0], "so do copies");
    return 0;
}
