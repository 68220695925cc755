"""Chooses solved pairs of a training folder as examples for the prompt. No example is of a case under test."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair
from judge_r1.core.text_check import counted
from judge_r1.episode.task import PairwiseTask
from judge_r1.files.pair_set import PAIRS_FILE, CaseTexts, StoredPairs, open_cases, stored_pairs
from judge_r1.judges.base import BadJudge


class _Candidate(NamedTuple):
    """A training pair. `rank` orders candidates by a hash; `context` is the hash of the case's context."""

    rank: str
    pair_id: str
    case_id: str
    domain: str
    violated: tuple[int, ...]
    context: str


class FewShotExamples:
    """The training pairs of `folder` whose cases and contexts do not occur in the folder under test, that of `texts`.

    A task gets `shots` examples of different cases and, as far as possible, of different principles. They are of the
    task's domain if the folder has enough cases of it. In every second one B is better. The choice depends on the
    folder, the seed and the domain alone.

    Raises:
        BadJudge: The folder is the one under test, or has too few other cases.
        JudgeError: The folder cannot be read.
    """

    def __init__(self, folder: Path, shots: int, texts: Mapping[str, str], seed: int) -> None:
        tested = texts if isinstance(texts, CaseTexts) else CaseTexts({})
        if tested.folder is not None and tested.folder.resolve() == folder.resolve():
            raise BadJudge(f"examples={folder} is the folder under test: give a folder of training pairs")
        self.shots = shots
        # By context, not by id alone: a case with another decision has another id and the same facts.
        contexts = {_digest(text) for text in tested.values()}
        cases = open_cases(folder)
        offsets, candidates = {}, []
        for offset, pair, case in stored_pairs(folder, cases):
            context = _digest(case.context)
            if case.case_id in tested or context in contexts:
                continue
            offsets[pair.pair_id] = offset
            rank = content_hash("example", seed, pair.pair_id)
            candidates.append(_Candidate(rank, pair.pair_id, pair.case_id, pair.domain, pair.violated, context))
        self._candidates = sorted(candidates)
        self._pairs, self._cases = StoredPairs(folder / PAIRS_FILE, offsets.items()).records, cases
        self._contexts = {candidate.context for candidate in candidates}
        if len(self._contexts) < shots:
            raise BadJudge(
                f"examples={folder} has {counted(len(self._contexts), 'case')} beside those under test, but "
                f"shots={shots} needs one for each example: give a larger folder of training pairs"
            )
        self.digest = content_hash([candidate.pair_id for candidate in self._candidates])
        self._choice = lru_cache(self._choose)

    def rewrite(self, task: PairwiseTask) -> PairwiseTask:
        """The task with its examples. They never include the task's own case, even if `texts` are of no folder."""
        own = _digest(task.context)
        return replace(task, examples=self._choice(task.domain, own if own in self._contexts else ""))

    def _choose(self, domain: str, own: str) -> tuple[tuple[str, ReasoningPair], ...]:
        left = [candidate for candidate in self._candidates if candidate.context != own]
        of_domain = [candidate for candidate in left if candidate.domain == domain]
        if len({candidate.context for candidate in of_domain}) >= self.shots:
            left = of_domain
        chosen: list[_Candidate] = []
        while left and len(chosen) < self.shots:
            best = min(left, key=lambda candidate: (_repeated(candidate, chosen), candidate.rank))
            chosen.append(best)
            left = [candidate for candidate in left if candidate.context != best.context]
        pairs = [self._pairs[candidate.pair_id] for candidate in chosen]
        return tuple(
            # In turn, so that the examples teach no preference for a place.
            (self._cases[pair.case_id].decision, pair.placed("B" if number % 2 else "A"))
            for number, pair in enumerate(pairs)
        )


def _repeated(candidate: _Candidate, chosen: Sequence[_Candidate]) -> int:
    """The number of principles that chosen examples violate already."""
    return len({number for one in chosen for number in one.violated} & set(candidate.violated))


def _digest(text: str) -> str:
    return content_hash("context", text)
