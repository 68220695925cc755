"""Says on the page that a judge is a toy: a bundled model, or one that the demo has trained from it."""

from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.files.strict_yaml import read_yaml
from judge_r1.judges.panel import backends
from judge_r1.models.hub import BUNDLED

_DEMO = "it knows only the small generated language of the demo, and gives no valid answer on other texts"
TOYS = {
    "bundled:tiny": _DEMO,
    "bundled:haystack": _DEMO,
    "bundled:smollm2-135m": "a chat model of 135 million parameters that was not trained to judge",
}


def toy_note(spec: str) -> str | None:
    """A sentence for the page; None if the judge of the SPEC is no toy."""
    origin = next(filter(None, (model if model in TOYS else _origin(model) for model in backends(spec))), None)
    return f"This judge is a toy: {TOYS[origin]}. Use it to try the page, not to decide anything." if origin else None


def _origin(model: str) -> str | None:
    """The bundled model with the demo's language that the recipes of run folders lead to, if any."""
    for _ in range(5):  # stages of training
        recipe = Path(model).parent / "recipe.yaml"
        try:
            found = read_yaml(recipe) if recipe.is_file() else None
        except JudgeError:
            return None
        model = str(found.get("model", "")) if isinstance(found, dict) else ""
        if model.startswith(BUNDLED):
            return model if TOYS.get(model) == _DEMO else None
    return None
