"""The tool `lookup`: a further document of the case by its name (`meta.documents` of a case)."""

from judge_r1.core.registry import suggest
from judge_r1.episode.tools.base import TOOLS, CaseScope, ToolBudget, ToolResult


class Lookup:
    help = "shows the document NAME of the case; without a name, the names of its documents"
    max_calls = 3

    def check(self, text: str) -> str | None:
        return None

    def require(self) -> None: ...

    def run(self, text: str, scope: CaseScope, budget: ToolBudget) -> ToolResult:
        name = text.strip()
        if not scope.documents:
            return ToolResult("this case has no further documents", "error")
        if not name:
            return ToolResult("\n".join(sorted(scope.documents)))
        if name not in scope.documents:
            return ToolResult(f"no document is named {name[:100]!r}{suggest(name, scope.documents)}", "error")
        return ToolResult(scope.documents[name])


TOOLS.register("lookup")(Lookup())
