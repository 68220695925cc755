"""A tokenizer for commands that only encode, count and decode text: the `tokenizers` library alone.

transformers takes seconds and half a gigabyte to import. A folder is read without it where transformers would use its
tokenizer.json as it is; ids, decoded text and rendered prompts are then the same. Any other folder needs transformers.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

TEXT_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json")
TEMPLATE_FILE = "chat_template.jinja"
_PLAIN = ("TokenizersBackend", "PreTrainedTokenizerFast")
"""Classes of transformers whose tokenizer is that of tokenizer.json."""
_QWEN = "Qwen2Tokenizer"
"""Builds the parts below itself, with the vocabulary of tokenizer.json."""
_QWEN_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN_MODEL = {
    "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "",
    "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
}  # fmt: skip
_MODEL_TYPES = {"llama": _PLAIN, "qwen3": (*_PLAIN, _QWEN, f"{_QWEN}Fast"), "qwen2": (_QWEN, f"{_QWEN}Fast")}
"""Model type -> the classes that transformers takes from the folder."""
_NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class FastTokenizer:
    """What `SafeTokenizer` uses of a fast tokenizer of transformers, with the same results."""

    def __init__(self, backend: Any, chat_template: str | None, named: Mapping[str, str]) -> None:
        self.backend_tokenizer, self.chat_template, self.special_tokens_map = backend, chat_template, dict(named)
        self.eos_token, self.pad_token = named.get("eos_token"), named.get("pad_token")

    @property
    def eos_token_id(self) -> int | None:
        return None if self.eos_token is None else self.backend_tokenizer.token_to_id(self.eos_token)

    @property
    def pad_token_id(self) -> int | None:
        return None if self.pad_token is None else self.backend_tokenizer.token_to_id(self.pad_token)

    @property
    def added_tokens_decoder(self) -> dict[int, Any]:
        found: dict[int, Any] = self.backend_tokenizer.get_added_tokens_decoder()
        return found

    def get_vocab(self) -> dict[str, int]:
        """Token -> id, added tokens included."""
        found: dict[str, int] = self.backend_tokenizer.get_vocab(with_added_tokens=True)
        return found

    def convert_ids_to_tokens(self, number: int) -> str | None:
        token: str | None = self.backend_tokenizer.id_to_token(number)
        return token

    def __call__(self, text: str, *, add_special_tokens: bool, return_offsets_mapping: bool = False) -> dict[str, Any]:
        # encode_batch releases the GIL, encode does not
        [encoding] = self.backend_tokenizer.encode_batch([text], add_special_tokens=add_special_tokens)
        offsets = {"offset_mapping": encoding.offsets} if return_offsets_mapping else {}
        return {"input_ids": encoding.ids, **offsets}

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        ids: list[int] = self(text, add_special_tokens=add_special_tokens)["input_ids"]
        return ids

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        return str(self.backend_tokenizer.decode(list(ids), skip_special_tokens=skip_special_tokens))

    def apply_chat_template(self, messages: Sequence[Mapping[str, str]], *, tokenize: bool, **values: Any) -> str:
        """The rendered conversation. Raises: jinja2.TemplateError, also if the template refuses it."""
        assert not tokenize
        filled = {"tools": None, "documents": None, **self.special_tokens_map, **values}
        return str(self._template.render(messages=list(messages), **filled))

    @cached_property
    def _template(self) -> Any:
        from jinja2 import TemplateError
        from jinja2.ext import Extension, loopcontrols
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        class Generation(Extension):
            """`{% generation %}` marks what an assistant wrote; here its text alone counts."""

            tags = {"generation"}  # noqa: RUF012

            def parse(self, parser: Any) -> Any:
                next(parser.stream)
                return parser.parse_statements(("name:endgeneration",), drop_needle=True)

        def refuse(message: str) -> None:
            raise TemplateError(message)

        def as_json(value: Any, ensure_ascii: bool = False, **options: Any) -> str:
            return json.dumps(value, ensure_ascii=ensure_ascii, **options)

        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
        )
        environment.filters["tojson"] = as_json
        environment.globals["raise_exception"] = refuse
        return environment.from_string(self.chat_template or "")


def read_text_tokenizer(folder: Path) -> FastTokenizer | None:
    """The tokenizer of a folder; None where transformers would change what its tokenizer.json says, or where that
    cannot be told."""
    from tokenizers import Tokenizer

    try:
        model, _, config = (json.loads((folder / name).read_text(encoding="utf-8")) for name in TEXT_FILES)
        backend = Tokenizer.from_file(str(folder / TEXT_FILES[1]))
        template_file = folder / TEMPLATE_FILE
        template = template_file.read_text("utf-8") if template_file.exists() else config.get("chat_template")
    except Exception:  # tokenizers raises its own type: transformers names what is wrong
        return None
    named = {name: _content(config[name]) for name in _NAMED if config.get(name)}
    if not isinstance(template, str | None) or not _is_used_as_it_is(model, config, backend, named):
        return None
    if "add_bos_token" in config or "add_eos_token" in config or backend.post_processor is None:
        from tokenizers.processors import TemplateProcessing

        backend.post_processor = TemplateProcessing(single="$A:0", pair="$A:0 $B:1", special_tokens=[])
    return FastTokenizer(backend, template, named)


def _content(token: Any) -> str:
    return str(token["content"] if isinstance(token, dict) else token)


def _is_used_as_it_is(
    model: Mapping[str, Any], config: Mapping[str, Any], backend: Any, named: Mapping[str, str]
) -> bool:
    """Whether transformers adds and changes nothing. It adds tokens of the configuration that tokenizer.json lacks."""
    class_name, added = config.get("tokenizer_class"), backend.get_added_tokens_decoder()
    if class_name not in _MODEL_TYPES.get(model.get("model_type", ""), ()) or "auto_map" in config:
        return False
    if class_name not in _PLAIN and not _is_qwen(json.loads(backend.to_str()), named):
        return False
    contents = {token.content for token in added.values()}
    extra = [config.get(key) or [] for key in ("additional_special_tokens", "extra_special_tokens")]
    wanted = {*named.values(), *(_content(token) for tokens in extra for token in tokens)}
    stated = config.get("added_tokens_decoder") or {}
    return (
        backend.truncation is None
        and backend.padding is None
        and not any(config.get(key) for key in ("add_bos_token", "add_eos_token", "split_special_tokens"))
        and all(isinstance(tokens, list) for tokens in extra)
        and wanted <= contents
        and all(_same_token(added.get(int(number)), token) for number, token in stated.items())
    )


def _same_token(found: Any, stated: Mapping[str, Any]) -> bool:
    return found is not None and all(getattr(found, name, None) == value for name, value in stated.items())


def _is_qwen(state: Mapping[str, Any], named: Mapping[str, str]) -> bool:
    """Whether tokenizer.json has the parts that the class builds, and the tokens that it names by default."""
    words = {"type": "Split", "pattern": {"Regex": _QWEN_WORDS}, "behavior": "Isolated", "invert": False}
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    steps = state["pre_tokenizer"] or {}
    found = [{k: v for k, v in step.items() if k != "trim_offsets"} for step in steps.get("pretokenizers", ())]
    model = {key: value for key, value in state["model"].items() if key not in ("vocab", "merges")}
    tokens = {token["content"] for token in state["added_tokens"] if token["special"]}
    return (
        found == [words, bytes_]
        and state["normalizer"] == {"type": "NFC"}
        and (state["decoder"] or {}).get("type") == "ByteLevel"
        and model == _QWEN_MODEL
        and {named.get(name, "<|endoftext|>") for name in ("unk_token", "eos_token", "pad_token")} <= tokens
    )
