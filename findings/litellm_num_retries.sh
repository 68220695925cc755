#!/usr/bin/env bash
# litellm: `num_retries` hides the error of the server.
# Without the argument, a request that the server refuses raises `BadRequestError`, with the server's message. With
# `num_retries` one expects the same error after the retries. The retries need the package tenacity, which litellm does
# not require: in its absence a plain `Exception` about tenacity replaces the error.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages litellm==1.110.2
seen <<'PY'
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm

litellm.suppress_debug_info = True


class Refuses(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"error": {"message": "temperature must be at most 1", "code": 400}}).encode()
        self.send_response(400)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


server = HTTPServer(("127.0.0.1", 0), Refuses)
threading.Thread(target=server.serve_forever, daemon=True).start()


def error(**options: int) -> Exception:
    try:
        litellm.completion(
            model="openai/m", api_key="none", api_base=f"http://127.0.0.1:{server.server_port}/v1",
            messages=[{"role": "user", "content": "hello"}], **options,
        )
    except Exception as found:
        return found
    raise SystemExit("no error")


plain, retried = error(), error(num_retries=2)
print(f"without num_retries: {type(plain).__name__}; with it: {type(retried).__name__}: {str(retried)[:70]}")
raise SystemExit(type(plain).__name__ != "BadRequestError" or type(retried) is not Exception)
PY
