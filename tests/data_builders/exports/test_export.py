"""Exports write complete folders or none, and `datasets` reads them."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from factories import mini_pairs
from split_factories import folder, long_case, mini_folder, pairs_of

from data_builders.export import export, splits_of
from data_builders.exports import Options
from data_builders.generators import dataset_of
from data_builders.splits.policy import by_share
from data_builders.splits.split import split as split_pairs
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.config import EpisodeConfig
from judge_r1.files.pair_set import load_pairs

SPLITS = ("test", "train_42", "train_84")
NAMES = ("dpo", "sft", "trl", "verl")
Load = Callable[..., Any]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """`datasets.load_dataset` with a separate cache, offline."""
    datasets, cache = pytest.importorskip("datasets"), str(tmp_path / "cache")
    return lambda path, *name, **more: datasets.load_dataset(str(path), *name, cache_dir=cache, **more)


def contents(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def gold(pair: ReasoningPair) -> str:
    return pair.gold.comparison


@pytest.mark.parametrize("name", NAMES)
def test_load_dataset_reads_the_folder(name: str, split_folder: Path, tmp_path: Path, load: Load) -> None:
    export(split_folder, tmp_path / "out", name, Options())
    loaded = load(tmp_path / "out")
    assert sorted(loaded) == list(SPLITS)
    for split in SPLITS:
        data = load_pairs(split_folder / split)
        rows = list(loaded[split])
        ids = [row["extra_info"]["pair_id"] if name == "verl" else row["pair_id"] for row in rows]
        assert ids == [pair.pair_id for pair in data.pairs]
        for row, pair in zip(rows, data.pairs, strict=True):
            shown = json.dumps(row, ensure_ascii=False)
            assert json.dumps(data.cases[pair.case_id].context, ensure_ascii=False)[1:-1] in shown
            assert gold(pair) in shown


def test_another_seed_changes_only_the_rejected_judgments(split_folder: Path, tmp_path: Path) -> None:
    for out, seed in (("a", 0), ("b", 1)):
        export(split_folder, tmp_path / out, "dpo", Options(seed=seed))
    rows = [[json.loads(line) for line in (tmp_path / out / "test.jsonl").open()] for out in ("a", "b")]
    assert [row.pop("rejected") for row in rows[0]] != [row.pop("rejected") for row in rows[1]]
    assert rows[0] == rows[1]


def test_dataset_card_matches_the_data(split_folder: Path, tmp_path: Path) -> None:
    export(split_folder, tmp_path, "sft", Options())
    _, head, body = (tmp_path / "README.md").read_text().split("---\n", 2)
    header = yaml.safe_load(head)
    assert header["license"] == ["apache-2.0"]
    assert header["size_categories"] == ["n<1K"]
    assert header["configs"] == [
        {
            "config_name": "sft",
            "default": True,
            "data_files": [{"split": split, "path": f"{split}.jsonl"} for split in SPLITS],
        }
    ]
    data = load_pairs(split_folder / "train_42")
    principles = Counter(n for pair in data.pairs for n in pair.violated)
    a_better = sum(pair.preferred == "A" for pair in data.pairs)
    numbers = [len(data.cases), 42, a_better, 36, 6, *(principles[n] for n in range(1, 7))]
    assert f"| train_42 | academic 14, legal 14, medical 14 | {' | '.join(map(str, numbers))} |" in body
    distinct = [load_pairs(split_folder / split) for split in ("train_84", "test")]
    pairs = sum(len(part.pairs) for part in distinct)
    assert f"Flaws: {pairs} by rules (seed 0)." in body
    assert f"Cases: mini {sum(len(part.cases) for part in distinct)}." in body
    assert "Split by case (sizes [2, 4], test 3, seed 0)" in body
    assert "style `answer`, context `full`, no search" in body
    assert "judge-r1 " in body
    assert "Not audited" in body


def test_an_audit_of_an_earlier_version_is_named(split_folder: Path, tmp_path: Path) -> None:
    copied = tmp_path / "in"
    shutil.copytree(split_folder / "test", copied)
    (copied / "audit.json").write_text('{"flagged": []}')
    with pytest.raises(JudgeError, match=r"has no flag_lines: run judge-r1 audit .*in again"):
        export(copied, tmp_path / "out", "dpo", Options())
    (copied / "audit.json").write_text('{"flag_lines": []}')
    export(copied, tmp_path / "out", "dpo", Options())
    assert "* in: nothing is flagged." in (tmp_path / "out" / "README.md").read_text()


def test_licenses_are_quoted_and_mapped_to_hub_names(tmp_path: Path) -> None:
    texts = [
        "CC BY-SA 4.0 (F1000RD); paper http://creativecommons.org/licenses/by/4.0/; review CC BY 3.0",
        "Apache-2.0",
        "on  request:\nask us, or https://creativecommons.org/licenses/by/2.0/igo/",
    ]
    cases = [long_case(n).model_copy(update={"license": text}) for n, text in enumerate(texts)]
    folder(tmp_path / "in", cases, [pair for case in cases for pair in pairs_of(case)])
    export(tmp_path / "in", tmp_path / "out", "sft", Options())
    _, head, body = (tmp_path / "out" / "README.md").read_text().split("---\n", 2)
    assert yaml.safe_load(head)["license"] == ["apache-2.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-4.0", "other"]
    assert f"* {texts[0]} (1 case)" in body
    assert "* on request: ask us, or https" in body


def test_a_single_folder_is_exported_as_train(tmp_path: Path) -> None:
    mini_folder(tmp_path / "in", 3)
    assert list(export(tmp_path / "in", tmp_path / "out", "sft", Options()).splits) == ["train"]
    assert sorted(contents(tmp_path / "out")) == ["README.md", "dataset_info.json", "train.jsonl"]


def test_source_pairs_next_to_split_parts_are_ignored(tmp_path: Path) -> None:
    pairs = mini_folder(tmp_path / "pairs", 6)
    split_pairs([pairs], tmp_path, by_share(0.5, 0))
    assert list(splits_of(tmp_path, dataset_of(tmp_path))) == ["test", "train"]
    (tmp_path / "split.json").write_text("[]")
    with pytest.raises(JudgeError, match="was not written by judge-r1 split"):
        splits_of(tmp_path, dataset_of(tmp_path))
    (tmp_path / "split.json").write_text("{")
    with pytest.raises(JudgeError, match="is not valid JSON"):
        splits_of(tmp_path, dataset_of(tmp_path))


def test_context_none_exports_no_case_text(split_folder: Path, tmp_path: Path) -> None:
    export(split_folder, tmp_path, "sft", Options(config=EpisodeConfig(context="none")))
    cases = load_pairs(split_folder / "test").cases
    written = (tmp_path / "test.jsonl").read_text()
    assert not any(case.context in written for case in cases.values())


def test_missing_pairs_and_unknown_formats_are_errors(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=r"holds no pairs\.jsonl"):
        export(tmp_path, tmp_path / "out", "sft", Options())
    mini_folder(tmp_path / "in", 3)
    with pytest.raises(JudgeError, match=r"no export format is named 'sfd'.*did you mean 'sft'"):
        export(tmp_path / "in", tmp_path / "out", "sfd", Options())


def test_split_names_are_identifiers_and_unique(tmp_path: Path) -> None:
    for name in ("train-a", "test"):
        mini_folder(tmp_path / name, 3)
    assert list(splits_of(tmp_path, dataset_of(tmp_path))) == ["test", "train_a"]
    mini_folder(tmp_path / "train a", 3)
    with pytest.raises(JudgeError, match="differ in punctuation only"):
        splits_of(tmp_path, dataset_of(tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_an_invalid_line_leaves_the_previous_export(name: str, tmp_path: Path) -> None:
    mini_folder(tmp_path / "in", 6)
    export(tmp_path / "in", tmp_path / "out", name, Options())
    before = contents(tmp_path / "out")
    with (tmp_path / "in" / "pairs.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(JudgeError, match=r"pairs\.jsonl, line \d+"):
        export(tmp_path / "in", tmp_path / "out", name, Options(answer="table6"))
    assert contents(tmp_path / "out") == before


def test_parquet_row_groups_are_read_in_order(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    data = mini_pairs(600)
    folder(tmp_path / "in", list(data.cases.values()), list(data.pairs))
    export(tmp_path / "in", tmp_path / "out", "verl", Options())
    file = pq.ParquetFile(tmp_path / "out" / "train.parquet")
    assert file.num_row_groups == 3
    rows = file.read().to_pylist()
    assert [row["extra_info"]["index"] for row in rows] == list(range(len(data.pairs)))
    assert [row["extra_info"]["pair_id"] for row in rows] == [pair.pair_id for pair in data.pairs]
