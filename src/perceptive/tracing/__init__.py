"""A run as a table, round by round: the weights, the prediction, and the limits of the two lemmas."""

from perceptive.tracing.run import trace
from perceptive.tracing.table import COLUMNS, Round, Trace

__all__ = ["COLUMNS", "Round", "Trace", "trace"]
