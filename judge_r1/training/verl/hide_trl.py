"""Imported for its effect by `actor_rollout_ref.model.external_lib`, just before a trainer rank builds its engine.

Where TRL is installed, verl 0.9.1 patches TRL's value-head model whether it is used or not; TRL has dropped that class
since, and verl stops there. In the ranks (WG_BACKEND=ray), which have no use for TRL, it is hidden from verl.
"""

import os
import sys

IS_RANK = os.environ.get("WG_BACKEND") == "ray" and "RANK" in os.environ
"""Is this process one of verl's trainer ranks?"""

if IS_RANK:
    sys.modules["trl"] = None  # type: ignore[assignment]  # as importlib documents: the import fails, no spec is found
