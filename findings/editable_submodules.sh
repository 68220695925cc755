#!/usr/bin/env bash
# setuptools: of an editable install, modules reach a process that imports another copy of the package.
# PYTHONPATH names an older tree of the package, and its `__init__.py` is the one imported. A module that the older tree
# lacks is no ImportError: the finder of the editable install gives it from the installed tree, so that one process
# mixes two revisions. An installed wheel of the same package gives nothing. A comparison of two revisions needs a
# process without the finder.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages setuptools==84.2.1 wheel==0.46.3
for tree in newer older; do
  mkdir -p "$folder/$tree/pack"
  echo "REVISION = '$tree'" >"$folder/$tree/pack/__init__.py"
done
echo "REVISION = 'newer'" >"$folder/newer/pack/added.py"
printf '[project]\nname = "pack"\nversion = "1"\n[tool.setuptools.packages.find]\ninclude = ["pack*"]\n' >"$folder/newer/pyproject.toml"
"$folder/venv/bin/pip" install --quiet --no-build-isolation --no-deps -e "$folder/newer"
export PYTHONPATH="$folder/older"
seen <<'PY'
import pack

print("pack:", pack.REVISION)
try:
    from pack import added
except ImportError as error:
    print(f"pack.added: {error}")
    raise SystemExit("the module of the installed tree is not found")
print("pack.added:", added.REVISION)
raise SystemExit((pack.REVISION, added.REVISION) != ("older", "newer"))
PY
