"""The loader of lexicons validates files and names the file and field of an error."""

from pathlib import Path

import pytest

from data_builders.lexicons import Lexicon, LexiconError, load_lexicon


class WordClass(Lexicon):
    name: str
    words: tuple[str, ...]
    distance: int | None = None


Classes = tuple[WordClass, ...]


def write(folder: Path, text: str) -> Path:
    (folder / "side.json").write_text(text, encoding="utf-8")
    return folder


def test_word_classes_are_loaded(tmp_path: Path) -> None:
    folder = write(tmp_path, '[{"name": "side", "words": ["left", "right"], "distance": 1}]')
    [found] = load_lexicon("side", Classes, folder)
    assert found == WordClass(name="side", words=("left", "right"), distance=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[{]", "Invalid JSON"),
        ('[{"name": "side"}]', "field 0.words: Field required"),
        ('[{"name": "side", "words": ["left"], "rank": 2}]', "field 0.rank"),
    ],
)
def test_invalid_lexicons_are_rejected(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LexiconError, match=r"side\.json: ") as error:
        load_lexicon("side", Classes, write(tmp_path, text))
    assert message in str(error.value)


def test_a_missing_lexicon_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"cannot read the lexicon .*side\.json: No such file"):
        load_lexicon("side", Classes, tmp_path)
