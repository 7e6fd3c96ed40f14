"""Tables and figures of the papers, made again: one module each. `make papers` writes docs/papers/."""
