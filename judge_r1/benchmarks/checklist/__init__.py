"""Benchmarks of texts that are judged by checklists: your own, and pairs of `judge-r1 build checklist-pairs-test`."""

from judge_r1.benchmarks.checklist import own_texts as own_texts  # registers itself
from judge_r1.benchmarks.checklist import pairs as pairs
