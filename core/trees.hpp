// Tree kernels (Collins & Duffy 2001): Σ over pairs of nodes of
//
//   C(a, b) = 0 where the productions differ, else λ·Π_j (σ + C(child_j(a), child_j(b)))
//
// σ = 1 counts common subset trees, σ = 0 common complete subtrees. Only pairs of nodes with one production are looked
// at (Moschitti 2006), so that the time is near linear in practice.
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

// Productions have numbers, in the order of their arrival.
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

  private:
    std::unordered_map<std::string, std::int32_t> number_;
    std::vector<const std::string*> text_;  // keys of a map stay where they are
};

// Nodes in post-order, so that children come before their parents. Words are part of productions, not nodes.
struct Tree {
    std::vector<std::int32_t> production;   // per node
    std::vector<std::int32_t> first_child;  // per node and one more: where its children stand in `children`
    std::vector<std::int32_t> children;
    // The nodes of each production, made by index():
    std::vector<std::int32_t> kinds, kind_begin, kind_nodes;  // productions, ascending, and their nodes
    std::vector<std::int32_t> rank;                           // per node: its place among the nodes of its kind

    std::int32_t size() const { return static_cast<std::int32_t>(production.size()); }

    void index() {
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
    std::vector<std::size_t> start;
    std::vector<double> values;

    explicit TreeRoom(std::size_t productions) : kind_of(productions, -1) {}

    void hold(const Tree& tree) { mark(tree, 0, 1); }
    void release(const Tree& tree) { mark(tree, -1, 0); }

  private:
    void mark(const Tree& tree, std::int32_t first, std::int32_t step) {
        for (std::size_t k = 0; k < tree.kinds.size(); ++k)  // below 0: a production that nobody else knows
            if (tree.kinds[k] >= 0) kind_of[tree.kinds[k]] = first + step * static_cast<std::int32_t>(k);
    }
};

constexpr std::size_t MOST_PAIRS = std::size_t{1} << 27;  // of like nodes: 1 GB

// Σ C over the pairs of nodes; the room holds `two`.
inline double tree_kernel(const Tree& one, const Tree& two, double decay, double sigma, TreeRoom& room) {
    room.start.resize(one.production.size());
    std::size_t used = 0;
    double sum = 0.0;
    for (std::int32_t a = 0; a < one.size(); ++a) {
        const std::int32_t kind = room.kind_of[one.production[a]];
        room.start[a] = used;
        if (kind < 0) continue;
        const std::int32_t* mine = one.children.data() + one.first_child[a];
        const std::int32_t children = one.first_child[a + 1] - one.first_child[a];
        const std::int32_t begin = two.kind_begin[kind], end = two.kind_begin[kind + 1];
        if (used + (end - begin) > room.values.size()) {
            if (used + (end - begin) > MOST_PAIRS)
                throw std::invalid_argument("two trees have too many nodes that look alike; take smaller trees");
            room.values.resize(std::min(2 * (used + (end - begin)) + 64, MOST_PAIRS));
        }
        double* value = room.values.data() + used;
        used += end - begin;
        if (children == 0) {  // words only: λ for each
            for (std::int32_t k = begin; k < end; ++k) *value++ = decay, sum += decay;
            continue;
        }
        for (std::int32_t k = begin; k < end; ++k) {
            const std::int32_t* theirs = two.children.data() + two.first_child[two.kind_nodes[k]];
            double C = decay;
            for (std::int32_t c = 0; c < children; ++c) {
                const std::int32_t x = mine[c], y = theirs[c];
                const bool same = one.production[x] == two.production[y];
                C *= sigma + (same ? room.values[room.start[x] + static_cast<std::size_t>(two.rank[y])] : 0.0);
            }
            *value++ = C;
            sum += C;
        }
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
        tree.index();
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
            copy.index();
            renamed.push_back(std::make_shared<const Tree>(std::move(copy)));
        }
        return renamed;
    }

    // A numbering of its own, without productions of trees that are no longer here.
    void renumber() {
        std::size_t nodes = 0;
        for (const auto& tree : trees) nodes += tree->production.size();
        if (names->size() <= 2 * nodes + 1024) return;
        auto fresh = std::make_shared<Productions>();
        trees = in_terms_of(*fresh, false);
        names = std::move(fresh);
    }
};

using Forest = std::vector<std::shared_ptr<const Tree>>;

// out[i, j] = K of a_i and b_j, whose productions have numbers below `productions`.
inline void tree_kernels(const Forest& a, const Forest& b, std::size_t productions, double decay, double sigma,
                         bool symmetric, int threads, double* out) {
    const i64 n = static_cast<i64>(a.size()), m = static_cast<i64>(b.size());
    constexpr i64 PART = 128;  // of a column, so that a single column has work for all threads
    const i64 parts = (n + PART - 1) / PART;
    in_parallel(m * parts, threads, [&] {
        return [&, room = TreeRoom(productions)](i64 task) mutable {
            const i64 j = task / parts, begin = task % parts * PART;
            const i64 end = std::min(begin + PART, symmetric ? std::min(n, j + 1) : n);
            if (begin >= end) return;
            room.hold(*b[j]);
            for (i64 i = begin; i < end; ++i) {
                out[i * m + j] = tree_kernel(*a[i], *b[j], decay, sigma, room);
                if (symmetric) out[j * m + i] = out[i * m + j];
            }
            room.release(*b[j]);
        };
    });
}

}  // namespace perceptive
