"""The pure-Python twin of the core: the specification, readable beside the lecture notes.

Nothing here is fast and nothing here imports NumPy or the rest of the package. An example is a list of
``(index, value)`` pairs. Every v_k is kept as it was, so averages and votes are the sums that the notes write down.
The tests check that the core gives the same results, bit for bit in float64. Begin with ``perceptron.py``: the notes'
algorithm in a dozen lines, which every other page generalises.
"""

from perceptive.reference.binary import Binary
from perceptive.reference.dual import DualBinary, DualJoint, average_alpha
from perceptive.reference.dual_ranking import DualRanking
from perceptive.reference.hashing import hash_kernel
from perceptive.reference.hypotheses import average, best, draw, vote_binary, vote_joint
from perceptive.reference.joint import Joint
from perceptive.reference.perceptron import perceptron
from perceptive.reference.ranking import Ranking
from perceptive.reference.reductions import OneVsOne, OneVsRest
from perceptive.reference.rules import Rule

__all__ = [
    "Binary",
    "DualBinary",
    "DualJoint",
    "DualRanking",
    "Joint",
    "OneVsOne",
    "OneVsRest",
    "Ranking",
    "Rule",
    "average",
    "average_alpha",
    "best",
    "draw",
    "hash_kernel",
    "perceptron",
    "vote_binary",
    "vote_joint",
]
