"""The tool `open`: more of a shown passage. `2` shows passage 2 of the last passages with the text before and after
it, `2+1` the text after it alone, and `2-1` the text before it."""

import re
from itertools import pairwise

from judge_r1.core.verdicts import Evidence
from judge_r1.episode.tools.base import TOOLS, CaseScope, ToolBudget, ToolResult

_FORM = re.compile(r"\[?(\d{1,4})\]?\s*([+-]\s*1)?")


class Open:
    help = "shows passage N of the last passages with the text around it; N+1 is the text after it, N-1 before it"
    max_calls = 2

    def check(self, text: str) -> str | None:
        return None if _FORM.fullmatch(text.strip()) else "write the number of a passage, such as 2, 2+1 or 2-1"

    def require(self) -> None: ...

    def run(self, text: str, scope: CaseScope, budget: ToolBudget) -> ToolResult:
        found = _FORM.fullmatch(text.strip())
        number = int(found[1]) if found else 0
        if not found or not 1 <= number <= len(scope.shown):
            shown = f"there are passages 1 to {len(scope.shown)}" if scope.shown else "no passage was shown"
            return ToolResult(f"no passage {number} to open: {shown}", "error")
        passage = scope.shown[number - 1]
        # Only text of this case: a baseline that searches all cases shows passages of others.
        if passage.case_id != scope.case_id or scope.text[passage.start : passage.end] != passage.text:
            return ToolResult(f"passage {number} is not a part of this case's text", "error")
        step = "".join((found[2] or "").split())
        parts = _around(scope, passage, {"": (-1, 0, 1), "+1": (1,), "-1": (-1,)}[step])
        if not parts:
            return ToolResult(f"the case {'ends with' if step == '+1' else 'begins with'} passage {number}", "error")
        return ToolResult("", passages=tuple(parts))


def _around(scope: CaseScope, passage: Evidence, places: tuple[int, ...]) -> list[Evidence]:
    """The passage (0) and its neighbours, cut as the retriever cuts the case."""
    from retrieval.passages import split_passages

    cut = [(one.start, one.end) for one in split_passages(scope.text, scope.passage_words)]
    before = [span for span in cut if span[1] <= passage.start][-1:]
    after = [span for span in cut if span[0] >= passage.end][:1]
    spans = [*(before if -1 in places else []), *([(passage.start, passage.end)] if 0 in places else [])]
    spans += after if 1 in places else []
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    return [
        Evidence(case_id=scope.case_id, start=start, end=end, text=scope.text[start:end], score=0.0)
        for start, end in spans
    ]


TOOLS.register("open")(Open())
