"""The versions of this package, which pyproject.toml reads from here, and of installed packages."""

from importlib.metadata import PackageNotFoundError, version

__version__ = "0.1.0"


def installed(package: str) -> str | None:
    """The version of a package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
