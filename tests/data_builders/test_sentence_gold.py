"""Sentences of real judgments and case reports, against boundaries that were set by reading."""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from data_builders.sources import SOURCES
from data_builders.text_units.steps import sentences

GOLD = json.loads((Path(__file__).parent / "sentence_gold.json").read_text())
"""The hash of a paragraph → the ends of its sentences, except for the last one."""


@pytest.mark.real_data
def test_sentences_agree_with_a_reader(real_data: Path) -> None:
    found = dict[str, list[int]]()
    for name, path in (("echr", "legal_echr_argmining"), ("medrbench", "medical_medrbench")):
        for case in SOURCES.get(name).read(real_data / path, None, 0, Counter()):
            for line in map(str.strip, f"{case.context}\n{case.reference}".split("\n")):
                if (key := sha256(line.encode()).hexdigest()[:16]) in GOLD:
                    found[key] = [end for _, end in sentences(line)[:-1]]
    assert found.keys() == GOLD.keys()
    wrong = sum(len(set(found[key]) - set(ends)) for key, ends in GOLD.items())
    missed = sum(len(set(ends) - set(found[key])) for key, ends in GOLD.items())
    assert sum(len(ends) + 1 for ends in GOLD.values()) == 203
    assert (wrong, missed) == (5, 0)  # four Bulgarian abbreviations, and an ellipsis that stands for omitted text
