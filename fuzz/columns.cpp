// Tokens of a tagger, one a line, their two columns apart by a tab: what is derived from them, and the keys of
// features.
#include "fuzz.hpp"
#include "sequence/templates.hpp"

using namespace perceptive;

namespace {

std::vector<Derived> every_column() {
    std::vector<Derived> all;
    for (const int base : {0, 1}) {
        for (const Derive what : {Derive::lower, Derive::norm, Derive::shape, Derive::pattern, Derive::length})
            all.push_back({what, 0, base});
        for (const Derive what : {Derive::prefix, Derive::suffix})
            for (const int n : {1, 2, 5}) all.push_back({what, n, base});
        for (int n = has_digit; n <= has_dot; ++n) all.push_back({Derive::has, n, base});
        for (int n = is_capitalised; n <= is_punctuation; ++n) all.push_back({Derive::is, n, base});
        all.push_back({Derive::in, 0, base});
    }
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    std::vector<std::string> cells;  // apart, so that reading past their ends is seen
    for (std::string_view text = text_of(data, size); !text.empty();) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::size_t tab = std::min(line.find('\t'), line.size());
        cells.emplace_back(line.substr(0, tab));
        cells.emplace_back(line.substr(std::min(tab + 1, line.size())));
    }
    const std::vector<Derived> derived = every_column();
    std::vector<std::string> lines;
    if (!cells.empty()) lines = {std::string(cells[0]) + '\t' + std::string(cells[1]), std::string(cells[1])};
    const std::vector<Dictionary> dictionaries = {Dictionary(lines)};
    Columns columns(2, derived, dictionaries);
    const int width = columns.width();
    const i64 n = static_cast<i64>(cells.size() / 2);
    Window window, again, restored;
    for (Window* const one : {&window, &again, &restored}) one->resize(columns, n);
    const auto read = [&](Columns& into, i64 t, bool grow, Window& out) {
        const std::string_view two[] = {cells[2 * t], cells[2 * t + 1]};
        into.token(two, grow, out.at(t));
    };
    if (*data & 1 && n > 0) read(columns, 0, false, window);  // strange words first
    for (i64 t = 0; t < n; ++t) read(columns, t, true, window);
    Columns loaded(2, derived, dictionaries);
    std::vector<Symbols> symbols;
    for (int c = 0; c < width; ++c) {
        const Symbols& s = columns.symbols(c);
        symbols.emplace_back(s.blob().data(), s.blob().size(), s.offsets().data(), s.offsets().size());
    }
    loaded.restore(std::move(symbols));
    for (i64 t = 0; t < n; ++t) {
        read(columns, t, false, again);
        read(loaded, t, false, restored);
        for (int c = 0; c < width; ++c) {
            const Id id = window.at(t)[c];
            const std::string& word = cells[2 * t + (c < 2 ? c : derived[c - 2].base)];
            Readings readings(word);
            const std::string value = c < 2 ? word : derive(derived[c - 2], readings, dictionaries);
            demand(id == ABSENT || id >= FIRST_ID, "a token is inside");
            demand(columns.text(c, id) == value, "numbers stand for values");
            demand(again.at(t)[c] == id && restored.at(t)[c] == id, "what was met is known, from a file too");
        }
    }
    std::vector<Template> some;
    for (int c = 0; c < width; ++c) some.push_back({c, {{c, c % 31 - 15}, {(c + 1) % width, 0}}});
    const Templates templates(some, width);
    std::vector<Key> keys(templates.size());
    for (i64 t = 0; t < n; ++t) {
        templates.keys(window.at(t), keys.data());
        for (std::size_t k = 0; k < keys.size(); ++k) {
            const Id values[] = {window.at(t + some[k].parts[0].offset)[some[k].parts[0].column],
                                 window.at(t)[some[k].parts[1].column]};
            const bool all = values[0] != ABSENT && values[1] != ABSENT;
            demand(keys[k] == (all ? templates.key(k, values) : NO_KEY), "a key is that of its values");
        }
    }
    return 0;
}
