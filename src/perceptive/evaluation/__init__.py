"""How good predictions are: numbers in, numbers out."""
