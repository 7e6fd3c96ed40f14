// Tree kernels (Collins & Duffy 2001): Σ over pairs of nodes of
//
//   C(a, b) = 0 where the productions differ, else λ·Π_j (σ + C(child_j(a), child_j(b)))
//
// σ = 1 counts common subset trees, σ = 0 common complete subtrees. Only pairs of nodes with one production are looked
// at (Moschitti 2006), so that the time is near linear in practice; and where many trees are held against one, nodes
// with the same below them are looked at once (Aiolli, Da San Martino, Sperduti & Moschitti 2007).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parallel.hpp"

namespace perceptive {

// Productions have numbers, in the order of their arrival, and so have subtrees: a production and the subtrees of the
// children.
class Productions {
  public:
    Productions() = default;
    Productions(const Productions&) = delete;  // texts are pointed at
    Productions& operator=(const Productions&) = delete;

    // The number of a production, −1 where it is not here.
    std::int32_t find(const std::string& text) const {
        const auto found = number_.find(text);
        return found == number_.end() ? -1 : found->second;
    }
    std::int32_t add(std::string text) {
        const auto found = number_.try_emplace(std::move(text), static_cast<std::int32_t>(text_.size()));
        if (found.second) text_.push_back(&found.first->first);
        return found.first->second;
    }
    const std::string& text(std::int32_t number) const { return *text_[number]; }
    std::size_t size() const { return text_.size(); }

    std::int32_t subtree(std::int32_t production, const std::int32_t* children, const std::int32_t* subtrees,
                         std::int32_t n) {
        std::string key(reinterpret_cast<const char*>(&production), sizeof production);
        for (std::int32_t c = 0; c < n; ++c)
            key.append(reinterpret_cast<const char*>(subtrees + children[c]), sizeof(std::int32_t));
        return subtree_.try_emplace(std::move(key), static_cast<std::int32_t>(subtree_.size())).first->second;
    }
    std::size_t subtrees() const { return subtree_.size(); }

  private:
    std::unordered_map<std::string, std::int32_t> number_;
    std::vector<const std::string*> text_;  // keys of a map stay where they are
    std::unordered_map<std::string, std::int32_t> subtree_;
};

// Nodes in post-order, so that children come before their parents. Words are part of productions, not nodes.
struct Tree {
    std::vector<std::int32_t> production;   // per node
    std::vector<std::int32_t> first_child;  // per node and one more: where its children stand in `children`
    std::vector<std::int32_t> children;
    // The nodes of each production, made by index():
    std::vector<std::int32_t> kinds, kind_begin, kind_nodes;  // productions, ascending, and their nodes
    std::vector<std::int32_t> rank;                           // per node: its place among the nodes of its kind
    std::vector<std::int32_t> subtree;                        // per node: a number that the same subtrees share

    std::int32_t size() const { return static_cast<std::int32_t>(production.size()); }

    // Without names its subtrees get no numbers: it is then one that others are held against, and may have productions
    // that are unknown (−1).
    void index(Productions* names) {
        if (names) subtree.resize(production.size());
        for (std::int32_t node = 0; names && node < size(); ++node)
            subtree[node] = names->subtree(production[node], children.data() + first_child[node], subtree.data(),
                                           first_child[node + 1] - first_child[node]);
        kinds.clear();
        kind_begin.assign(1, 0);
        kind_nodes.resize(production.size());
        rank.resize(production.size());
        for (std::int32_t node = 0; node < size(); ++node) kind_nodes[node] = node;
        std::stable_sort(kind_nodes.begin(), kind_nodes.end(),
                         [&](std::int32_t a, std::int32_t b) { return production[a] < production[b]; });
        for (std::int32_t k = 0; k < size(); ++k) {
            const std::int32_t node = kind_nodes[k];
            if (kinds.empty() || kinds.back() != production[node]) {
                if (!kinds.empty()) kind_begin.push_back(k);
                kinds.push_back(production[node]);
            }
            rank[node] = k - kind_begin.back();
        }
        if (!kinds.empty()) kind_begin.push_back(size());
    }
};

// Builds a tree from what is read of it, without recursion: trees may be deep.
class TreeBuilder {
  public:
    TreeBuilder(Tree& tree, Productions& names) : tree_(tree), names_(names) { tree_.first_child.assign(1, 0); }

    void open(std::string_view label) {
        stack_.push_back({std::string(label), {}, {}});
        part('l', label);
    }
    void word(std::string_view word) { part('w', word); }
    bool inside() const { return !stack_.empty(); }

    void close() {
        Open node = std::move(stack_.back());
        stack_.pop_back();
        tree_.production.push_back(names_.add(std::move(node.production)));
        tree_.children.insert(tree_.children.end(), node.children.begin(), node.children.end());
        tree_.first_child.push_back(static_cast<std::int32_t>(tree_.children.size()));
        if (stack_.empty()) return;
        part('n', node.label);
        stack_.back().children.push_back(tree_.size() - 1);
    }

  private:
    struct Open {
        std::string label, production;
        std::vector<std::int32_t> children;
    };

    // Lengths are written down, so that no two productions look alike whatever their texts hold.
    void part(char kind, std::string_view text) {
        stack_.back().production.append(1, kind).append(std::to_string(text.size())).append(1, ':').append(text);
    }

    Tree& tree_;
    Productions& names_;
    std::vector<Open> stack_;
};

// "(S (NP (D the) (N dog)) (VP (V runs)))"; positions count from 1, in characters of UTF-8.
inline void read_brackets(std::string_view text, TreeBuilder& builder) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    const auto at = [&](std::size_t i) {
        std::size_t characters = 1;
        for (std::size_t k = 0; k < i; ++k) characters += (static_cast<unsigned char>(text[k]) & 0xC0) != 0x80;
        return std::to_string(characters);
    };
    std::vector<std::size_t> open;
    bool done = false;
    for (std::size_t i = 0; i < text.size();) {
        if (blank(text[i])) {
            ++i;
            continue;
        }
        if (done) throw std::invalid_argument("position " + at(i) + ": text after the end of the tree");
        if (text[i] == ')') {
            if (open.empty()) throw std::invalid_argument("position " + at(i) + ": ')' closes nothing");
            builder.close();
            open.pop_back();
            done = open.empty();
            ++i;
            continue;
        }
        const bool bracket = text[i] == '(';
        std::size_t begin = i + bracket;
        while (bracket && begin < text.size() && blank(text[begin])) ++begin;
        std::size_t end = begin;
        while (end < text.size() && !blank(text[end]) && text[end] != '(' && text[end] != ')') ++end;
        if (bracket) {
            open.push_back(i);
            builder.open(text.substr(begin, end - begin));
        } else {
            if (open.empty()) throw std::invalid_argument("position " + at(i) + ": a tree begins with '('");
            builder.word(text.substr(begin, end - begin));
        }
        i = end;
    }
    if (!open.empty()) throw std::invalid_argument("position " + at(open.back()) + ": '(' is never closed");
    if (!done) throw std::invalid_argument("position 1: there is no tree");
}

// What a thread needs to hold trees against one other.
struct TreeRoom {
    std::vector<std::int32_t> kind_of;  // per production: its kind in the tree that is held, or −1
    std::vector<std::size_t> start;     // per node or subtree: where its C with the nodes of its kind begin
    std::vector<double> values;
    std::size_t used = 0;
    std::vector<double> sums;          // per subtree: Σ C with all nodes of the tree that is held
    std::vector<std::uint32_t> known;  // per subtree: the round in which that was found out
    std::uint32_t round = 0;

    explicit TreeRoom(std::size_t productions) : kind_of(productions, -1) {}

    // To remember what was found out about subtrees as long as one tree is held.
    void remember(std::size_t subtrees) {
        sums.resize(subtrees);
        start.resize(subtrees);
        known.assign(subtrees, 0);
    }

    void hold(const Tree& tree) {
        mark(tree, 0, 1);
        forget();
    }
    void release(const Tree& tree) { mark(tree, -1, 0); }

    void forget() {
        used = 0;
        if (++round == 0) {
            std::fill(known.begin(), known.end(), 0);
            round = 1;
        }
    }

  private:
    void mark(const Tree& tree, std::int32_t first, std::int32_t step) {
        for (std::size_t k = 0; k < tree.kinds.size(); ++k)  // below 0: a production of this tree alone
            if (tree.kinds[k] >= 0) kind_of[tree.kinds[k]] = first + step * static_cast<std::int32_t>(k);
    }
};

constexpr std::size_t MOST_LIKE_NODES = std::size_t{1} << 27;   // of like nodes: 1 GB
constexpr std::size_t REMEMBERED_PAIRS = std::size_t{1} << 20;  // of the trees before: what the caches hold

// Σ_b C(a, b) of one node a of `one`, whose children have been looked at; place(node) says where its values are.
template <class Place>
double node_kernel(const Tree& one, std::int32_t a, const Tree& two, double decay, double sigma, TreeRoom& room,
                   const Place& place) {
    const std::int32_t kind = room.kind_of[one.production[a]];
    room.start[place(a)] = room.used;
    if (kind < 0) return 0.0;
    const std::int32_t* mine = one.children.data() + one.first_child[a];
    const std::int32_t children = one.first_child[a + 1] - one.first_child[a];
    const std::int32_t begin = two.kind_begin[kind], end = two.kind_begin[kind + 1];
    if (room.used + (end - begin) > room.values.size()) {
        if (room.used + (end - begin) > MOST_LIKE_NODES)
            throw std::invalid_argument("two trees have too many nodes that look alike; take smaller trees");
        room.values.resize(std::min(2 * (room.used + (end - begin)) + 64, MOST_LIKE_NODES));
    }
    double* value = room.values.data() + room.used;
    room.used += end - begin;
    double sum = 0.0;
    if (children == 0) {  // words only: λ for each
        for (std::int32_t k = begin; k < end; ++k) *value++ = decay, sum += decay;
        return sum;
    }
    for (std::int32_t k = begin; k < end; ++k) {
        const std::int32_t* theirs = two.children.data() + two.first_child[two.kind_nodes[k]];
        double C = decay;
        for (std::int32_t c = 0; c < children; ++c) {
            const std::int32_t x = mine[c], y = theirs[c];
            const bool same = one.production[x] == two.production[y];
            C *= sigma + (same ? room.values[room.start[place(x)] + static_cast<std::size_t>(two.rank[y])] : 0.0);
        }
        *value++ = C;
        sum += C;
    }
    return sum;
}

// Σ C over the pairs of nodes; the room holds `two`.
inline double tree_kernel(const Tree& one, const Tree& two, double decay, double sigma, TreeRoom& room) {
    if (room.start.size() < one.production.size()) room.start.resize(one.production.size());
    room.used = 0;
    double sum = 0.0;
    for (std::int32_t a = 0; a < one.size(); ++a)
        sum += node_kernel(one, a, two, decay, sigma, room, [](std::int32_t node) { return node; });
    return sum;
}

// The same, with the same bits, by a room that remembers.
inline double remembered_tree_kernel(const Tree& one, const Tree& two, double decay, double sigma, TreeRoom& room) {
    if (room.used > REMEMBERED_PAIRS) room.forget();
    double sum = 0.0;
    const std::int32_t n = static_cast<std::int32_t>(one.subtree.size());
    for (std::int32_t a = 0; a < n; ++a) {
        const std::int32_t s = one.subtree[a];
        if (room.known[s] != room.round) {
            room.sums[s] =
                node_kernel(one, a, two, decay, sigma, room, [&](std::int32_t node) { return one.subtree[node]; });
            room.known[s] = room.round;
        }
        sum += room.sums[s];
    }
    return sum;
}

// Trees that share their numbering of productions.
class TreeBank {
  public:
    std::vector<std::shared_ptr<const Tree>> trees;
    std::shared_ptr<Productions> names = std::make_shared<Productions>();

    void add(const std::string_view brackets) {
        Tree tree;
        TreeBuilder builder(tree, *names);
        read_brackets(brackets, builder);
        tree.index(names.get());
        trees.push_back(std::make_shared<const Tree>(std::move(tree)));
    }

    // The productions of each tree, one after the other: trees that are the same have the same ones.
    std::vector<std::string> contents() const {
        std::vector<std::string> found(trees.size());
        for (std::size_t i = 0; i < trees.size(); ++i)
            for (const std::int32_t p : trees[i]->production) found[i].append(names->text(p)).append(1, ';');
        return found;
    }

    // The same trees in another numbering; productions that it does not know are added to it, or (`strange`) become −1.
    // Only those that the trees use are looked at: one tree may share its numbering with many others.
    std::vector<std::shared_ptr<const Tree>> in_terms_of(Productions& other, bool strange) const {
        std::unordered_map<std::int32_t, std::int32_t> number;
        std::vector<std::shared_ptr<const Tree>> renamed;
        renamed.reserve(trees.size());
        for (const auto& tree : trees) {
            Tree copy = *tree;
            for (std::int32_t& production : copy.production) {
                if (production < 0) continue;
                const auto [known, fresh] = number.try_emplace(production, -1);
                if (fresh) {
                    const std::string& text = names->text(production);
                    known->second = strange ? other.find(text) : other.add(text);
                }
                production = known->second;
            }
            copy.index(strange ? nullptr : &other);
            renamed.push_back(std::make_shared<const Tree>(std::move(copy)));
        }
        return renamed;
    }

    // A numbering of its own, without productions and subtrees of trees that are no longer here.
    void renumber() {
        std::size_t nodes = 0;
        for (const auto& tree : trees) nodes += tree->production.size();
        if (std::max(names->size(), names->subtrees()) <= 2 * nodes + 1024) return;
        auto fresh = std::make_shared<Productions>();
        trees = in_terms_of(*fresh, false);
        names = std::move(fresh);
    }
};

using Forest = std::vector<std::shared_ptr<const Tree>>;

// out[i·row + j·column] = K of a_i and b_j, whose productions and subtrees (of a) have numbers below those given.
inline void tree_kernels(const Forest& a, const Forest& b, std::size_t productions, std::size_t subtrees, double decay,
                         double sigma, bool symmetric, int threads, double* out, i64 row, i64 column) {
    const i64 n = static_cast<i64>(a.size()), m = static_cast<i64>(b.size());
    std::size_t nodes = 0;
    for (const auto& tree : a) nodes += tree->production.size();
    constexpr i64 FEW = 16;
    const bool remembers = n >= FEW && 4 * nodes >= subtrees;  // else making room takes longer
    // A part of a column, so that a single column has work for all threads; the more, the more there is to remember.
    const int workers = n * m < 2 * FEW ? 1 : std::max(threads, 1);  // to start a thread takes as long as some pairs
    const i64 part = m >= workers ? std::max<i64>(n, 1) : std::max(n / workers + 1, FEW);
    const i64 parts = (n + part - 1) / part;
    in_parallel(m * parts, workers, [&] {
        TreeRoom made(productions);
        if (remembers) made.remember(subtrees);
        return [&, room = std::move(made)](i64 task) mutable {
            const i64 j = task / parts, begin = task % parts * part;
            const i64 end = std::min(begin + part, symmetric ? std::min(n, j + 1) : n);
            if (begin >= end) return;
            room.hold(*b[j]);
            for (i64 i = begin; i < end; ++i) {
                if (i + 8 < end) __builtin_prefetch(&a[i + 8]->subtree);  // trees lie anywhere
                if (i + 4 < end) __builtin_prefetch(a[i + 4]->subtree.data());
                const double value = remembers ? remembered_tree_kernel(*a[i], *b[j], decay, sigma, room)
                                               : tree_kernel(*a[i], *b[j], decay, sigma, room);
                out[i * row + j * column] = value;
                if (symmetric) out[j * row + i * column] = value;
            }
            room.release(*b[j]);
        };
    });
}

}  // namespace perceptive
