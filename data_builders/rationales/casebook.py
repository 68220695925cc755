"""Writes rationales for the training part of the casebook: search for what differs, quote the sentence that tells, then
say what the author of the flaw notes about it.

Only the author knows why a flaw of the casebook is one: its case holds the words of both reasonings, in other places.
Pairs of other sources are written as prose. Nothing before the first observation depends on the gold label.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from data_builders.rationales import WRITERS, Rationale
from data_builders.rationales.prose import marks, plain, positions, write_text
from data_builders.text_units.steps import sentences
from judge_r1.benchmarks.casebook.cases import FOLDER, WrittenCase
from judge_r1.core.principles import by_number
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.config import EpisodeConfig
from judge_r1.files.yaml_config import load_config
from retrieval.differences import difference_query

_SOURCE = re.compile(r"\s*\((?:documents?|letter) [^)]*\)")
"""Where a note says the case shows it. Passages have no such names."""
_LEAST = 4
"""Words of the better reasoning that a sentence which tells has at least."""


@WRITERS.register("casebook")
def write_casebook(case: Case, pair: ReasoningPair, config: EpisodeConfig) -> Rationale:
    """Searches for each difference, in order, while the search budget lasts. It gives up if P2 or P4 is
    violated and no sentence tells (`telling_sentence`)."""
    note = _notes().get((case.case_id, pair.origin.flaws[0].operator))
    if note is None:
        yield from write_text(case, pair, config)
        return
    searches = config.effective_budget.max_searches
    thoughts, texts = "", [] if searches else [case.context]
    for number, (principle, a, b) in enumerate(positions(pair)):
        thoughts += f"<think>A says: {a or 'nothing'}. B says: {b or 'nothing'}.</think>"
        if number < searches:
            passages = yield f"{thoughts}<search>{difference_query(a, b)}</search>"
            thoughts, texts = "", [*texts, *(passage.text for passage in passages)]
        if principle in (2, 4):
            true, false = (a, b) if pair.preferred == "A" else (b, a)
            if (found := telling_sentence(true, false, texts)) is None:
                return
            thoughts += f"<think>The case file has: {found}.</think>"
    worse = "B" if pair.preferred == "A" else "A"
    broken = " and ".join(f"{number}, {by_number(number).name}" for number in pair.violated)
    yield f"{thoughts}<think>{note}. {worse} breaks {broken}.</think>"


def telling_sentence(true: str, false: str, texts: Sequence[str]) -> str | None:
    """The sentence with the most words that `true` alone has, then with the most that it has. None if it lacks one that
    `true` alone has, if `true` has no such word (names are exchanged), or if its words are few: a sentence of another
    case must not do."""
    kept = marks(true)
    own = kept - marks(false)
    found = {plain(text[start:end]): marks(text[start:end]) for text in texts for start, end in sentences(text)}
    best = max(found, key=lambda one: (len(found[one] & own), len(found[one] & kept)), default="")
    return best if best and own and own <= found[best] and len(found[best] & kept) >= _LEAST else None


@lru_cache(maxsize=1)
def _notes() -> Mapping[tuple[str, str], str]:
    """For each case and flaw of the training part, what its author notes."""
    cases = [(path.stem, load_config(WrittenCase, path)) for path in sorted((FOLDER / "train").glob("*.yaml"))]
    return {
        (written.case(name).case_id, flaw.name): _SOURCE.sub("", plain(flaw.why))
        for name, written in cases
        for flaw in written.flaws
    }
