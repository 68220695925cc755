"""Reading, cleaning and cutting documents; the build from a folder to a valid data set."""

import json
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.build import build_by_rules
from data_builders.export import export
from data_builders.exports import Options
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from data_builders.manipulations import MANIPULATIONS
from data_builders.manipulations.corpus import CorpusRules, cleaned_book, prepared, read_folder, story
from data_builders.manipulations.tagger import _loaded
from data_builders.manipulations.units import paragraphs, prefix, units
from data_builders.validate import validate
from judge_r1.core.documents import Document, ManipulatedDocument, changed_outside
from judge_r1.core.errors import JudgeError
from judge_r1.files.jsonl import read_jsonl, write_jsonl
from judge_r1.files.yaml_config import validated


def build(
    out: Path, *options: str, path: Path | None = None, limit: int | None = 3, seed: int = 0
) -> dict[str, object]:
    overrides = [f"options.{option}" for option in options]
    plan = validated(
        BuildPlan, {"source": "cofluence", "path": path, "seed": seed, "limit": limit}, overrides, "the plan"
    )
    return build_by_rules(generator_for("cofluence", with_teacher=False)(plan), out)


def test_cleaning_follows_the_published_steps() -> None:
    book = (
        "CHAPTER I\n\nIt was _late_ [Illustration: a house] and Mr.\nSmith slept.\n* * * *\n"
        "He dreamed of\nrain. \n\nit fell all night!\nTHE SECOND NIGHT\nAll was {sic} quiet.\n"
    )
    assert cleaned_book(book) == (
        "CHAPTER: CHAPTER I\n\nIt was late  and Mr.\nSmith slept.\n\nHe dreamed of\nrain.\nit fell all night!\n\n"
        "CHAPTER: THE SECOND NIGHT\n\nAll was  quiet."
    )
    assert prepared("\ufeff# One\r\n\r\n \r\nText e\u0301\r\nmore") == "# One\n\nText é\nmore"
    assert prepared("## Two\nText\n\n#tag #1") == "## Two\n\nText\n\n#tag #1"


def test_blank_lines_end_paragraphs_where_they_stand_between_sentences() -> None:
    wrapped = (
        "Chapter 3\n\nIt was late. He slept.\nShe did not--\n\nRain fell. It\nwas cold.\nNo one came.\n\nThey left.\n"
    )
    assert cleaned_book(wrapped) == (
        "CHAPTER: Chapter 3\n\nIt was late. He slept.\nShe did not--\n\n"
        "Rain fell. It\nwas cold.\nNo one came.\n\nThey left."
    )
    double = "It was\n\nlate. He\n\nSlept and did\n\nnot wake.\n\nRain fell."
    assert cleaned_book(double) == "It was\nlate. He\nSlept and did\nnot wake.\n\nRain fell."
    assert cleaned_book("Chapter 3 of the book is lost.\n\nRain fell.").startswith("Chapter 3 of")


@given(st.text(alphabet="ab.\n ", max_size=60))
def test_paragraphs_lie_where_they_say(text: str) -> None:
    found = paragraphs(text)
    assert all(text[one.start : one.end] == one.text for one in found)
    assert "".join(one.text for one in found) == text.replace("\n\n", "")


def test_sections_and_chapters_are_runs_of_paragraphs() -> None:
    text = story(0, 4000)[1]
    for unit in ("paragraph", "section", "chapter"):
        found = units(text, unit)  # type: ignore[arg-type]
        assert found
        assert all(text[one.start : one.end] == one.text and "CHAPTER: " not in one.text for one in found)
    assert all(3000 <= len(one.text) < 4000 for one in units(text, "section"))


def test_a_prefix_has_so_many_tokens() -> None:
    text = story(1, 500)[1]
    assert text.startswith(prefix(text, 100))
    assert len(prefix(text, 100).split(" ")) == 100
    assert prefix(text, 10_000) == text


def test_a_folder_becomes_a_valid_data_set(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / "in" / "sub").mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / "sub" / f"{number}.md").write_text(f"# Title\n\n{story(number, 700)[1]}")
    (tmp_path / "in" / "short.txt").write_text("Too short.")
    report = build(tmp_path / "out", "lengths=full,300", "min_tokens=100", path=tmp_path / "in", limit=None)
    documents = {d.document_id: d for d in read_jsonl(tmp_path / "out/documents.jsonl", Document)}
    records = list(read_jsonl(tmp_path / "out/manipulations.jsonl", ManipulatedDocument))
    assert report["documents"] == 6
    assert len(records) == 36
    assert len({d.base_id for d in documents.values()}) == 3
    assert report["skipped_documents"] == {"fewer than 100 tokens": 1}
    assert all(not changed_outside(documents[r.document_id].text, r.text, r.spans) for r in records)
    assert Counter((r.name, r.length) for r in records).most_common(1)[0][1] == 3
    again = build(tmp_path / "again", "lengths=full,300", "min_tokens=100", path=tmp_path / "in", limit=None)
    assert again == report
    for name in ("documents.jsonl", "manipulations.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_a_limit_is_a_sample_by_seed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(6):
        (tmp_path / "in" / f"{number}.txt").write_text(story(number, 300)[1])
    chosen = {}
    for seed in range(4):
        out = tmp_path / str(seed)
        plan = BuildPlan(
            source="cofluence", path=tmp_path / "in", seed=seed, limit=2, options={"lengths": "full", "types": "typos"}
        )
        build_by_rules(generator_for("cofluence", with_teacher=False)(plan), out)
        chosen[seed] = [document.title for document in read_jsonl(out / "documents.jsonl", Document)]
    assert all(len(titles) == 2 and titles == sorted(titles) for titles in chosen.values())
    assert len({tuple(titles) for titles in chosen.values()}) > 1


def test_pairs_are_exported_in_random_order(tmp_path: Path) -> None:
    build(tmp_path / "data", "story_tokens=600", "lengths=full,300")
    export(tmp_path / "data", tmp_path / "pairs", "pairs", Options())
    rows = [json.loads(line) for line in (tmp_path / "pairs/train.jsonl").read_text().splitlines()]
    assert len(rows) == 36
    assert {row["preferred"] for row in rows} == {"A", "B"}
    documents = {d.text for d in read_jsonl(tmp_path / "data/documents.jsonl", Document)}
    assert all(row["document_a" if row["preferred"] == "A" else "document_b"] in documents for row in rows)
    assert {(row["manipulation"], *row["violated"], *row["principles"]) for row in rows} == {
        ("exchange_content", "coherence", 1, 4), ("temporal", "coherence", 2), ("terms", "coherence", 5),
        ("typos", "fluency", 5), ("verb_tense", "fluency", 5), ("word_order", "fluency", 5),
    }  # fmt: skip


def test_validate_finds_labels_of_another_operator(tmp_path: Path) -> None:
    build(tmp_path, "story_tokens=300", "lengths=full", "types=typos", limit=2)
    assert validate(tmp_path).good
    records = list(read_jsonl(tmp_path / "manipulations.jsonl", ManipulatedDocument))
    write_jsonl(tmp_path / "manipulations.jsonl", [records[0].model_copy(update={"metric": "coherence"}), *records[1:]])
    assert validate(tmp_path).problems == {
        "its number, metric or category is not that of typos": (1, records[0].manipulation_id)
    }


def test_the_control_with_the_same_number_of_edits(tmp_path: Path) -> None:
    build(tmp_path, "story_tokens=900", "lengths=full,300", "density=same_count", "types=typos,temporal")
    counts: dict[tuple[str, str], set[int]] = {}
    for record in read_jsonl(tmp_path / "manipulations.jsonl", ManipulatedDocument):
        counts.setdefault((record.base_id, record.name), set()).add(record.operations)
    assert all(len(found) == 1 for found in counts.values())


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("types=typo", "did you mean 'typos'"),
        ("lengths=2k,full", "not '2k'"),
        ("lengths='2000'", "must name full"),
        ("lengths=2000", "must name full"),
        ("lengths=", "has no value: write options.lengths=VALUE"),
        ("types=", "has no value: write options.types=VALUE"),
        ("repeats=0", "repeats"),
        ("intensity.typo=3", "did you mean 'typos'"),
        ("intensity.typos=-1", "above 0"),
        ("colour=red", "unknown key colour"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, option: str, message: str) -> None:
    with pytest.raises(JudgeError, match=message):
        build(tmp_path, option)


def test_unreadable_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=r"holds no \.txt or \.md file: "):
        list(read_folder(tmp_path, CorpusRules(), Counter()))
    with pytest.raises(JudgeError, match="missing does not exist: give path=PATH, a folder"):
        list(read_folder(tmp_path / "missing", CorpusRules(), Counter()))
    (tmp_path / "latin.txt").write_bytes("Café".encode("latin-1"))
    (tmp_path / "other.md").write_bytes("A book".encode("utf-16"))
    with pytest.raises(JudgeError, match=r"latin.txt is not UTF-8 \(byte 3\).*latin.txt, other.md \(2\)"):
        list(read_folder(tmp_path, CorpusRules(), Counter()))
    (tmp_path / "latin.txt").write_text("CafÃ© crÃ¨me")
    (tmp_path / "other.md").write_text("\ufeff \r\n\n")
    (tmp_path / "long.md").write_text("one two three four five")
    skipped: Counter[str] = Counter()
    assert not list(read_folder(tmp_path, CorpusRules(max_tokens=4), skipped))
    assert skipped == {"wrongly decoded characters": 1, "empty": 1, "more than 4 tokens": 1}


def test_one_broken_character_leaves_no_document_out(tmp_path: Path) -> None:
    """The copies have it, too, so it favours none. Many of them are what judges would list as mistakes."""
    (tmp_path / "in").mkdir()
    text = story(0, 5000)[1]
    (tmp_path / "in" / "one.txt").write_text(f"{text} A cafÃ© was there.")
    (tmp_path / "in" / "few.txt").write_text("The \ufffd of it.")
    (tmp_path / "in" / "many.txt").write_text(text.replace(".", "\ufffd"))
    report = build(tmp_path / "out", "types=typos", "lengths=full", path=tmp_path / "in", limit=None)
    assert report["documents"] == 2
    assert report["documents_with_broken_characters"] == 2
    assert report["skipped_documents"] == {"wrongly decoded characters": 1}
    documents = {one.title: one for one in read_jsonl(tmp_path / "out/documents.jsonl", Document)}
    assert documents["one"].meta == {"broken_characters": 1}
    assert "cafÃ©" in documents["one"].text


def test_a_text_without_blank_lines_has_a_paragraph_in_each_line() -> None:
    """As a judgment. A text that is broken for its width has one paragraph."""
    lines = [
        "THE FACTS",
        *(" ".join(f"{number}. The court heard both sides of it." for _ in range(9)) for number in "12"),
    ]
    assert [one.text for one in paragraphs(prepared("\n".join(lines)))] == lines
    wrapped = textwrap.fill(" ".join(lines), 72)
    assert [one.text for one in paragraphs(prepared(wrapped))] == [wrapped]


def test_without_spacy_manipulations_that_need_it_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    _loaded.cache_clear()
    try:
        with pytest.raises(JudgeError, match=r"pip install 'judge-r1\[tagger\]', or name manipulations that need none"):
            build(tmp_path / "all", "story_tokens=300", "lengths=full")
        without = [name for name in MANIPULATIONS.names() if not MANIPULATIONS.get(name).needs_tagger]
        assert {"typos", "temporal", "exchange_content"} < set(without)
        report = build(tmp_path / "out", "story_tokens=600", "lengths=full", f"types={','.join(without)}")
        assert report["abstained"] == {}
        assert report["settings"]["tagger"] is None  # type: ignore[index]
    finally:
        _loaded.cache_clear()


def test_a_name_that_is_given_twice_counts_once(tmp_path: Path) -> None:
    report = build(tmp_path, "story_tokens=300", "lengths=full", "types=typos,typos", limit=1)
    assert (report["manipulations"], report["abstained"]) == (1, {})


def test_the_license_of_a_book_is_no_part_of_it() -> None:
    book = (
        "Title\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\nIt was late.\n*** END OF THIS PROJECT GUTENBERG\nLaw."
    )
    assert cleaned_book(book) == "It was late."
    assert cleaned_book("It was late.\nLaw.") == "It was late.\n\nLaw."


def test_wrapped_books_have_the_sentences_of_their_prose(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    text = story(0, 600)[1]
    (tmp_path / "in" / "one.txt").write_text(text)
    (tmp_path / "in" / "two.txt").write_text("\n\n".join(textwrap.fill(part, 72) for part in text.split("\n\n")))
    build(
        tmp_path / "out",
        "types=word_order,verb_tense",
        "lengths=full",
        path=tmp_path / "in",
        limit=None,
    )
    found = list(read_jsonl(tmp_path / "out/manipulations.jsonl", ManipulatedDocument))
    assert len(found) == 4
    assert len({(one.name, one.units, one.operations) for one in found}) == 2


def test_a_repeated_paragraph_and_a_text_that_is_refilled(tmp_path: Path) -> None:
    options = ("story_tokens=900", "lengths=full,300", "types=remove_content,repeat_content")
    build(tmp_path, *options, "repeats=3", "refill=true", limit=2)
    documents = {d.document_id: d for d in read_jsonl(tmp_path / "documents.jsonl", Document)}
    full = {d.base_id: d.text for d in documents.values() if d.length == "full"}
    for record in read_jsonl(tmp_path / "manipulations.jsonl", ManipulatedDocument):
        text = documents[record.document_id].text
        assert not changed_outside(text, record.text, record.spans)
        if record.name == "repeat_content":
            assert record.params["repeats"] == 3
            [span] = record.spans
            added = record.text[span.new_start : span.new_end].strip().split("\n\n")
            assert len(added) == 3
            assert set(added) <= set(text.split("\n\n"))
        elif record.length == "full":
            assert len(record.text) < len(text)
        else:
            last = record.spans[-1]
            assert record.params["refill"] is True
            assert len(record.text.split(" ")) == len(text.split(" ")) == 300
            assert full[record.base_id].startswith(text + record.text[last.new_start :])
