"""Changes the tense of verbs (42). Selected for the data set."""

from data_builders.manipulations import register
from data_builders.manipulations.edits import Edit
from data_builders.manipulations.operator import Material, Operator, Task, consecutive, draw
from judge_r1.core.documents import FLUENCY


def edit(material: Material, task: Task) -> list[Edit]:
    """Past becomes present and present becomes past. Verbs whose other form is unknown, or may be correct, are counted,
    but not drawn."""
    choose = consecutive if task.spread == "dense" else draw
    verbs = [verb for verb in material.tagger.verbs(material.text) if verb.opposite is not None]
    chosen = choose(task.random, verbs, task.count, "verbs with a form in the other tense")
    return [Edit(verb.start, verb.end, verb.opposite or "") for verb in chosen]


register(
    Operator(
        42,
        "verb_tense",
        FLUENCY,
        "grammar",
        intensity=5.0,
        edit=edit,
        units=lambda material: len(material.tagger.verbs(material.text)),
        can_be_dense=True,
        needs_tagger=True,
    )
)
