"""The ``hvs`` command: one file a verb."""
