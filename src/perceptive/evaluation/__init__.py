"""Measures of how good predictions are: numbers in, numbers out."""
