"""Loading weights runs no foreign code: safetensors only, and no code of a model folder (see `test_own_code`)."""

import ast
import re
from pathlib import Path

import pytest

import judge_r1
from judge_r1.models.hub import load_model
from judge_r1.models.pretrained import ModelUnavailable

ROOT = Path(judge_r1.__file__).parents[1]
SOURCES = [path for package in ("judge_r1", "data_builders", "retrieval") for path in (ROOT / package).rglob("*.py")]
ASKS = re.compile(r"\bAuto\w+\.from_(pretrained|config)$|\b(SentenceTransformer|CrossEncoder|pipeline)$")
NAMES = {"from_pretrained", "from_config", "SentenceTransformer", "CrossEncoder", "pipeline", "load"}
"""Calls that ask on standard input whether to run a folder's code, unless they are told not to."""
BETWEEN_PROCESSES = "ray_blocks.py"
"""Sends work to processes that it starts itself, pickled as Ray does. It reads no file."""


def test_no_module_trusts_remote_code_or_reads_pickles() -> None:
    assert len(SOURCES) > 100
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            where = (path, getattr(node, "lineno", 0))
            if isinstance(node, ast.keyword):
                assert node.arg != "trust_remote_code" or _is(node.value, False), where
                assert node.arg not in ("use_safetensors", "weights_only") or _is(node.value, True), where
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [getattr(node, "module", None), *(alias.name for alias in node.names)]
                found = {"pickle", "cPickle", "dill", "joblib"} & set(names)
                assert not found or path.name == BETWEEN_PROCESSES, where
            if not isinstance(node, ast.Call) or getattr(node.func, "attr", getattr(node.func, "id", "")) not in NAMES:
                continue
            called, named = ast.unparse(node.func), {k.arg for k in node.keywords}
            assert "weights_only" in named or called != "torch.load", where
            assert "trust_remote_code" in named or not ASKS.search(called), where


def _is(node: ast.expr, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def test_a_pickled_model_raises(model_folder: Path, tmp_path: Path) -> None:
    """A real pickle checkpoint, which transformers alone would load."""
    import torch
    from safetensors.torch import load_file

    for file in model_folder.iterdir():
        if file.name != "model.safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    torch.save(load_file(model_folder / "model.safetensors"), tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelUnavailable, match="safetensors"):
        load_model(str(tmp_path))
    assert load_model(str(model_folder)).config.hidden_size == 32
