"""The packages of `make setup-gpu` and the Dockerfile: the lock file, a fresh resolution, the Dockerfile itself."""

import re
import shutil
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
import tomllib
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from paths import REPO

LINUX = {"sys_platform": "linux", "platform_machine": "x86_64", "platform_python_implementation": "CPython"}
NETWORK_ERRORS = ("failed to fetch", "dns error", "error sending request", "could not connect", "timed out", "network")
RESOLVE_SECONDS = 240


def tool(name: str) -> str:
    """A development tool of this environment."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}:{Path('/usr/local/bin')}") or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed (pip install 'judge-r1[dev]')")
    return found


def pins(text: str, python: str = "3.11") -> dict[str, str]:
    """Name and version of each line of a lock file that applies to Linux and the given Python."""
    environment = LINUX | {"python_version": python, "python_full_version": f"{python}.9"}
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(environment):
            found[canonicalize_name(requirement.name)] = next(iter(requirement.specifier)).version
    return found


def check_contents(packages: dict[str, str]) -> None:
    """What a machine with GPUs needs to run the paper's recipes."""
    assert packages["torch"].startswith("2.11.")
    assert packages["vllm"] == "0.24.0"
    assert packages["flash-attn"] == "2.8.3"
    assert packages["deepspeed"] == "0.19.8"
    assert packages["transformers"] == "5.9.0"
    assert (packages["verl"], packages["trl"]) == ("0.9.1", "1.16.0")
    assert packages["cuda-toolkit"].startswith("13.")  # hence driver 580 or newer
    assert "nvidia-nccl-cu13" in packages
    assert "nvidia-cudnn-cu13" in packages
    assert not [name for name in packages if name.endswith("-cu12")]
    assert {"transferqueue", "uvicorn", "fastapi", "pyzmq", "msgspec", "cachetools"} <= set(packages)
    assert {"sentence-transformers", "faiss-cpu", "peft", "ray"} <= set(packages)


LOCK = (REPO / "requirements" / "gpu.txt").read_text()


@pytest.mark.parametrize("python", ["3.11", "3.12"])
def test_the_lock_holds_what_the_recipes_need(python: str) -> None:
    check_contents(pins(LOCK, python))


@pytest.mark.parametrize("python", ["3.11", "3.12"])
def test_the_lock_fits_pyproject_and_verl(python: str) -> None:
    """A changed pin in pyproject.toml or another verl needs `make lock-gpu`."""
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    # mask: secrets in traces; tagger: degraded documents; text: word counts; the rest: other harnesses and trainers
    aside = ("clients", "dev", "docs", "inspect", "mask", "skyrl", "tagger", "text", "tinker", "verifiers")
    users = [name for name in extras if name not in aside]
    ours = [*project["dependencies"], *(line for name in users for line in extras[name])]
    environment = LINUX | {"python_version": python}
    parsed = [one for one in map(Requirement, ours) if one.marker is None or one.marker.evaluate(environment)]
    verl_extras = {extra for one in parsed if one.name == "verl" for extra in one.extras} | {"verl-core"}
    assert "vllm" in verl_extras
    for line in requires("verl") or []:
        requirement = Requirement(line)
        if requirement.marker is None or any(
            requirement.marker.evaluate(environment | {"extra": extra}) for extra in verl_extras
        ):
            parsed.append(requirement)
    locked = pins(LOCK, python)
    optional = {"judge-r1", "trackio"}  # trackio is a tracker that verl does not bring
    for requirement in parsed:
        name = canonicalize_name(requirement.name)
        if name not in optional:
            assert name in locked, f"{requirement} is not in requirements/gpu.txt: run make lock-gpu"
            assert requirement.specifier.contains(locked[name], prereleases=True), f"{requirement}: {locked[name]}"


def compile_packages(out: Path, *arguments: str) -> None:
    """Resolve packages with uv. Skips the test if no registry answers."""
    command = [tool("uv"), "pip", "compile", "--quiet", "--no-annotate", "--no-header", "--output-file", str(out)]
    try:
        done = subprocess.run([*command, *arguments], cwd=REPO, capture_output=True, text=True, timeout=RESOLVE_SECONDS)
    except subprocess.TimeoutExpired:
        pytest.skip(f"the package registry did not answer in {RESOLVE_SECONDS} s")
    if done.returncode and any(word in done.stderr.lower() for word in NETWORK_ERRORS):
        pytest.skip(f"no package registry: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("python", ["3.11", pytest.param("3.12", marks=pytest.mark.slow)])
def test_only_three_packages_are_built_from_source(python: str, tmp_path: Path) -> None:
    """On glibc 2.31 or newer all others have wheels, so that a node needs no further compilers."""
    sources = [word for name in ("flash-attn", "deepspeed", "antlr4-python3-runtime") for word in ("--no-binary", name)]
    system = ["--python-platform", "x86_64-manylinux_2_31", "--python-version", python]
    compile_packages(tmp_path / "out.txt", *system, "--only-binary", ":all:", *sources, "requirements/gpu.txt")


@pytest.mark.parametrize("python", ["3.11"])
def test_setup_gpu_resolves_today(python: str, tmp_path: Path) -> None:
    """Packages that verl does not pin change daily; the resolution must still exist and keep verl's pins."""
    out = tmp_path / "resolved.txt"
    compile_packages(out, "--python-platform", "linux", "--python-version", python, "--extra", "gpu", "pyproject.toml")
    resolved = pins(out.read_text(), python)
    check_contents(resolved)
    locked = pins(LOCK, python)
    for name in ("torch", "vllm", "transformers", "flash-attn", "deepspeed", "verl", "trl", "cuda-toolkit"):
        assert resolved[name] == locked[name], f"{name}: run make lock-gpu"


def dockerfile() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with continued lines joined, without comments."""
    lines = [line for line in (REPO / "Dockerfile").read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


def test_the_dockerfile_takes_its_versions_from_the_lock() -> None:
    instructions = dockerfile()
    (image,) = [rest for word, rest in instructions if word == "FROM"]
    cuda = re.fullmatch(r"nvidia/cuda:([\d.]+)-devel-ubuntu24\.04", image)
    assert cuda
    assert cuda[1] == pins(LOCK)["cuda-toolkit"]
    runs = [rest for word, rest in instructions if word == "RUN"]
    pip = [part.strip() for run in runs for part in run.split("&&") if "pip install" in part]
    assert not re.findall(r"[\w-]+[=<>~]=", " ".join(pip))
    flash = [i for i, run in enumerate(runs) if "flash-attn" in run]
    torch = [i for i, run in enumerate(runs) if " torch " in f" {run} " and "--constraint" in run]
    rest = [i for i, run in enumerate(runs) if "--requirement requirements/gpu.txt" in run]
    assert torch < flash < rest  # FlashAttention is compiled against the installed torch
    assert "--no-build-isolation" in runs[flash[0]]
    assert "--constraint requirements/gpu.txt" in runs[flash[0]]
    copied = [rest for word, rest in instructions if word == "COPY"]
    assert copied[0].startswith("requirements/gpu.txt")
    assert copied[-1] == ". ."


def test_hadolint_accepts_the_dockerfile() -> None:
    done = subprocess.run([tool("hadolint"), str(REPO / "Dockerfile")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_setup_gpu_installs_what_the_dockerfile_installs() -> None:
    make = subprocess.run(["make", "-n", "setup-gpu"], cwd=REPO, capture_output=True, text=True, timeout=60).stdout
    installs = [" ".join(line.split("pip install")[1].split()) for line in make.splitlines() if "pip install" in line]
    assert installs[1:4] == [
        "--constraint requirements/gpu.txt torch setuptools packaging psutil ninja",
        "--constraint requirements/gpu.txt --no-deps --no-build-isolation flash-attn",
        "-r requirements/gpu.txt",
    ]
    docker = " ".join(rest for word, rest in dockerfile() if word == "RUN")
    assert all(line.replace("-r ", "--requirement ") in docker for line in installs[1:4])


def test_setup_gpu_stops_without_the_cuda_13_compiler(tmp_path: Path) -> None:
    compiler = tmp_path / "bin" / "nvcc"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.8, V12.8.93'\n")
    compiler.chmod(0o755)
    command = ["make", "setup-gpu", f"CUDA_HOME={tmp_path}", f"GPU_VENV={tmp_path / 'venv'}"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=60)
    assert done.returncode
    assert f"no nvcc of CUDA 13 in CUDA_HOME={tmp_path}" in done.stdout
    assert not (tmp_path / "venv").exists()
