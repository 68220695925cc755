"""A model folder that names code of its own: every loader refuses it in one sentence. The code, which would write a
file, never runs, although standard input answers yes to each question."""

import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from process_faults import command, forked

from data_builders.build import write_pairs
from judge_r1.core.errors import ExitStatus, JudgeError
from judge_r1.models.hub import context_length, load_config, load_model, load_tokenizer, resolve
from judge_r1.training.checkpoints import Checkpoint
from judge_r1.training.export_checkpoint import export, verify_weights
from judge_r1.training.lora import add_adapters
from judge_r1.training.recipe import load_recipe
from retrieval.embedders import load_embedder
from retrieval.errors import EmbedderUnavailable

CODE = """\
from pathlib import Path

from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

Path(__file__).exists() and Path({marker!r}).write_text("ran")


class OwnConfig(Qwen3Config):
    model_type = "own"


class OwnModel(Qwen3ForCausalLM):
    config_class = OwnConfig


class OwnTokenizer(PreTrainedTokenizerFast):
    pass
"""
RECIPE = """\
name: own
stage: sft
model: MODEL
data: {train: DATA}
episode: {context: none, prompt: compact, retriever: bm25}
sft: {batch_size: 4, micro_batch_size: 4, max_steps: 1}
"""
SENTENCE = "its configuration names code of its own, which judge-r1 never runs"


def change(file: Path, **values: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "marker"


@pytest.fixture
def own(tmp_path: Path, marker: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The bundled model with a configuration, a model and a tokenizer of its own. Standard input says yes."""
    folder = Path(shutil.copytree(resolve("bundled:tiny"), tmp_path / "own"))
    (folder / "own.py").write_text(CODE.format(marker=str(marker)))
    classes = {"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel", "AutoModelForCausalLM": "own.OwnModel"}
    change(folder / "config.json", model_type="own", architectures=["OwnModel"], auto_map=classes)
    tokenizer = {"AutoTokenizer": [None, "own.OwnTokenizer"]}
    change(folder / "tokenizer_config.json", tokenizer_class="OwnTokenizer", auto_map=tokenizer)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 50))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return folder


def refused(load: Callable[[], object], marker: Path) -> None:
    with pytest.raises((JudgeError, EmbedderUnavailable)) as error:
        load()
    assert SENTENCE in str(error.value)
    assert "\n" not in str(error.value)
    assert not marker.exists()


def test_the_folder_runs_its_code_if_it_is_trusted(own: Path, marker: Path) -> None:
    """Otherwise the other tests could not fail."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    AutoTokenizer.from_pretrained(own, trust_remote_code=True)
    assert marker.exists()
    marker.unlink()
    sys.modules.pop(next(name for name in sys.modules if name.endswith(".own")))
    AutoModelForCausalLM.from_pretrained(own)  # which asks
    assert marker.exists()


LOADERS: list[Callable[[str], object]] = [
    load_model, load_tokenizer, load_config, context_length, partial(load_model, training=True),
    partial(load_embedder, device="cpu"),
]  # fmt: skip


@pytest.mark.parametrize("load", LOADERS)
def test_loaders_refuse(load: Callable[[str], object], own: Path, marker: Path) -> None:
    refused(lambda: load(str(own)), marker)


def test_an_embedder_with_a_module_of_its_own_is_refused(own: Path, marker: Path) -> None:
    for file in ("config.json", "tokenizer_config.json"):
        shutil.copy(Path(resolve("bundled:tiny")) / file, own)
    (own / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "own.OwnModel"}]))
    refused(lambda: load_embedder(str(own), "cpu"), marker)


def test_merges_and_exports_refuse(own: Path, marker: Path, tmp_path: Path) -> None:
    adapters, out = tmp_path / "adapters", tmp_path / "out"
    adapters.mkdir()
    for folder in (adapters, own):  # a checkpoint of LoRA is a folder of adapters
        (folder / "adapter_config.json").write_text('{"r": 4, "lora_alpha": 8}')
    file = tmp_path / "recipe.yaml"
    file.write_text(RECIPE.replace("MODEL", str(own)).replace("DATA", str(tmp_path)) + "lora: {rank: 4, alpha: 8}\n")
    recipe = load_recipe(file)
    refused(lambda: verify_weights(own, {}), marker)
    refused(lambda: add_adapters(recipe, adapters, out), marker)
    for kind in (recipe, load_recipe(file, ["lora=null"])):
        refused(lambda kind=kind: export(tmp_path, kind, Checkpoint(1, own, False), out), marker)
    assert not out.exists()


@pytest.mark.parametrize(
    "line",
    [
        "eval --judge agentic@{own} --path {data} --out {out}",
        "serve --judge agentic@{own} --port 0",
        "train {recipe} --processes 1 --out {out}",
        "index {data} --retriever {own} --device cpu",
        "stats {data} --tokenizer {own} --out {out}",
    ],
)
def test_commands_refuse(line: str, own: Path, marker: Path, tmp_path: Path) -> None:
    """With a pipe as standard input that says yes."""
    write_pairs(mini_pairs(2), tmp_path / "data")
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(RECIPE.replace("MODEL", str(own)).replace("DATA", str(tmp_path / "data")))
    names = {"own": own, "data": tmp_path / "data", "out": tmp_path / "out", "recipe": recipe}
    answers, say = os.pipe()
    os.write(say, b"y\n" * 50)
    os.close(say)
    run = command(*(word.format(**names) for word in line.split()))

    def with_a_pipe() -> None:
        sys.stdin = os.fdopen(answers)
        run()

    result = forked(with_a_pipe)
    os.close(answers)
    assert result.returncode == ExitStatus.USAGE, result.stdout + result.stderr
    [sentence] = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert SENTENCE in sentence
    assert not marker.exists()
