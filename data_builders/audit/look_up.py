"""What a rule with the case and without a model finds: the judge `evidence`, which looks up the words that differ.

A judge of these pairs is worth its cost where it finds more. The rule does not flag a group: P2 and P4 flaws are meant
to be found with the case.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from data_builders.audit.shortcut_probe import ProbeResult, groups_of, probe_result
from data_builders.text_units.text_counts import sign_scores
from judge_r1.core.progress import show_progress
from judge_r1.core.records import ReasoningPair
from judge_r1.files.pair_set import PairSet
from judge_r1.judges.evidence import CasePassages, look_up

READER = "look-up"


def look_up_margins(data: PairSet) -> dict[str, float]:
    """Pair id -> the rule's margin for the better reasoning: above 0 where it is right, 0 in a tie."""
    passages = lru_cache(maxsize=8)(CasePassages)
    margins = {}
    with show_progress("looking up pairs", len(data.pairs)) as one_done:
        for pair in data.pairs:
            margins[pair.pair_id] = look_up(passages(data.case_of(pair).context), pair.reference, pair.flawed)[0]
            one_done()
    return margins


def look_up_results(
    pairs: Sequence[ReasoningPair], margins: Mapping[str, float], *, seed: int = 0
) -> tuple[ProbeResult, ...]:
    """The accuracy of the rule on each group that has pairs; a tie counts one half."""
    return tuple(
        probe_result(name, READER, group, sign_scores([margins[pair.pair_id] for pair in group]), seed)
        for name, group in groups_of(pairs).items()
        if group
    )


def look_up_line(audit: Mapping[str, Any]) -> str:
    """What the rule finds, in one sentence for a dataset card; `audit` is the content of audit.json."""
    found = [
        f"{row['group']} in {row['accuracy']:.2f} [{row['ci95'][0]:.2f}, {row['ci95'][1]:.2f}] of {row['pairs']}"
        for row in audit["look_up"]
        if row["group"] != "single"
    ]
    return f"with the case, a rule that looks up the words that differ finds {', '.join(found)}."
