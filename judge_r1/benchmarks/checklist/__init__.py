"""The benchmark of your own texts, judged by checklists."""

from judge_r1.benchmarks.checklist import own_texts as own_texts  # registers itself
