"""Kernels of vectors, strings, trees and other objects, and an algebra that combines them."""

from perceptive.kernels.algebra import Constant
from perceptive.kernels.custom import Custom, Precomputed
from perceptive.kernels.gram import MercerReport, gram_embedding, is_psd, mercer_report
from perceptive.kernels.grammar import as_kernel
from perceptive.kernels.kernel import Kernel
from perceptive.kernels.strings import AllSubsequences, Spectrum, Subsequence
from perceptive.kernels.trees import SubsetTree, Subtree
from perceptive.kernels.vectors import Gaussian, Laplacian, Linear, Polynomial, Quadratic

__all__ = [
    "AllSubsequences",
    "Constant",
    "Custom",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "MercerReport",
    "Polynomial",
    "Precomputed",
    "Quadratic",
    "Spectrum",
    "Subsequence",
    "SubsetTree",
    "Subtree",
    "as_kernel",
    "gram_embedding",
    "is_psd",
    "mercer_report",
]
