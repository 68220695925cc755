"""The tagger of the thesis: spaCy for sentences, verbs and names, LemmInflect for the other tense. Both optional."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from data_builders.manipulations.tagger import Mention, TaggerUnavailable, Verb, like
from data_builders.manipulations.units import CHAPTER

_KINDS = {"PERSON": "person", "LOC": "place", "GPE": "place", "ORG": "place", "FAC": "place"}


class SpacyTagger:
    """`model` is a pipeline with a tagger and a name recogniser, such as `en_core_web_sm`.

    Raises: TaggerUnavailable if spaCy, LemmInflect or the model is not installed.
    """

    def __init__(self, model: str) -> None:
        try:
            import lemminflect
            import spacy

            self._nlp, self._inflect = spacy.load(model), lemminflect.getInflection
        except (ImportError, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise TaggerUnavailable(
                f"tagger spacy:{model} cannot be loaded ({reason}): pip install spacy lemminflect and the model, or "
                "use the tagger rules"
            ) from None
        self.name = f"spacy:{model}"
        self._parsed = lru_cache(maxsize=4)(self._parse)

    def sentences(self, text: str) -> Sequence[tuple[int, int]]:
        return [(sent.start_char, sent.end_char) for sent in self._parsed(text).sents if sent.text.strip()]

    def verbs(self, text: str) -> Sequence[Verb]:
        return [
            Verb(token.idx, token.idx + len(token.text), self._opposite(token))
            for token in self._parsed(text)
            if token.pos_ in ("VERB", "AUX")
        ]

    def mentions(self, text: str) -> Sequence[Mention]:
        found: list[Mention] = []
        for entity in self._parsed(text).ents:
            if (kind := _KINDS.get(entity.label_)) and entity.text.strip() != CHAPTER.strip(" :"):
                found.append(Mention(entity.start_char, entity.end_char, "person" if kind == "person" else "place"))
        return found

    def _parse(self, text: str) -> Any:
        return self._nlp(text)

    def _opposite(self, token: Any) -> str | None:
        """Past becomes present, any other form becomes past. A past form that does not say its person, as most English
        ones, agrees with its subject."""
        past = "Past" in token.morph.get("Tense")
        person = token.morph.get("Person")
        third = "3" in person if person else not _is_plural(_subject(token))
        forms = self._inflect(token.lemma_, tag=("VBZ" if third else "VBP") if past else "VBD")
        return like(forms[0], token.text) if forms and forms[0].lower() != token.text.lower() else None


def _subject(token: Any) -> Any | None:
    """The subject of a verb, where the pipeline parses."""
    return next((child for child in token.children if child.dep_ in ("nsubj", "nsubjpass")), None)


def _is_plural(subject: Any | None) -> bool:
    """Does a subject take the form of the present without -s?"""
    if subject is None:
        return False
    return "Plur" in subject.morph.get("Number") or bool({"1", "2"} & set(subject.morph.get("Person")))
