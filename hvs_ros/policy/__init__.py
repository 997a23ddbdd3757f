"""Policies: who decides where the head turns. The contract, the registry, and the kinds that ship with hvs_ros."""
