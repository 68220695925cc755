"""The request examples of an OpenAPI document."""

from typing import Any


def examples(document: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """Returns (method, path, body) of each example."""
    found = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None:
                continue
            schema = content["schema"]
            if "$ref" in schema:
                schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
            found += [(method, path, body) for body in schema["examples"]]
    return found
