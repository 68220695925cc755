"""The data set of conversation pairs: documents, pairs, and what the verifier said of each candidate."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from data_builders.conversations import mini
from data_builders.dataset_type import Checker, DatasetType, ExampleStats, RecordFile
from data_builders.exports import FACTORY_LIMIT, TRL_LIMIT, Format, Options, alpaca_row, single
from data_builders.perturb.pair_checks import RULES
from judge_r1.benchmarks.rankjudge import item_of
from judge_r1.benchmarks.rankjudge.prompt import pairwise_prompt, read_pairwise
from judge_r1.benchmarks.rankjudge.scoring import gold_of
from judge_r1.core.conversations import (
    BEHAVIOURS,
    CONVERSATIONS_FILE,
    DOCUMENTS_FILE,
    FAILURES,
    VERIFICATION_FILE,
    ConversationPair,
    Document,
    Verification,
    failure_type,
    pair_hash,
)
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import LocatedVerdict, parts_correct
from judge_r1.episode.located_answer import located_answer
from judge_r1.files.transcripts import read_conversations
from judge_r1.training.recipe import Recipe


class ConversationExample(NamedTuple):
    """A pair and its document."""

    pair: ConversationPair
    document: Document


def gold_answer(pair: ConversationPair) -> str:
    """The answer that scores 1."""
    return located_answer(LocatedVerdict(winner=pair.preferred, round=pair.flawed_round, failure=pair.failure))


def _messages(example: ConversationExample) -> list[dict[str, str]]:
    pair = example.pair
    return pairwise_prompt(pair.conversation_a, pair.conversation_b, example.document.context).chat()


def _sft(example: ConversationExample, index: int, split: str) -> dict[str, Any]:
    pair = example.pair
    fields = alpaca_row(_messages(example), gold_answer(pair))
    return {**fields, "pair_id": pair.pair_id, "document_id": pair.document_id}


def _trl_sft(example: ConversationExample, index: int, split: str) -> dict[str, Any]:
    completion = [{"role": "assistant", "content": gold_answer(example.pair)}]
    return {"prompt": _messages(example), "completion": completion, "pair_id": example.pair.pair_id}


def _notes(options: Options) -> Sequence[str]:
    return [
        "Prompts show the document and both conversations. An answer is right if the better side, the round and the "
        "type are right."
    ]


CONVERSATION_FORMATS: Mapping[str, Format[ConversationExample]] = {
    "sft": single("instruction, input, output, for LLaMA-Factory", _notes, FACTORY_LIMIT, sft=_sft),
    "trl": single(
        "prompt and completion for SFTTrainer",
        _notes,
        TRL_LIMIT,
        sft=_trl_sft,
    ),
}


def pair_labels(pair: ConversationPair) -> Mapping[str, Iterable[str]]:
    """What a pair counts under."""
    return {
        "by_domain": [pair.domain],
        "by_failure": [pair.failure],
        "by_user": [pair.user_behaviour],
        "by_rounds": [str(pair.rounds)],
    }


DOCUMENT_FILE = RecordFile("document", DOCUMENTS_FILE, Document, "document_id")
PAIR_FILE = RecordFile("conversation pair", CONVERSATIONS_FILE, ConversationPair, "pair_id", pair_labels)
VERIFIED_FILE = RecordFile("verification", VERIFICATION_FILE, Verification, "pair_id")


class ConversationChecker(Checker[ConversationPair]):
    """Checks that each pair has its document, that its gold answer scores 1, and that it is the pair that passed the
    verifier. The verifier of `mini-conversations` runs again; a teacher does not."""

    def __init__(self, dataset: DatasetType[Any], folder: Path) -> None:
        super().__init__(dataset, folder)
        self._documents = {document.document_id: document for document in DOCUMENT_FILE.read(folder)}
        self._verified = {found.pair_id: found for found in VERIFIED_FILE.read(folder)}
        self._how = Counter[str]()

    def problems(self, record: ConversationPair) -> Iterable[str]:
        document, verified = self._documents.get(record.document_id), self._verified.get(record.pair_id)
        if document is None:
            yield f"its document is not in {DOCUMENTS_FILE}"
        if verified is None:
            yield f"it is not in {VERIFICATION_FILE}"
        elif verified.failed:
            yield f"it did not pass the verifier: {verified.failed}"
        if document and verified:
            yield from self._verify(record, document, verified)
        if not all(parts_correct(read_pairwise(gold_answer(record), strict=True), gold_of(item_of(record)))):
            yield "its gold answer does not score 1"
        failure = failure_type(record.failure)
        if failure and failure.needs_earlier and record.flawed_round < 2:
            yield "its flaw needs an earlier turn"

    def _verify(self, pair: ConversationPair, document: Document, verified: Verification) -> Iterable[str]:
        """Whether it is what the build verified, and what the verifier says where it can run."""
        if verified.pair_hash != pair_hash(pair, document):
            yield "its texts, labels or document are not those that the build verified"
        if pair.generator != RULES or document.source != mini.SOURCE:
            self._how["compared by hash with what the build verified, and not verified again"] += 1
            return
        self._how["compared by hash with what the build verified, and verified again by rules"] += 1
        if (again := mini.verify(pair, document)).failed:
            yield f"it does not pass the verifier again: {again.failed}"

    def checked(self) -> Sequence[str]:
        return "its document is there", "its gold answer scores 1", "it passed the verifier"

    def notes(self) -> Sequence[str]:
        return [f"{counted(count, 'pair')}: {how}" for how, count in sorted(self._how.items())]


class ConversationStats(ExampleStats[ConversationExample]):
    """Counts of one split."""

    def cells(self) -> Mapping[str, object]:
        failures = self.counts.by_label().get("by_failure", {})
        return {
            "documents": len(self.about),
            "pairs": self.total,
            "A better": self.a_better,
            **{failure.key: failures.get(failure.key, 0) for failure in FAILURES},
        }


class ConversationDataset(DatasetType[ConversationExample]):
    """Documents, pairs of conversations, and verifications. An example is a pair with its document."""

    files = (DOCUMENT_FILE, PAIR_FILE, VERIFIED_FILE)
    main = PAIR_FILE
    title = "Pairs of conversations for judges"
    description = (
        "Two conversations about one document. The worse one has one flawed assistant turn of a known type.",
        "",
        *(f"* {failure.letter} {failure.key}: {failure.flaw}" for failure in FAILURES),
        "",
        "The user has one of these styles:",
        "",
        *(f"* {behaviour.key}: {behaviour.style}" for behaviour in BEHAVIOURS),
    )
    tags = ("llm-as-a-judge", "preference", "multi-turn")
    about = ("document", "document_id")

    def examples(self, folder: Path) -> Iterator[ConversationExample]:
        pairs, documents = read_conversations(folder)
        return (ConversationExample(pair, documents[pair.document_id]) for pair in pairs)

    def checker(self, folder: Path, recipe: Recipe | None) -> Checker[Any]:
        return ConversationChecker(self, folder)

    def stats(self) -> ConversationStats:
        return ConversationStats(self)

    def formats(self) -> Mapping[str, Format[Any]]:
        return CONVERSATION_FORMATS
