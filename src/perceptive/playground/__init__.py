"""The page of `perceptive play`: the perceptron game and its kin in a browser. No network, no framework."""

from perceptive.playground.page import PAGE, exported
from perceptive.playground.server import Server

__all__ = ["PAGE", "Server", "exported"]
