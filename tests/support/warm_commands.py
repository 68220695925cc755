"""Imports what the commands use without a model, so that forks of this process start them at once."""

import importlib

import judge_r1.evaluation.pipeline
import judge_r1.evaluation.rating.pipeline
import judge_r1.training.pipeline  # noqa: F401
from data_builders.exports import FORMATS
from data_builders.generators import GENERATORS
from data_builders.sources import SOURCES
from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.cli import COMMANDS
from judge_r1.judges.base import JUDGES

for name in COMMANDS:
    importlib.import_module(f"judge_r1.cli.{name.replace('-', '_')}")
for registry in (FORMATS, GENERATORS, SOURCES, BENCHMARKS, JUDGES):
    registry.names()
