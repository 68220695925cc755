#!/usr/bin/env bash
# MCP: a tool that returns an empty list or None has no content, and a list of two texts has two blocks.
# A tool's result is what a model reads. One expects the JSON of what the tool returns: "[]" says that nothing was found.
# The Python server writes a block for each item: of an empty list and of None the content is empty, and only
# structured_content, which many clients leave out, says more.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages mcp==2.1.1
seen <<'PY'
import asyncio

from mcp.server.mcpserver import MCPServer

server = MCPServer("files")


@server.tool()
def both() -> list[str]:
    """Two files."""
    return ["a.txt", "b.txt"]


@server.tool()
def none_found() -> list[str]:
    """No file."""
    return []


found = {name: asyncio.run(server.call_tool(name, {})) for name in ("both", "none_found")}
texts = {name: [block.text for block in result.content] for name, result in found.items()}
print(f"{texts}; structured: {[result.structured_content for result in found.values()]}")
raise SystemExit(texts != {"both": ["a.txt", "b.txt"], "none_found": []})
PY
