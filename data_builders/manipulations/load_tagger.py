"""Taggers by name: by rules and word lists, or by spaCy where it is installed."""

from data_builders.manipulations.rule_tagger import NoTagger, RuleTagger
from data_builders.manipulations.spacy_tagger import MODEL, SpacyTagger
from data_builders.manipulations.tagger import Tagger, TaggerUnavailable


def load_tagger(spec: str) -> Tagger:
    """`rules`, `none`, `spacy` with the model of the extra `tagger`, or `spacy:MODEL`. Raises: TaggerUnavailable."""
    name, _, model = spec.partition(":")
    if name == "spacy":
        return SpacyTagger(model or MODEL)
    if spec in ("rules", "none"):
        return RuleTagger() if spec == "rules" else NoTagger()
    raise TaggerUnavailable(f"tagger is rules, spacy or spacy:MODEL, not {spec!r}")
