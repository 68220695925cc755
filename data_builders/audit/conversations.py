"""The shortcut audit of conversation pairs: can the better side be found without the document?

The readers of the audit of pairs see what the assistant says in both conversations. The benchmark's checks of the form
also name the round and the type: turns of odd length, refusal words, and questions answered without a question.
Readers of counts and of form must not do better than chance; what the reader `words` finds is reported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import mean
from typing import Any

from rich.console import Console
from rich.table import Table

from data_builders.audit.features import PROBES
from data_builders.audit.shortcut_probe import (
    MIN_CASES,
    ProbeResult,
    case_count,
    cross_validate,
    one_line_rules,
    print_probe,
    too_few_cases,
)
from data_builders.audit.shortcuts import SEMANTIC
from judge_r1.benchmarks.rankjudge import item_of
from judge_r1.benchmarks.rankjudge.checks import CHANCE, baseline_results
from judge_r1.benchmarks.rankjudge.scoring import aggregate_joint, aggregate_side
from judge_r1.core.conversations import FAILURE_KEYS, ConversationPair
from judge_r1.core.items import Conversation
from judge_r1.core.progress import show_progress
from judge_r1.core.records import ReasoningPair
from judge_r1.statistics.intervals import clustered_mean_ci

ALL = "all"


@dataclass(frozen=True)
class FormResult:
    """A check of the form: how often the side is right, and all three parts (`joint`), with intervals. `guess` is the
    joint score of random guesses."""

    check: str
    pairs: int
    side: float
    ci95: tuple[float, float]
    joint: float
    joint_ci95: tuple[float, float]
    guess: float


@dataclass(frozen=True)
class ConversationAudit:
    """The results of all readers by group, the groups that were not probed, and the checks of the form."""

    readers: tuple[ProbeResult, ...]
    not_probed: tuple[str, ...]
    form: tuple[FormResult, ...]

    @property
    def leaks(self) -> list[str]:
        """The readers of counts and form whose whole interval is above chance, on all pairs: that of the side, or of
        all three parts."""
        counted = [r for r in self.readers if r.group == ALL and r.probe not in SEMANTIC]
        return [
            *(reader.probe for reader in counted if reader.ci95[0] > 0.5),
            *(found.check for found in self.form if found.ci95[0] > 0.5),
            *(f"{found.check}, all three parts" for found in self.form if found.joint_ci95[0] > found.guess),
        ]


def audit_conversations(
    pairs: Sequence[ConversationPair], texts: Mapping[str, str], *, seed: int = 0
) -> ConversationAudit:
    """Probes all pairs, and the pairs of each failure type. Raises: ProbeError for pairs of too few documents."""
    spoken = [_spoken(pair) for pair in pairs]
    if case_count(spoken) < MIN_CASES:
        raise too_few_cases("audit", spoken)
    types = {key: [own for own, pair in zip(spoken, pairs, strict=True) if pair.failure == key] for key in FAILURE_KEYS}
    groups = {ALL: spoken, **types}
    probed = {name: group for name, group in groups.items() if case_count(group) >= MIN_CASES}
    readers: list[ProbeResult] = []
    with show_progress("probing groups of pairs", len(probed)) as one_done:
        for name, group in probed.items():
            readers += [cross_validate(name, group, probe, seed=seed) for probe in PROBES]
            readers += one_line_rules(name, group, seed=seed)
            one_done()
    return ConversationAudit(tuple(readers), tuple(groups.keys() - probed.keys()), tuple(_form(pairs, texts, seed)))


def _form(pairs: Sequence[ConversationPair], texts: Mapping[str, str], seed: int) -> list[FormResult]:
    items = [item_of(pair) for pair in pairs]
    clusters = [item.cluster_id for item in items]
    sides, joints = (baseline_results(items, texts, rule) for rule in (aggregate_side, aggregate_joint))
    guess = mean(1 / (2 * pair.rounds * len(FAILURE_KEYS)) for pair in pairs)
    found = []
    for name in sides:
        if name == CHANCE or name.startswith("form: "):
            side, joint = ([result.score for result in results[name]] for results in (sides, joints))
            intervals = (clustered_mean_ci(scores, clusters, seed) for scores in (side, joint))
            found.append(FormResult(name, len(items), mean(side), next(intervals), mean(joint), next(intervals), guess))
    return found


def _spoken(pair: ConversationPair) -> ReasoningPair:
    """What the assistant says, in the form that the readers take. They use the texts, ids and side alone, so the other
    fields of the record, which conversations do not have, stay unset."""
    fields: dict[str, Any] = {
        "pair_id": pair.pair_id, "case_id": pair.document_id, "domain": pair.domain, "preferred": pair.preferred,
        "reasoning_a": _answers(pair.conversation_a), "reasoning_b": _answers(pair.conversation_b),
    }  # fmt: skip
    return ReasoningPair.model_construct(**fields)


def _answers(talk: Conversation) -> str:
    return "\n\n".join(message.content for message in talk if message.role == "assistant")


def as_json(audit: ConversationAudit) -> dict[str, Any]:
    """The content of audit.json."""
    lines = [f"FLAGGED: {name}" for name in audit.leaks]
    return {**asdict(audit), "not_probed": sorted(audit.not_probed), "flagged": audit.leaks, "flag_lines": lines}


def print_audit(audit: ConversationAudit, console: Console) -> None:
    """Print the readers of all pairs, and the checks of the form."""
    whole = [result for result in audit.readers if result.group == ALL]
    print_probe([replace(result, group=result.probe) for result in whole], console)
    guess = f"All three parts: guesses give {audit.form[0].guess:.3f}"
    table = Table("check of the form", "side", "95 % interval", "all three parts", "95 % interval", caption=guess)
    for result in audit.form:
        ranges = (f"{low:.3f} – {high:.3f}" for low, high in (result.ci95, result.joint_ci95))
        table.add_row(result.check, f"{result.side:.3f}", next(ranges), f"{result.joint:.3f}", next(ranges))
    console.print(table)
    for name in sorted(audit.not_probed):
        console.print(f"{name} was not probed: pairs of fewer than {MIN_CASES} documents", markup=False)
