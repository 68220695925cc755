"""A tokenizer without transformers gives what transformers gives, or steps aside."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import real_tokenizers

from judge_r1.core.errors import JudgeError
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_tokenizer, text_tokenizer
from judge_r1.models.text_tokenizer import FastTokenizer, read_text_tokenizer

TEXTS = ("", "plain words", "  spaces\n\n\ttabs", "é ü 中文 😀", "<search> <|im_end|> </search><answer>", "x" * 300)
QWEN = "Qwen2Tokenizer"


def written(folder: Path, **changes: Any) -> Path:
    """The folder of the tiny model's tokenizer, with changes of its files: `config`, `model`, `tokenizer`."""
    names = {"config": "tokenizer_config.json", "model": "config.json", "tokenizer": "tokenizer.json"}
    real_tokenizers.tiny().save_pretrained(folder)
    (folder / "config.json").write_text('{"model_type": "qwen3"}')
    for part, values in changes.items():
        path = folder / names[part]
        path.write_text(json.dumps(json.loads(path.read_text()) | values))
    return folder


def qwen(folder: Path) -> Path:
    from transformers import Qwen2Tokenizer

    letters = {letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyzĠĊ")}
    vocabulary = letters | {"th": 28, "the": 29}
    tokenizer = Qwen2Tokenizer(vocab=vocabulary, merges=[("t", "h"), ("th", "e")], eos_token="<|im_end|>")
    tokenizer.chat_template = real_tokenizers.CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    (folder / "config.json").write_text('{"model_type": "qwen3"}')
    return folder


@pytest.mark.parametrize("name", ["bundled:tiny", "bundled:haystack", "smollm2", QWEN])
def test_it_equals_that_of_transformers(name: str, tmp_path: Path) -> None:
    if name == QWEN:
        name = str(qwen(tmp_path))
    elif name == "smollm2":
        name = real_tokenizers.smollm2().name_or_path
    expected, found = load_tokenizer(name), text_tokenizer(name)
    assert isinstance(found, FastTokenizer)
    assert SafeTokenizer(found).fingerprint == SafeTokenizer(expected).fingerprint
    assert (found.eos_token_id, found.pad_token_id) == (expected.eos_token_id, expected.pad_token_id)
    assert found.get_vocab() == expected.get_vocab()
    one, other = SafeTokenizer(found), SafeTokenizer(expected)
    assert (one.added, one.control, one.bytewise) == (other.added, other.control, other.bytewise)
    for text in TEXTS:
        assert found.encode(text, add_special_tokens=False) == expected.encode(text, add_special_tokens=False)
        assert one.encode_untrusted(text) == other.encode_untrusted(text)
        assert one.trusted_spans(text) == other.trusted_spans(text)
        assert one.decode(one.encode_trusted(text)) == other.decode(other.encode_trusted(text))
    messages = [{"role": "user", "content": "judge <this>"}]
    for thinking in (False, True):
        both = [
            tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, enable_thinking=thinking
            )
            for tokenizer in (found, expected)
        ]
        assert both[0] == both[1]


@pytest.mark.parametrize(
    "changes",
    [
        {"config": {"tokenizer_class": "LlamaTokenizer"}},  # transformers builds its own parts
        {"config": {"auto_map": {"AutoTokenizer": "own.Tokenizer"}}},
        {"config": {"bos_token": "<|not in the file|>"}},
        {"config": {"extra_special_tokens": ["<|not in the file|>"]}},
        {"config": {"add_bos_token": True}},
        {"config": {"added_tokens_decoder": {"0": {"content": "other", "special": True}}}},
        {"model": {"model_type": "mistral"}},
        {"tokenizer": {"padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None,
                                   "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}}},
        {"tokenizer": {"model": 3}},
    ],
)  # fmt: skip
def test_transformers_reads_what_it_would_change(changes: dict[str, Any], tmp_path: Path) -> None:
    assert read_text_tokenizer(written(tmp_path / "same")) is not None
    assert read_text_tokenizer(written(tmp_path / "changed", **changes)) is None


def test_another_pattern_of_words_is_left_to_transformers(tmp_path: Path) -> None:
    folder = qwen(tmp_path)
    assert read_text_tokenizer(folder) is not None
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace("(?i:'s|", "(?i:"))
    assert read_text_tokenizer(folder) is None


def test_templates_of_transformers_render_and_refuse(tmp_path: Path) -> None:
    template = (
        "{%- for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "{% generation %}{{ m | tojson }}{% endgeneration %}{% if loop.last %}{% break %}{% endif %}{% endfor %}"
        "{{ eos_token }}{% if tools %}tools{% endif %}{{ strftime_now('%Y') }}"
    )
    folder = written(tmp_path)
    (folder / "chat_template.jinja").write_text(template)
    rendered = [
        SafeTokenizer(tokenizer)._render([{"role": "user", "content": "ü"}], False)
        for tokenizer in (text_tokenizer(str(folder)), load_tokenizer(str(folder)))
    ]
    assert rendered[0] == rendered[1]
    safe = SafeTokenizer(text_tokenizer(str(folder)))
    with pytest.raises(JudgeError, match="chat template"):
        safe._render([{"role": "system", "content": "x"}], False)


def test_counting_tokens_imports_neither_transformers_nor_torch() -> None:
    program = (
        "import sys\nfrom judge_r1.models.hub import context_length, eos_ids, text_tokenizer\n"
        "from judge_r1.episode.tokenizer import SafeTokenizer\n"
        "assert SafeTokenizer(text_tokenizer('bundled:tiny')).encode_untrusted('words')\n"
        "assert eos_ids('bundled:tiny', text_tokenizer('bundled:tiny'))\n"
        "assert context_length('bundled:tiny') == 2048\n"
        "assert not {'torch', 'transformers'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
