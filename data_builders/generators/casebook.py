"""The cases and pairs of the benchmark `casebook` as a folder of pairs, to audit, to read and to train on."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal

from pydantic import Field

from data_builders.generators import register
from data_builders.generators.base import Generator, RecordGroup
from data_builders.pair_dataset import PairDataset
from judge_r1.benchmarks.casebook.cases import FOLDER, PARTS, load_part
from judge_r1.files.yaml_config import ConfigModel


class CasebookOptions(ConfigModel):
    """The options of `judge-r1 build casebook`."""

    part: Literal["train", "dev", "test", "all"] = Field(
        "train", description="train, dev or test, or all of them, which is for reading and not for training"
    )


@register
class Casebook(Generator[RecordGroup]):
    """the cases and pairs of the benchmark casebook, a part at a time (no data needed)"""

    name = "casebook"
    dataset = PairDataset()
    options = CasebookOptions
    unused = ("kinds", "seed", "variants")

    def items(self) -> Iterator[RecordGroup]:
        return islice(self._groups(), self.plan.limit)

    def _groups(self) -> Iterator[RecordGroup]:
        for part in PARTS if self.own.part == "all" else (self.own.part,):
            data = load_part(part, self.plan.path or FOLDER)
            for case in data.cases.values():
                yield RecordGroup([case, *(pair for pair in data.pairs if pair.case_id == case.case_id)])

    def generate(self, item: RecordGroup) -> RecordGroup:
        return item

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), **{name: self.plan.recorded[name] for name in ("path", "limit", "options")}}
