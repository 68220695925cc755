"""Environment variables under which Python processes find the packages and driver of a GPU machine, or lack some."""

import os
from collections.abc import Mapping
from pathlib import Path

PACKAGES = {"flash-attn": "2.8.3", "vllm": "0.24.0", "deepspeed": "0.19.8"}
_SITE = """
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder

class TorchForCuda(MetaPathFinder):  # importing torch at every start of Python would take seconds
    def find_spec(self, name, path, target=None):
        if name != "torch.version":
            return None
        spec = PathFinder.find_spec(name, path)
        run = spec.loader.exec_module
        def exec_module(module):
            run(module)
            module.cuda = "13.0"
        spec.loader.exec_module = exec_module
        return spec

sys.meta_path.insert(0, TorchForCuda())
"""


def gpu_environment(
    folder: Path,
    *,
    driver: str | None = "580.95.05",
    packages: Mapping[str, str] = PACKAGES,
    flash_attn: str = "",
) -> dict[str, str]:
    """Python processes see a torch for CUDA 13, nvidia-smi's `driver`, and metadata of `packages`. `flash_attn` is the
    code of that module. No GPU is found."""
    site, programs = folder / "site", folder / "bin"
    for name, version in packages.items():
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    site.mkdir(parents=True, exist_ok=True)
    programs.mkdir()
    (site / "sitecustomize.py").write_text(_SITE)
    (site / "flash_attn.py").write_text(flash_attn)
    if driver is not None:
        (programs / "nvidia-smi").write_text(f"#!/bin/sh\necho {driver}\necho {driver}\n")
        (programs / "nvidia-smi").chmod(0o755)
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
    }
