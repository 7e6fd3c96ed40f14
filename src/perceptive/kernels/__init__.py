"""Kernels: of vectors, strings, trees and anything else, and one algebra for all."""

from perceptive.kernels.algebra import Constant
from perceptive.kernels.custom import Custom, Precomputed
from perceptive.kernels.gram import MercerReport, gram_embedding, is_psd, mercer_report
from perceptive.kernels.grammar import as_kernel
from perceptive.kernels.kernel import Kernel
from perceptive.kernels.vectors import Gaussian, Laplacian, Linear, Polynomial, Quadratic

__all__ = [
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
    "as_kernel",
    "gram_embedding",
    "is_psd",
    "mercer_report",
]
