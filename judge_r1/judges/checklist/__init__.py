"""Judges that answer the questions of a checklist about one text, and those that rate it as a whole (HelloEval)."""

from judge_r1.judges.checklist import judge as judge  # registers itself
from judge_r1.judges.checklist import llm_eval as llm_eval
