"""Command back ends: how a head's motion reaches its controllers. ``registry`` finds one by name."""
