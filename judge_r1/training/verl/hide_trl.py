"""Hides TRL from verl's trainer ranks. verl imports it through `actor_rollout_ref.model.external_lib`.

If TRL is installed, verl 0.9.1 patches TRL's value-head model even when it is unused. TRL has since removed that class,
so verl would fail. The ranks (WG_BACKEND=ray) do not need TRL.
"""

import os
import sys

IS_RANK = os.environ.get("WG_BACKEND") == "ray" and "RANK" in os.environ
"""Whether this process is one of verl's trainer ranks."""

if IS_RANK:
    sys.modules["trl"] = None  # type: ignore[assignment]  # as importlib documents: the import fails, no spec is found
