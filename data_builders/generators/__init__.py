"""The registry of generators. Each module of this package registers generators; nothing else needs to be edited.

    @register
    class Summaries(Generator[Document]):
        name = "summaries"
        dataset = SummaryDataset()

        def items(self): ...           # what to work on
        def generate(self, item): ...  # the records made of one item

`judge-r1 build summaries path=DIR --out OUT` then writes, resumes and counts them; `validate` and `export` find the
generator in OUT/build.json.
"""

from pathlib import Path
from typing import Any, TypeVar

from data_builders.dataset_type import BUILD_FILE, DatasetType, read_report
from data_builders.generators.base import Generator
from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import Registry, UnknownName, suggest

PAIRS, PAIRS_BY_TEACHER = "pairs", "pairs-by-teacher"

GENERATORS: Registry[type[Generator[Any]]] = Registry("generator", __name__)
G = TypeVar("G", bound=type[Generator[Any]])


def register(generator: G) -> G:
    """Class decorator: registers a generator under its `name`."""
    GENERATORS.register(generator.name)(generator)
    return generator


def generator_for(source: str, *, with_teacher: bool) -> type[Generator[Any]]:
    """The generator that `judge-r1 build SOURCE` runs: SOURCE itself, or pairs for the name of a corpus.

    Raises: UnknownName; JudgeError for a generator that needs a teacher and has none, or the reverse.
    """
    from data_builders.sources import SOURCES

    if source in SOURCES:
        return GENERATORS.get(PAIRS_BY_TEACHER if with_teacher else PAIRS)
    names = [name for name in GENERATORS.names() if not GENERATORS.get(name).reads_corpus]
    if source not in names:
        raise UnknownName(f"no source is named {source!r}{suggest(source, [*SOURCES.names(), *names])}")
    generator = GENERATORS.get(source)
    if generator.needs_teacher and not with_teacher:
        raise JudgeError(
            f"generator {source!r} needs a teacher: give teacher=chat@URL#MODEL, chat@anthropic:MODEL or chat@MODEL"
        )
    if with_teacher and not generator.needs_teacher:
        raise JudgeError(f"generator {source!r} works by rules: leave teacher out")
    return generator


def dataset_of(folder: Path) -> DatasetType[Any]:
    """The type of the data in `folder`: that of the generator in its build.json (or, for a folder of splits, in the
    first build.json below it), and pairs where none is named.

    Raises: JudgeError for a generator that does not exist.
    """
    for path in (folder / BUILD_FILE, *sorted(folder.glob(f"*/{BUILD_FILE}"))):
        if path.is_file():
            try:
                return GENERATORS.get(read_report(path).get("generator", PAIRS)).dataset
            except UnknownName as error:
                raise JudgeError(f"{path}: {error}; build the data set again") from None
    return GENERATORS.get(PAIRS).dataset
