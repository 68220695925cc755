"""The document at `/`: its content policy, caching and examples."""

import asyncio
import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import httpx
from serving_fixture import service

import judge_r1
from judge_r1.evaluation.report import page as report_page
from judge_r1.serving.app import create_app
from judge_r1.serving.middleware.api_keys import KeyFile, add_key
from judge_r1.serving.service import Service, toy_note
from judge_r1.serving.ui import OWN, SCRIPTS, SHARED, render_page


def get(served: Service, path: str = "/", method: str = "GET", **headers: str) -> httpx.Response:
    async def talk() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(served))
        async with httpx.AsyncClient(transport=transport, base_url="http://judge") as client:
            return await asyncio.wait_for(client.request(method, path, headers=headers), 20)

    return asyncio.run(talk())


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_content_policy_allows_exactly_the_inlined_style_and_script() -> None:
    answer = get(service("longer"))
    policy = answer.headers["content-security-policy"]
    digest = lambda text: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()  # noqa: E731
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', answer.text, re.DOTALL)
    assert f"style-src 'sha256-{digest(style)}'" in policy
    assert f"script-src 'sha256-{digest(script)}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "{{" not in answer.text.replace(script, "")


def test_the_page_is_cached_by_its_etag() -> None:
    first = get(service("longer"))
    again = get(service("longer"), **{"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert get(service("always-a")).headers["etag"] != first.headers["etag"]
    head = get(service("longer"), method="HEAD")
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(first.content)))


def test_the_page_needs_no_key_and_then_omits_the_judge_name(tmp_path: Path) -> None:
    add_key(tmp_path / "keys.json", "ana")
    closed = service("longer", keys=KeyFile(tmp_path / "keys.json"))
    answer = get(closed)
    assert answer.status_code == 200
    assert data_of(answer.text)["judge"] is None
    closed.note = "a toy"
    assert data_of(get(closed).text)["note"] is None
    assert get(closed, "/v1/models").status_code == 401
    assert data_of(get(service("longer")).text)["judge"] == "longer"


def test_bundled_judges_and_those_of_the_demo_are_toys(tmp_path: Path) -> None:
    assert "generated language of the demo" in str(toy_note("agentic@bundled:tiny"))
    assert "not trained to judge" in str(toy_note("direct:context=none@bundled:smollm2-135m"))
    start = "bundled:haystack"
    for stage in ("warmup", "grpo"):
        folder = tmp_path / stage
        folder.mkdir()
        (folder / "recipe.yaml").write_text(f"model: {start}\n")
        start = f"{folder}/model"
        assert "generated language of the demo" in str(toy_note(f"agentic@{start}"))
    (tmp_path / "grpo" / "recipe.yaml").write_text("model: [broken")
    for spec in (f"agentic@{start}", "longer", "direct@https://host/v1#model", "agentic@Qwen/Qwen3-8B"):
        assert toy_note(spec) is None
    for model in ("bundled:smollm2-135m", "Qwen/Qwen3-8B", start):
        (tmp_path / "grpo" / "recipe.yaml").write_text(f"model: {model}\n")
        assert toy_note(f"agentic@{start}") is None


def test_markup_in_the_judge_name_stays_data() -> None:
    served = service("longer")
    served.judge.__dict__["name"] = name = "</script><script>alert(1)</script>"
    page = render_page(served).body.decode()
    assert data_of(page)["judge"] == name
    assert page.count("<script") == 2


def test_the_scripts_never_insert_markup() -> None:
    """No script of either page uses an API that parses markup; the content policy forbids it too."""
    script = "".join(path.read_text() for path in Path(judge_r1.__file__).parent.rglob("static/*.js"))
    for api in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "Storage"):
        assert api not in script


def test_a_judge_that_reads_the_whole_case_is_not_said_to_have_seen_none_of_it() -> None:
    url = "http://127.0.0.1:9/v1#m"
    whole = {spec: data_of(render_page(service(spec)).body.decode())["whole_case"] for spec in (
        f"agentic:context=full@{url}", f"direct:context=full@{url}", f"agentic:context=none,retriever=bm25@{url}",
        "longer", f"panel:orders=2(agentic:context=full@{url}|direct:context=full@{url})",
    )}  # fmt: skip
    assert list(whole.values()) == [True, True, False, False, True]
    page = render_page(service("longer")).body.decode()
    assert (
        'whole_case && !record.from ? "The judge reads all of it in its prompt." : "No search has shown a part of it."'
        in page
    )


def test_the_report_and_the_page_draw_episodes_with_one_script() -> None:
    own = {name for name in SCRIPTS if name.startswith(OWN)}
    assert {SHARED + name for name in report_page.SCRIPTS} & set(SCRIPTS) >= {
        SHARED + "nodes.js",
        SHARED + "episode.js",
    }
    for name in own | {SHARED + "item.js"}:
        text = (Path(judge_r1.__file__).parent / name).read_text()
        assert '"turn"' not in text.replace('name === "turn"', ""), f"{name} draws a turn"
