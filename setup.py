"""Copies the folders `recipes`, `clusters` and `examples` into the wheel, below `judge_r1`."""

from pathlib import Path
from shutil import copytree

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithFolders(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # an editable install reads them in the clone
            for name in ("recipes", "clusters", "examples"):
                copytree(name, Path(self.build_lib, "judge_r1", name), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithFolders})
