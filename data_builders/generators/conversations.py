"""What generators of pairs of conversations share: documents, conditions, records and the cascade of the verifier."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from data_builders.conversations import Written
from data_builders.conversations.corpora import CorpusContext, corpus_context
from data_builders.conversations.dataset import ConversationDataset
from data_builders.conversations.sampler import Conditions, Draws, sample_conditions
from data_builders.generators.base import BuildPlan, Generator, RecordGroup
from data_builders.sources import SOURCES
from data_builders.teachers import Teacher
from judge_r1.core.conversations import ConversationPair, Document, Verification, pair_hash
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case
from judge_r1.files.jsonl import read_jsonl
from judge_r1.files.pair_set import CASES_FILE
from judge_r1.files.tabular import SUFFIXES, Row, rows
from judge_r1.files.text_file import read_text
from judge_r1.files.yaml_config import ConfigModel

TEXT = ".txt"


def read_documents(path: Path | None, limit: int | None, skipped: Counter[str] | None = None) -> Iterator[Document]:
    """The documents of `path`: a table with `id`, `context` and optionally `domain`, or of a corpus of the paper
    (`data_builders.conversations.corpora`); a folder with cases.jsonl (of a build from any corpus), a folder of texts
    (.txt, named by their files), or for None the builtin cases; at most `limit`. `skipped` counts what is left out.

    Raises:
        JudgeError: A row or a text is invalid, or two documents have one id and domain.
    """
    seen: set[str] = set()
    for document in islice(_documents(path, Counter() if skipped is None else skipped), limit):
        if document.document_id in seen:
            raise JudgeError(f"{path}: two documents have the same id and domain: rename one of them")
        seen.add(document.document_id)
        yield document


def _documents(path: Path | None, skipped: Counter[str]) -> Iterator[Document]:
    if path is None:
        yield from map(_of_case, SOURCES.get("builtin").read(None, None, 0, Counter()))
    elif (path / CASES_FILE).is_file():
        yield from map(_of_case, read_jsonl(path / CASES_FILE, Case, unique="case_id"))
    elif texts := _texts(path):
        yield from map(_of_text, texts)
    else:
        for row in rows(path):
            found = corpus_context(row)
            if found and found.too_short:
                skipped[found.too_short] += 1
            else:
                yield _of_corpus(row, found) if found else _of_row(row)


def _of_case(case: Case) -> Document:
    return Document(
        document_id=case.case_id, domain=case.domain, context=case.context, source=case.source, license=case.license
    )


def _texts(path: Path) -> list[Path]:
    """The texts of a folder without tables."""
    files = sorted(path.glob("*")) if path.is_dir() and not (path / "data").is_dir() else []
    return [] if any(file.name.endswith(SUFFIXES) for file in files) else [f for f in files if f.suffix == TEXT]


def _of_text(file: Path) -> Document:
    text = read_text(file)
    if not text.strip():
        raise JudgeError(f"{file} is empty: remove it, or write the text of a document into it")
    return Document(document_id=content_hash("general", file.name), domain="general", context=text, source=file.name)


def _of_row(row: Row) -> Document:
    domain = row.name("domain") if row.values.get("domain") else "general"
    text = row.text("context")
    if not text.strip():
        raise row.error("context", "must not be empty")
    source = f"{Path(row.file).name}/{row.name('id')}"
    return Document(document_id=content_hash(domain, row.name("id")), domain=domain, context=text, source=source)


def _of_corpus(row: Row, found: CorpusContext) -> Document:
    return Document(
        document_id=content_hash(found.domain, found.number),
        domain=found.domain,
        context=found.context,
        source=f"{Path(row.file).name}/{found.number}",
        license=found.license,
    )


LAYERS = ("coherence", "adherence", "grounding")


class Cascade:
    """Counts by cell: how many candidates were made, and how many failed first at each layer."""

    def __init__(self) -> None:
        self._made: Counter[tuple[str, str, str]] = Counter()
        self._failed: Counter[tuple[tuple[str, str, str], str]] = Counter()
        self._issues: Counter[str] = Counter()
        self._empty_turns = 0

    def add(self, found: Iterable[Verification]) -> None:
        for verification in found:
            cell = (verification.domain, verification.failure, verification.user_behaviour)
            self._made[cell] += 1
            self._empty_turns += verification.empty_turns
            if layer := verification.failed:
                self._failed[cell, layer] += 1
                self._issues[f"{layer}: {verification.issue.partition(':')[0]}"] += 1

    @property
    def issues(self) -> Mapping[str, int]:
        """How many candidates failed for each reason, as `layer: reason`."""
        return self._issues

    def as_dict(self) -> dict[str, Any]:
        """Totals, totals by each label, every cell, and the reasons of the failures."""
        return {
            "all": self._row(self._made),
            **{
                f"by_{name}": {
                    value: self._row([cell for cell in self._made if cell[position] == value])
                    for value in sorted({cell[position] for cell in self._made})
                }
                for position, name in enumerate(("domain", "failure", "user"))
            },
            "cells": [
                {"domain": domain, "failure": failure, "user": user, **self._row([(domain, failure, user)])}
                for domain, failure, user in sorted(self._made)
            ],
            "issues": dict(sorted(self._issues.items(), key=lambda pair: (-pair[1], pair[0]))),
            "turns_without_a_claim": self._empty_turns,
        }

    def _row(self, cells: Iterable[tuple[str, str, str]]) -> dict[str, int]:
        chosen = list(cells)
        made = sum(self._made[cell] for cell in chosen)
        failed = {layer: sum(self._failed[cell, layer] for cell in chosen) for layer in LAYERS}
        return {"candidates": made, **failed, "kept": made - sum(failed.values())}


CONVERSATIONS = "conversations"
Candidate = tuple[Verification, ConversationPair | None]
"""What the verifier said, and the pair if both conversations were written."""


@dataclass(frozen=True)
class VerifiedGroup(RecordGroup):
    """A document, the pairs that passed, and the verifications of all candidates."""

    verified: Sequence[Verification]


class ConversationOptions(ConfigModel):
    """The options of the generator."""

    draws: Draws = Field("uniform", description="how failure types, user styles and numbers of rounds are drawn")
    last_round: bool = Field(True, description="whether the last round may hold the flaw")
    single_call: bool = Field(
        False,
        description="a teacher writes plan and text of a conversation by one call; the plans are checked afterwards",
    )


class ConversationGenerator(Generator[Document]):
    """Reads the documents, and reports the cascade of the verifier."""

    dataset = ConversationDataset()
    options: ClassVar[type[ConfigModel]] = ConversationOptions
    unused: ClassVar[Sequence[str]] = ("kinds", "prompts", "keep")

    def __init__(self, plan: BuildPlan, teachers: Sequence[Teacher] = ()) -> None:
        super().__init__(plan, teachers)
        self._cascade = Cascade()

    def items(self) -> Iterator[Document]:
        return read_documents(self.plan.path, self.plan.limit, self.skipped)

    def conditions(self, document: Document) -> list[Conditions]:
        """The conditions of the pairs of a document, `plan.variants` of them."""
        draws, last = self.own.draws, self.own.last_round
        return [
            sample_conditions(document, number, self.plan.seed, draws=draws, last_round=last)
            for number in range(self.plan.variants)
        ]

    def add(self, group: VerifiedGroup) -> None:
        self._cascade.add(group.verified)

    def rejections(self) -> Mapping[str, int]:
        return self._cascade.issues

    def settings(self) -> dict[str, Any]:
        plan = self.plan
        return {
            **super().settings(),
            "source": plan.source,
            "path": plan.path_name,
            "limit": plan.limit,
            "variants": plan.variants,
            **({"options": plan.options} if plan.options else {}),
        }

    def details(self) -> dict[str, Any]:
        return {"cascade": self._cascade.as_dict()}


def group_of(document: Document, candidates: Sequence[Candidate]) -> VerifiedGroup:
    """The records of a document: the pairs that passed, and the verifications of all candidates with the hashes of what
    was verified."""
    verified = [
        found if pair is None else found.model_copy(update={"pair_hash": pair_hash(pair, document)})
        for found, pair in candidates
    ]
    pairs = [pair for found, pair in candidates if pair is not None and found.failed is None]
    return VerifiedGroup([document, *pairs, *verified], verified)


def incoherent(conditions: Conditions, document: Document, issue: str) -> Verification:
    """The verification of a candidate that fails at the first layer, for lack of a plan or for a bad one."""
    return Verification(
        pair_id=conditions.pair_id,
        domain=document.domain,
        failure=conditions.failure.key,
        user_behaviour=conditions.behaviour.key,
        coherence=False,
        issue=issue,
    )


def pair_of(
    document: Document, conditions: Conditions, better: Written, worse: Written, generator: str
) -> ConversationPair:
    """The record of a pair, with its sides placed as the conditions say."""
    a, b = (better, worse) if conditions.preferred == "A" else (worse, better)
    return ConversationPair(
        pair_id=conditions.pair_id,
        document_id=document.document_id,
        domain=document.domain,
        conversation_a=a.messages,
        conversation_b=b.messages,
        preferred=conditions.preferred,
        failure=conditions.failure.key,
        flawed_round=conditions.flawed_round,
        user_behaviour=conditions.behaviour.key,
        rounds=conditions.rounds,
        plan_better=better.plan,
        plan_worse=worse.plan,
        generator=generator,
        seed=conditions.seed,
    )
