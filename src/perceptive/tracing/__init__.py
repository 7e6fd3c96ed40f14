"""A run round by round, as a table: what the learner knew, what it said, and what the two lemmas allow."""

from perceptive.tracing.run import trace
from perceptive.tracing.table import COLUMNS, Round, Trace

__all__ = ["COLUMNS", "Round", "Trace", "trace"]
