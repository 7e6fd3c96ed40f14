"""Mistake bounds: what a theorem allows a run, and by which witness."""

from perceptive.certificates.certificate import Certificate, certify, certify_datasets

__all__ = ["Certificate", "certify", "certify_datasets"]
