"""Every manipulation on real prose: the bodies of research articles of eLife (CC BY)."""

from collections import Counter
from pathlib import Path

import pytest

from data_builders.build import build_by_rules
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from data_builders.manipulations import MANIPULATIONS
from data_builders.sources.jats import article_text, read_article
from data_builders.validate import validate
from judge_r1.core.documents import Document, ManipulatedDocument, changed_outside
from judge_r1.core.jsonl import read_jsonl


@pytest.mark.real_data
def test_every_manipulation_of_real_articles_is_valid(real_data: Path, tmp_path: Path) -> None:
    files = sorted((real_data / "academic_elife" / "xml").glob("*.xml.gz"))[:8]
    folder, out = tmp_path / "articles", tmp_path / "out"
    folder.mkdir()
    for file in files:
        (folder / f"{file.name.partition('.')[0]}.txt").write_text(article_text(read_article(file)), "utf-8")
    plan = BuildPlan("cofluence", folder, options=("types=all", "lengths=full,2000"))
    build_by_rules(generator_for("cofluence", with_teacher=False)(plan), out)
    assert validate(out).good
    documents = {one.document_id: one for one in read_jsonl(out / "documents.jsonl", Document)}
    assert Counter(one.length for one in documents.values()) == {"full": 8, "2000": 8}
    made = Counter[str]()
    for record in read_jsonl(out / "manipulations.jsonl", ManipulatedDocument):
        original, operator = documents[record.document_id].text, MANIPULATIONS.get(record.name)
        assert not changed_outside(original, record.text, record.spans)
        wanted = operator.intensity * (record.units / 100 if operator.share else len(original.split(" ")) / 1000)
        assert record.operations == max(operator.least, round(wanted)), record.name
        made[record.name] += 1
    names_of_places = {"terms", "pronouns"}
    assert {name for name, count in made.items() if count == 16} == set(MANIPULATIONS.names()) - names_of_places
    assert min(made[name] for name in names_of_places) >= 8, "some articles name no place"
