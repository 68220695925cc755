"""Generates groups in several processes where items fall into lanes that do not depend on each other."""

import signal
from collections.abc import Iterator
from contextlib import closing
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from data_builders.generators.base import BuildPlan, Generator, RecordGroup
from judge_r1.core.errors import JudgeError


def groups_in_lanes(generator: Generator[Any], processes: int) -> Iterator[RecordGroup | None]:
    """The groups of a generator without teachers, in the order of its items, made in up to `processes` processes.

    Each lane (`Generator.lane`) belongs to one process, which makes its groups in order, so they are those that one
    process would make.

    Raises: JudgeError if a process ends early, with its error.
    """
    lanes = list(dict.fromkeys(map(generator.lane, generator.items())))
    generator.skipped.clear()
    count = min(processes, len(lanes))
    context = get_context("spawn")
    receivers: list[Connection] = []
    workers = []
    try:
        for number in range(count):
            receiver, sender = context.Pipe(duplex=False)
            arguments = (type(generator), generator.plan, frozenset(lanes[number::count]), sender)
            worker = context.Process(target=_work, args=arguments, daemon=True)
            worker.start()
            sender.close()
            receivers.append(receiver)
            workers.append(worker)
        for item in generator.items():
            yield _received(receivers[lanes.index(generator.lane(item)) % count])
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _received(receiver: Connection) -> RecordGroup | None:
    try:
        group: RecordGroup | Exception | None = receiver.recv()
    except EOFError:
        raise JudgeError("a process of the build ended without a message: run the build again") from None
    if isinstance(group, Exception):
        raise JudgeError(f"a process of the build failed: {group}") from group
    return group


def _work(made: type[Generator[Any]], plan: BuildPlan, lanes: frozenset[str], sender: Connection) -> None:
    """Send the groups of some lanes. Sending waits while the other side is behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the build, which ends its processes
    generator = made(plan)
    with closing(sender):
        try:
            for item in generator.items():
                if generator.lane(item) in lanes:
                    sender.send(generator.generate(item))
        except Exception as error:
            sender.send(error)
