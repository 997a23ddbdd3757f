"""Humanoid visual search: one search, one set of policies and one interface, from panoramas to a robot's head."""

__version__ = "0.1.0"
