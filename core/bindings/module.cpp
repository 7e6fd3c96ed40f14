#include "bindings/arrays.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of perceptive.";
    nb::set_leak_warnings(false);  // what is alive when the interpreter ends is no leak
    perceptive::bind_rows(m);
    perceptive::bind_journal(m);
    perceptive::bind_learning(m);
    perceptive::bind_classification(m);
    perceptive::bind_predict(m);
    perceptive::bind_ranking(m);
    perceptive::bind_stream(m);
    perceptive::bind_vocabulary(m);
    perceptive::bind_hashing(m);
    perceptive::bind_dual(m);
    perceptive::bind_dual_ranking(m);
    perceptive::bind_structures(m);
    perceptive::bind_sequence(m);
    perceptive::bind_text(m);
    perceptive::bind_formats(m);
}
