"""perceptive."""
