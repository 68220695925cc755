"""The parameter formula agrees with the models; an unknown architecture is a one-line error."""

from pathlib import Path
from typing import Any

import pytest

from judge_r1.models.shape import SHIPPED, UnknownShape, parse, shape_of


def counted(config: Any) -> int:
    """The parameter count of a configuration in transformers, on the meta device."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kind", ["llama", "mistral", "qwen2", "qwen3"])
def test_the_formula_equals_the_parameter_count_of_the_model(kind: str, tied: bool) -> None:
    from transformers import AutoConfig

    config = AutoConfig.for_model(
        kind, hidden_size=96, intermediate_size=200, num_hidden_layers=3, num_attention_heads=6,
        num_key_value_heads=2, head_dim=32 if kind == "qwen3" else 16, vocab_size=321, tie_word_embeddings=tied,
    )  # fmt: skip
    assert parse(config, "test").parameters == counted(config)


@pytest.mark.parametrize(
    ("name", "billions"),
    [("Qwen/Qwen3-1.7B", 1.72), ("Qwen/Qwen3-4B", 4.02), ("Qwen/Qwen3-8B", 8.19), ("Qwen/Qwen3-14B", 14.77),
     ("Qwen/Qwen3-0.6B", 0.596), ("Qwen/Qwen3-32B", 32.76), ("Qwen/Qwen2.5-7B-Instruct", 7.62)],
)  # fmt: skip
def test_shipped_shapes_match_the_published_sizes(name: str, billions: float) -> None:
    """Sizes from the model cards."""
    assert shape_of(name).parameters / 1e9 == pytest.approx(billions, rel=0.002)


def test_the_kv_cache_of_qwen3_8b_takes_144_kib_a_token() -> None:
    assert SHIPPED["Qwen/Qwen3-8B"].cache_bytes == 144 * 1024


def test_the_adapter_count_equals_that_of_peft() -> None:
    import torch
    from peft import get_peft_model
    from transformers import AutoConfig, AutoModelForCausalLM

    from judge_r1.training.lora import adapter_config
    from judge_r1.training.stage_config import LoraConfig

    shape = shape_of("bundled:tiny")
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(Path(shape.source).parent))
        model = get_peft_model(model, adapter_config(LoraConfig(rank=4)))
    assert shape.trained(4) == sum(p.numel() for p in model.parameters() if p.requires_grad)


def test_the_bundled_model_has_the_shape_of_its_config() -> None:
    from judge_r1.models.hub import load_model

    shape = shape_of("bundled:tiny")
    assert shape.parameters == sum(p.numel() for p in load_model("bundled:tiny").parameters())


def test_an_unknown_architecture_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "mixtral"}')
    with pytest.raises(UnknownShape, match=r"config\.json is mixtral: memory is estimated for llama"):
        shape_of(str(tmp_path))


def test_a_model_that_is_not_trained_yet_has_no_estimate() -> None:
    with pytest.raises(UnknownShape, match=r"there is no folder runs/none/model.*: memory is not estimated"):
        shape_of("runs/none/model")


def test_an_unreachable_hub_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(UnknownShape, match="memory is not estimated; download the model") as error:
        shape_of("example/no-such-model")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", ["[" * 200_000, "[]", "", '{"a": NaN}', "{}"])
def test_a_hostile_config_is_a_one_line_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(UnknownShape, match="memory is not estimated; download the model, and set model=DIR") as error:
        shape_of(str(tmp_path))
    assert "\n" not in str(error.value)
