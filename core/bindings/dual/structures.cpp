// Kernels of strings and trees, and the exponents of Gaussian ones.
#include "bindings/arrays.hpp"
#include "dual/gaussian.hpp"
#include "dual/strings.hpp"
#include "dual/trees.hpp"

namespace perceptive {

namespace {

void check_symbols(const Vector<const std::int32_t>& codes) {
    for (std::size_t i = 0; i < codes.size(); ++i) require(codes.data()[i] >= 0, "symbols must not be negative");
}

void check_length(int n, bool single) {
    require(n >= 0 && n <= LONGEST_SUBSEQUENCE && !(n == 0 && single), "n is out of range");
}

Sequences sequences(const Vector<const std::int32_t>& codes, const Vector<const i64>& offsets) {
    require(offsets.size() >= 1 && offsets.data()[0] == 0, "offsets must begin with 0");
    for (std::size_t i = 1; i < offsets.size(); ++i)
        require(offsets.data()[i - 1] <= offsets.data()[i], "offsets must not decrease");
    require(offsets.data()[offsets.size() - 1] == length(codes), "offsets must end with the symbols");
    check_symbols(codes);
    return {codes.data(), offsets.data(), length(offsets) - 1};
}

void strings_of(const Vector<const std::int32_t>& a_codes, const Vector<const i64>& a_offsets,
                const Vector<const std::int32_t>& b_codes, const Vector<const i64>& b_offsets, int n, double decay,
                bool single, bool symmetric, int threads, const Matrix& out) {
    const Sequences a = sequences(a_codes, a_offsets), b = sequences(b_codes, b_offsets);
    require(extent(out, 0) == a.n && extent(out, 1) == b.n, "out has the wrong shape");
    check_length(n, single);
    require(!symmetric || a.n == b.n, "a symmetric matrix is square");
    nb::gil_scoped_release release;
    (single ? string_kernels<float> : string_kernels<double>)(a, b, n, decay, symmetric, threads, out.data());
}

// Two long sequences, some symbols at a time, so that the caller can be interrupted in between.
class StringPair {
  public:
    StringPair(const Vector<const std::int32_t>& source, const Vector<const std::int32_t>& target, int n, double decay,
               bool single)
        : source_(source.data(), source.data() + source.size()) {
        check_length(n, single);
        check_symbols(source), check_symbols(target);
        const i64 offsets[] = {0, length(target)}, chosen = 0;
        const Sequences one{target.data(), offsets, 1};
        if (single)
            played_ = std::make_unique<Played<float>>(one, &chosen, n, decay);
        else
            played_ = std::make_unique<Played<double>>(one, &chosen, n, decay);
    }

    // Plays the next symbols of the source; false when there are no more.
    bool play(i64 symbols) {
        require(symbols > 0, "give a number of symbols");
        const i64 left = length(source_) - done_, next = std::min(symbols, left);
        const std::int32_t* begin = source_.data() + done_;
        done_ += next;
        nb::gil_scoped_release release;
        std::visit([&](auto& played) { played->sweep.play(begin, next); }, played_);
        return next < left;
    }

    double value() const {
        return std::visit([](const auto& played) { return played->sweep.value(0); }, played_);
    }

  private:
    template <class T>
    struct Played {
        Targets<STRING_LANES<T>> targets;
        StringSweep<T> sweep;

        Played(const Sequences& from, const i64* chosen, int n, double decay)
            : targets(from, chosen, 1), sweep(n, decay) {
            sweep.begin(targets);
        }
    };

    std::vector<std::int32_t> source_;
    i64 done_ = 0;
    std::variant<std::unique_ptr<Played<float>>, std::unique_ptr<Played<double>>> played_;
};

template <class T>
void exponents_of(const MatrixOf<T>& K, double factor, const Vector<const T>& a, const Vector<const T>& b) {
    require(a.size() == K.shape(0) && b.size() == K.shape(1), "one number per row and per column");
    nb::gil_scoped_release release;
    gaussian_exponents(K.data(), extent(K, 0), extent(K, 1), static_cast<T>(factor), a.data(), b.data());
}

// Prepared examples for the kernels of trees; see perceptive.kernels.examples.
class Trees {
  public:
    void add(nb::str text) {
        const auto bytes = utf8_of(text);
        if (!bytes) throw nb::python_error();
        bank_.add(*bytes);
    }

    // Kinds: 'o' opens a node, 'w' is a word, 'c' closes a node; a text for each 'o' and 'w'.
    void add_parts(const std::string& kinds, const std::vector<std::string>& texts) {
        Tree tree;
        TreeBuilder builder(tree, *bank_.names);
        std::size_t next = 0;
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            const char kind = kinds[i];
            require(kind == 'c' || next < texts.size(), "a text is missing");
            require(builder.inside() || (kind == 'o' && i == 0), "the tree does not fit together");
            if (kind == 'o')
                builder.open(texts[next++]);
            else if (kind == 'w')
                builder.word(texts[next++]);
            else
                builder.close();
        }
        require(!kinds.empty() && !builder.inside() && next == texts.size(), "the tree does not fit together");
        tree.index(bank_.names.get());
        bank_.trees.push_back(std::make_shared<const Tree>(std::move(tree)));
    }

    std::size_t size() const { return bank_.trees.size(); }
    std::size_t subtrees() const { return bank_.names->subtrees(); }

    Trees take(const Vector<const i64>& index) const {
        Trees taken;
        taken.bank_.names = bank_.names;
        require_below(index, length(bank_.trees), "there is no such tree");
        for (i64 k = 0; k < length(index); ++k) taken.bank_.trees.push_back(bank_.trees[index.data()[k]]);
        return taken;
    }

    nb::list contents() const {
        nb::list found;
        for (const std::string& text : bank_.contents()) found.append(nb::bytes(text.data(), text.size()));
        return found;
    }

    void extend(const Trees& other) {
        const Forest more = other.in(*this, false);
        bank_.trees.insert(bank_.trees.end(), more.begin(), more.end());
    }

    void put(std::size_t i, const Trees& other) {
        require(i < size() && other.size() == 1, "there is no such tree");
        bank_.trees[i] = other.in(*this, false)[0];
        bank_.renumber();
    }

    void compare(const Trees& other, double decay, double sigma, bool symmetric, int threads, const Matrix& out) const {
        require(out.shape(0) == size() && out.shape(1) == other.size(), "out has the wrong shape");
        require(!symmetric || &other == this, "a symmetric matrix is about one set of trees");
        const i64 row = extent(out, 1);
        if (size() < other.size())  // many are held against each of the fewer
            other.compare_with(*this, decay, sigma, false, threads, out.data(), 1, row);
        else
            compare_with(other, decay, sigma, symmetric, threads, out.data(), row, 1);
    }

    void norms(double decay, double sigma, const Vector<double>& out) const {
        require(out.size() == size(), "out has the wrong shape");
        const Forest mine = bank_.trees;
        TreeRoom room(bank_.names->size());
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < mine.size(); ++i) {
            room.hold(*mine[i]);
            out.data()[i] = tree_kernel(*mine[i], *mine[i], decay, sigma, room);
            room.release(*mine[i]);
        }
    }

  private:
    void compare_with(const Trees& other, double decay, double sigma, bool symmetric, int threads, double* out, i64 row,
                      i64 column) const {
        const Forest mine = bank_.trees, theirs = other.in(*this, true);  // others may add trees meanwhile
        const std::size_t productions = bank_.names->size(), subtrees = bank_.names->subtrees();
        nb::gil_scoped_release release;
        tree_kernels(mine, theirs, productions, subtrees, decay, sigma, symmetric, threads, out, row, column);
    }

    Forest in(const Trees& host, bool strange) const {
        if (bank_.names == host.bank_.names) return bank_.trees;
        return bank_.in_terms_of(*host.bank_.names, strange);
    }

    TreeBank bank_;
};

}  // namespace

void bind_structures(nb::module_& m) {
    m.def("string_kernels", &strings_of, "a_codes"_array, "a_offsets"_array, "b_codes"_array, "b_offsets"_array, "n"_a,
          "decay"_a, "single"_a, "symmetric"_a, "threads"_a, "out"_array,
          "Gap-weighted subsequences of length n (0: all subsequences) of all pairs.");
    m.def("gaussian_exponents", &exponents_of<float>, "K"_array, "factor"_a, "a"_array, "b"_array);
    m.def("gaussian_exponents", &exponents_of<double>, "K"_array, "factor"_a, "a"_array, "b"_array,
          "K_ij becomes min(0, factor·K_ij − a_i − b_j).");
    m.attr("LONGEST_SUBSEQUENCE") = LONGEST_SUBSEQUENCE;
    nb::class_<StringPair>(m, "StringPair", "`string_kernels` of two long sequences, some symbols at a time.")
        .def(nb::init<const Vector<const std::int32_t>&, const Vector<const std::int32_t>&, int, double, bool>(),
             "source"_array, "target"_array, "n"_a, "decay"_a, "single"_a)
        .def("play", &StringPair::play, "symbols"_a, "Play the next symbols; False when there are no more.")
        .def("value", &StringPair::value);
    nb::class_<Trees>(m, "Trees", "Parsed trees, for the kernels of trees.")
        .def(nb::init<>())
        .def("add", &Trees::add, "text"_a, "Parse one tree in brackets.")
        .def("add_parts", &Trees::add_parts, "kinds"_a, "texts"_a)
        .def("__len__", &Trees::size)
        .def("subtrees", &Trees::subtrees, "How many different ones are remembered.")
        .def("take", &Trees::take, "index"_array)
        .def("contents", &Trees::contents, "The productions of each tree, in one piece.")
        .def("extend", &Trees::extend, "other"_a)
        .def("put", &Trees::put, "i"_a, "other"_a)
        .def("compare", &Trees::compare, "other"_a, "decay"_a, "sigma"_a, "symmetric"_a, "threads"_a, "out"_array)
        .def("norms", &Trees::norms, "decay"_a, "sigma"_a, "out"_array);
}

}  // namespace perceptive
