"""Copies the top-level folder `recipes` into the wheel as `judge_r1/recipes`; pyproject.toml holds everything else."""

from pathlib import Path
from shutil import copytree

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithRecipes(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # an editable install reads `recipes` in the clone
            copytree("recipes", Path(self.build_lib, "judge_r1", "recipes"), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithRecipes})
