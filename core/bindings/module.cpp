#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace perceptive {

using Bind = void(nb::module_&);
Bind bind_lock, bind_memory, bind_rows, bind_places, bind_sparse_weights, bind_journal, bind_learning, bind_predict,
    bind_ranking, bind_stream, bind_vocabulary, bind_hashing, bind_dual, bind_dual_journal, bind_dual_ranking,
    bind_structures, bind_sequence, bind_sequence_mixing, bind_mixing, bind_text, bind_formats, bind_pieces;

}  // namespace perceptive

NB_MODULE(_core, m) {
    using namespace perceptive;
    m.doc() = "The compiled core of perceptive.";
    nb::set_leak_warnings(false);  // what is alive when the interpreter ends is no leak
    for (Bind* bind : {bind_lock,           bind_memory,          bind_rows,         bind_places,
                       bind_sparse_weights, bind_journal,         bind_learning,     bind_predict,
                       bind_ranking,        bind_stream,          bind_vocabulary,   bind_hashing,
                       bind_dual,           bind_dual_journal,    bind_dual_ranking, bind_structures,
                       bind_sequence,       bind_sequence_mixing, bind_mixing,       bind_text,
                       bind_formats,        bind_pieces})
        bind(m);
}
