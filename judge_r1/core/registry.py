"""Registries: each module of a package registers its entries by name, so a new entry needs only a new file.

Modules outside the package register in the same way. An installed package names them as entry points:

    [project.entry-points.judge_r1]
    quiz = "quiz"
"""

import difflib
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from judge_r1.core.errors import JudgeError

T = TypeVar("T")

ENTRY_POINTS = "judge_r1"
"""The group of entry points whose modules are imported by every registry that looks beyond its own package."""


class UnknownName(JudgeError):
    """No entry has this name. The message suggests the nearest one."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that resembles `name` most, if one does."""
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return near[0] if near else None


def suggest(name: str, known: Iterable[str], prefix: str = "") -> str:
    """`; did you mean 'x'?`, with `prefix` before x, or the list of known names."""
    names = sorted(known)
    near = nearest(name, names)
    return f"; did you mean {prefix + near!r}?" if near else f"; available: {', '.join(names) or 'nothing'}"


class Registry(Generic[T]):
    """Entries of one kind (`noun`). The modules of `packages` register them.

    A look-up imports the module that is named like the entry, and all modules and entry points if there is none."""

    def __init__(self, noun: str, *packages: str) -> None:
        self.noun, self.packages = noun, packages
        self._entries: dict[str, T] = {}
        self._own: set[str] = set()
        self._loaded = False

    def register(self, name: str) -> Callable[[T], T]:
        """Adds what it decorates. The package's own entry wins over one of an entry point with the same name."""
        own = sys._getframe(1).f_globals["__name__"].startswith(self.packages)

        def add(entry: T) -> T:
            if _loading and not own:
                self._import(lambda module: True)  # the package's own entries come first
            if name in self._entries:
                if _loading and not own and name in self._own:
                    taken = f"{self.noun} {name!r}, which judge-r1 has built in and uses instead"
                    print(f"warning: {_described(_loading[-1])} names a {taken}: rename it there", file=sys.stderr)
                    return entry
                raise ValueError(f"two entries register as {self.noun} {name!r}")
            self._entries[name] = entry
            self._own |= {name} if own else set()
            return entry

        return add

    def names(self) -> list[str]:
        self._load()
        return sorted(self._entries)

    def get(self, name: str) -> T:
        if name not in self:
            raise UnknownName(f"no {self.noun} is named {name!r}{suggest(name, self._entries)}")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._entries and not self._loaded:
            self._import(lambda module: module == str(name).replace("-", "_"))
        return name in self._entries or name in self.names()

    def _load(self) -> None:
        if not self._loaded:
            self._import(lambda module: True)
            _import_entry_points()
            self._loaded = True

    def _import(self, chosen: Callable[[str], bool]) -> None:
        for package in self.packages:
            for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
                if chosen(module.name):
                    importlib.import_module(f"{package}.{module.name}")


_loading: list[EntryPoint] = []
"""The entry point that is imported at the moment."""
_broken: dict[EntryPoint, JudgeError] = {}
"""Kept, because a module that failed behind its first entry would fail otherwise the next time: the name is taken."""


def _import_entry_points() -> None:
    for point in entry_points(group=ENTRY_POINTS):
        if point in _broken:
            raise _broken[point]
        _loading.append(point)
        try:
            point.load()
        except Exception as error:
            _broken[point] = JudgeError(
                f"{_described(point)} cannot be loaded: {type(error).__name__}: {error}; correct the package or "
                "uninstall it"
            )
            raise _broken[point] from error
        finally:
            _loading.pop()


def _described(point: EntryPoint) -> str:
    package = point.dist.name if point.dist else "unknown"
    return f"the entry point {point.name} = {point.value!r} of package {package}"
