"""Mistake bounds: how many mistakes a theorem allows a run, and which vector shows it."""

from perceptive.certificates.certificate import Certificate, certify, certify_datasets

__all__ = ["Certificate", "certify", "certify_datasets"]
