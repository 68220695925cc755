"""A BERT sentence encoder on the processor with OpenVINO: mean of the last layer over the tokens, length 1.

It reads the folder that `retrieval.bundled_e5` unpacks, and needs no torch. OpenVINO computes in bfloat16 where the
processor does, else in float32. The word embeddings, four fifths of the weights, stay in the file.
"""

import json
import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import EmbedderUnavailable

BATCH_TOKENS = 1024
"""Tokens of a forward pass, padding included: more do not fit the caches of a core."""
_STEP = 8
"""A length of rows is a multiple of it: OpenVINO prepares its kernels once for each shape."""
_WORDS = "embeddings.word_embeddings.weight"
Floats = NDArray[np.float32]


class OpenVinoBert:
    """The encoder of a folder. Thread-safe.

    Raises:
        EmbedderUnavailable: OpenVINO is missing.
    """

    def __init__(self, folder: Path) -> None:
        try:
            import openvino
            from tokenizers import Tokenizer
        except ImportError as error:
            raise EmbedderUnavailable(
                f"search by meaning needs OpenVINO ({error}): pip install 'judge-r1[retrieval]'"
            ) from error
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.dim: int = config["hidden_size"]
        self.max_length: int = config["max_position_embeddings"]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        weights = _tensors(folder / "model.safetensors")
        self._words = weights.pop(_WORDS)
        threads = {"INFERENCE_NUM_THREADS": os.environ["OMP_NUM_THREADS"]} if "OMP_NUM_THREADS" in os.environ else {}
        self._compiled: Any = openvino.Core().compile_model(_graph(weights, config), "CPU", threads)
        self._own = threading.local()

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, however long it is."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]

    def encode(self, rows: Sequence[Sequence[int]]) -> Floats:
        """The vectors of rows of ids, float32 `[n, dim]`. Of a longer row, the first `max_length - 1` ids and the last
        one are read."""
        cut = [row if len(row) <= self.max_length else [*row[: self.max_length - 1], row[-1]] for row in rows]
        vectors = np.empty((len(cut), self.dim), np.float32)
        for places in _batches([len(row) for row in cut]):
            length = -(-max(len(cut[place]) for place in places) // _STEP) * _STEP
            length = min(length, self.max_length)
            ids, mask = np.zeros((len(places), length), np.int64), np.zeros((len(places), length), np.float32)
            for row, place in enumerate(places):
                ids[row, : len(cut[place])], mask[row, : len(cut[place])] = cut[place], 1.0
            vectors[places] = self._request().infer({0: self._words[ids], 1: mask})[0]
        return vectors

    def _request(self) -> Any:
        """A request of this thread: one request computes one batch at a time."""
        if not hasattr(self._own, "request"):
            self._own.request = self._compiled.create_infer_request()
        return self._own.request


def _batches(lengths: Sequence[int]) -> Iterable[list[int]]:
    """Places of rows of similar length, at most `BATCH_TOKENS` in each batch with padding, or one row."""
    batch = list[int]()
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _tensors(path: Path) -> dict[str, Floats]:
    """The float32 tensors of a safetensors file, each read from the file when it is used."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    header.pop("__metadata__", None)
    return {
        name: np.memmap(path, np.float32, "r", 8 + size + part["data_offsets"][0], tuple(part["shape"]))
        for name, part in header.items()
    }


def _graph(weights: dict[str, Floats], config: dict[str, Any]) -> Any:
    """BertModel (Devlin et al. 2019): word embeddings `[n, length, dim]` and a mask `[n, length]` to unit vectors."""
    import openvino
    from openvino import opset13 as op

    heads, width = config["num_attention_heads"], config["hidden_size"]

    def whole(*values: int) -> Any:
        return op.constant(np.array(values, np.int64))

    def weight(name: str) -> Any:
        return op.constant(np.ascontiguousarray(weights[name]))

    def linear(x: Any, name: str) -> Any:
        return op.add(op.matmul(x, weight(f"{name}.weight"), False, True), weight(f"{name}.bias"))

    def norm(x: Any, name: str) -> Any:
        scaled = op.mvn(x, whole(-1), True, config["layer_norm_eps"], "inside_sqrt")
        return op.add(op.multiply(scaled, weight(f"{name}.weight")), weight(f"{name}.bias"))

    words, mask = op.parameter([-1, -1, width], np.float32, "words"), op.parameter([-1, -1], np.float32, "mask")
    length = op.gather(op.shape_of(mask), whole(1), whole(0))
    positions = op.slice(weight("embeddings.position_embeddings.weight"), whole(0), length, whole(1), whole(0))
    kind = op.constant(np.ascontiguousarray(weights["embeddings.token_type_embeddings.weight"][0]))
    x = norm(op.add(op.add(words, positions), kind), "embeddings.LayerNorm")
    lowest = op.constant(np.float32(-1e9))
    hidden = op.unsqueeze(op.multiply(op.subtract(op.constant(np.float32(1)), mask), lowest), whole(1, 2))

    def split(x: Any) -> Any:
        return op.transpose(op.reshape(x, whole(0, 0, heads, width // heads), True), whole(0, 2, 1, 3))

    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        q, k, v = (split(linear(x, f"{layer}.attention.self.{part}")) for part in ("query", "key", "value"))
        seen = op.transpose(op.scaled_dot_product_attention(q, k, v, hidden), whole(0, 2, 1, 3))
        joined = op.reshape(seen, whole(0, 0, width), True)
        x = norm(op.add(x, linear(joined, f"{layer}.attention.output.dense")), f"{layer}.attention.output.LayerNorm")
        inner = op.gelu(linear(x, f"{layer}.intermediate.dense"), "erf")
        x = norm(op.add(x, linear(inner, f"{layer}.output.dense")), f"{layer}.output.LayerNorm")
    # The mean over the tokens, to length 1: the length of the sum does not matter.
    total = op.reduce_sum(op.multiply(x, op.unsqueeze(mask, whole(2))), whole(1), False)
    return openvino.Model([op.normalize_l2(total, whole(1), 1e-12, "max")], [words, mask])
