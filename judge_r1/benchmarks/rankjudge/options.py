"""The subset text of the benchmark: its settings, joined by colons."""

from dataclasses import dataclass

from judge_r1.benchmarks.rankjudge.revisions import REVISIONS
from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import suggest

CONTEXTS = ("inline", "search", "none")
SETTINGS = (*CONTEXTS, "joint", "both", "pointwise", "unnumbered", *REVISIONS)


@dataclass(frozen=True)
class RankJudgeOptions:
    """`context`: the document is `inline`, can be searched (`search`) or is missing (`none`). `both` judges each pair
    in both orders. `pointwise` rates each conversation alone. `numbered` rounds are marked in the transcript. With
    `joint`, a judge that searches must name the round and the type, too. `revision` names a longer prompt."""

    context: str = "inline"
    both: bool = False
    pointwise: bool = False
    numbered: bool = True
    joint: bool = False
    revision: str | None = None


def parse_options(subset: str | None) -> RankJudgeOptions:
    """Raises: JudgeError for an unknown or contradictory setting."""
    given = [part for part in (subset or "").split(":") if part]
    for part in given:
        if part not in SETTINGS:
            raise JudgeError(f"rankjudge has no setting {part[:40]!r}{suggest(part, SETTINGS)}")
    contexts, revisions = ([part for part in given if part in names] for names in (CONTEXTS, REVISIONS))
    if len(contexts) > 1 or len(revisions) > 1 or len(set(given)) < len(given):
        raise JudgeError(
            f"rankjudge takes one of {', '.join(CONTEXTS)}, one of {', '.join(REVISIONS)}, and each setting once, not "
            f"{subset!r}"
        )
    options = RankJudgeOptions(
        contexts[0] if contexts else "inline",
        both="both" in given,
        pointwise="pointwise" in given,
        numbered="unnumbered" not in given,
        joint="joint" in given,
        revision=revisions[0] if revisions else None,
    )
    if options.joint and options.context != "search":
        raise JudgeError("rankjudge:joint belongs to search: without a search all three parts count anyway")
    if options.pointwise and (options.both or options.context == "search"):
        raise JudgeError("rankjudge:pointwise rates one conversation at a time: leave out both and search")
    if options.revision and (options.pointwise or options.context == "search"):
        raise JudgeError(f"rankjudge:{options.revision} revises the prompt for two conversations without a search")
    return options
