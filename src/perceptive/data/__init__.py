"""Examples, ready to be learned from."""
