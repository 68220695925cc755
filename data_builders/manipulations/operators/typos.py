"""Replaces characters by their neighbours on the keyboard (41). Selected for the data set."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Operator, Task, draw_characters
from judge_r1.core.documents import FLUENCY

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def _neighbours() -> dict[str, str]:
    """The keys that touch each key on a QWERTY keyboard, whose rows are shifted by about half a key. Below the space
    bar's row are c, v, b, n and m."""
    found = {" ": "cvbnm"}
    for row, keys in enumerate(_ROWS):
        for at, key in enumerate(keys):
            beside = keys[max(0, at - 1) : at] + keys[at + 1 : at + 2]
            above = _ROWS[row - 1][at : at + 2] if row else ""
            below = _ROWS[row + 1][max(0, at - 1) : at + 1] if row + 1 < len(_ROWS) else ""
            found[key] = beside + above + below
    return found


NEIGHBOURS = _neighbours()


def edit(material: Material, task: Task) -> list[Edit]:
    """`task.count` different characters change. The thesis draws positions with replacement, so that a few coincide."""
    text = material.text
    positions = [at for at, character in enumerate(text) if character.lower() in NEIGHBOURS]
    edits = []
    for at in draw_characters(task, positions, "characters with a neighbour on the keyboard"):
        typo = task.random.choice(NEIGHBOURS[text[at].lower()])
        edits.append(Edit(at, at + 1, typo.upper() if text[at].isupper() else typo))
    return edits


register(
    Operator(
        41,
        "typos",
        FLUENCY,
        "grammar",
        intensity=2.0,
        edit=edit,
        units=lambda material: material.tokens,
        can_be_dense=True,
    )
)
