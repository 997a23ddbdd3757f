from __future__ import annotations

from exported_models import exported  # noqa: F401  (a fixture)
