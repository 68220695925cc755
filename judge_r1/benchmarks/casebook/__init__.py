"""Original cases with a sound and flawed reasonings, for judges that search (docs/casebook.md)."""

from pathlib import Path

from pydantic import Field

from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, option_names, subset_options
from judge_r1.benchmarks.casebook.cases import FOLDER, Part, load_part
from judge_r1.benchmarks.lrbench import of_domain, pair_benchmark
from judge_r1.core.records import Domain
from judge_r1.files.yaml_config import ConfigModel


class SubsetOptions(ConfigModel):
    """Which pairs are judged."""

    parts: tuple[Domain, ...] = Field((), max_length=1, description="a domain")
    part: Part = Field("test", description="the cases are split once and for all")


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """Reads a part of the folder `path`."""
    options = subset_options(SubsetOptions, subset, "--subset of casebook")
    data = load_part(options.part, path)
    for domain in options.parts:
        data = of_domain(data, domain, path / options.part)
    return pair_benchmark(data)


BENCHMARKS.register("casebook")(
    Benchmark(
        "pairs about original cases of medicine, law and research, by case and principle",
        "none needed, or a folder with cases of your own in the same form (docs/casebook.md)",
        load,
        verified=True,
        subsets=f"a domain, {option_names(SubsetOptions)}",
        shipped=FOLDER,
    )
)
