"""Runs `judge-r1 audit serve` as a process of its own, for tests over real sockets."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from command_server import Command, start


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[str, Command]]:
    """Starts `judge-r1 audit serve FOLDER`; yields the printed address and the process, and kills it at the end."""
    with TemporaryDirectory() as logs:
        process = start("audit", "serve", folder, *options, log=(log := Path(logs, "log")))
        try:
            while not (url := re.search(r"http://127\.0\.0\.1:\d+/\S+/", log.read_text())):
                assert process.poll() is None, f"no address was printed: {log.read_text()}"
                time.sleep(0.01)
            yield url[0], process
        finally:
            process.kill()
