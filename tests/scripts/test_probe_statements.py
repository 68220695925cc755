"""The probe finds statements that the rest of the text confirms, and knows which ones are common."""

import sys
from pathlib import Path

import pytest
from scripts.probe_statements import Corpus, Exchange, exchanges, main, scores

from data_builders.build import build
from judge_r1.core.pair_set import load_pairs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("builtin")
    build("builtin", out, kinds=("single",), limit=9)
    return out


def test_the_text_of_a_build_mentions_neither_statement(folder: Path) -> None:
    data = load_pairs(folder)
    found, corpus = exchanges(data), Corpus(data)
    assert len(found) > 20
    assert set(scores(found, corpus.mentioned)) == {0.5}


def test_a_confirmed_statement_is_found(folder: Path) -> None:
    data = load_pairs(folder)
    pair, exchange = exchanges(data)[0]
    text = pair.reference  # the true statement itself
    shown = Exchange(exchange.case, exchange.true, exchange.invented, text)
    assert scores([(pair, shown)], Corpus(data).mentioned) == [1.0]


def test_the_probe_prints_each_rule(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["probe_statements", str(folder)])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:4]] == [
        f"all, {name}" for name in ("mentioned", "common", "repeated", "similar cases")
    ]
