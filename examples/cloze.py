"""A generator of other records than pairs: sentences with their last word removed.

judge-r1 build cloze path=sentences.txt --out runs/cloze

A `DatasetType` names the records and files; writing, resume, counts, `validate`, the card and `export` are shared.
"""

from collections.abc import Iterator

from data_builders.dataset_type import DatasetType, RecordFile
from data_builders.generators import register
from data_builders.generators.base import Generator, RecordGroup
from judge_r1.core.record_base import Record, content_hash


class Cloze(Record):
    cloze_id: str
    text: str
    answer: str


class ClozeDataset(DatasetType[Cloze]):
    files = (RecordFile("cloze", "clozes.jsonl", Cloze, "cloze_id"),)
    main = files[0]
    title = "Cloze sentences"


@register
class MakeClozes(Generator[str]):
    name = "cloze"
    dataset = ClozeDataset()

    def items(self) -> Iterator[str]:
        yield from self.plan.path.read_text(encoding="utf-8").splitlines()

    def generate(self, item: str) -> RecordGroup | None:
        text, _, answer = item.rstrip(".").rpartition(" ")
        if not text:
            self.abstained["one word"] += 1
            return None
        return RecordGroup([Cloze(cloze_id=content_hash(item), text=text, answer=answer)])
