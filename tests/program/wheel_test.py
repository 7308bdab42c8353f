#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The way of an engineer: ci/wheel packs a build, pip installs it into an environment of one's own,
and headroom plans a program of transformers there, from the shell and from Python.

    wheel_test.py BUILD_FOLDER

PyTorch and the packages of tests are linked into the environment, to spare gigabytes. Exit code 77:
ci/bootstrap did not install them.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / ".deps/python"  # has pip and PyTorch
PACKAGES = ROOT / ".deps/programs"
TRAINING = ROOT / "tests/dry_run/programs/transformers_train.py"
CALLS = f"""
import headroom_torch as headroom

answer = headroom.plan(["python3", {str(TRAINING)!r}], gpu="h200", gpu_memory="8GiB", steps=2)
assert answer["fits"] is True and answer["processes"][0]["gpu"] == "h200", answer
peak = answer["processes"][0]["peak_allocated_bytes"]
allocate = "import torch; torch.empty(1 << 30, device='cuda')"
assert headroom.plan(["python3", "-c", allocate], gpu_memory="1GiB")["fits"] is False

def refused(call, expected, *arguments, **options):
    try:
        call(*arguments, **options)
    except Exception as error:
        assert expected in str(error), error
    else:
        raise AssertionError(expected)

refused(headroom.plan, "exit code 1: ", ["python3", "-c", "raise SystemExit(3)"])
refused(headroom.plan, "exit code 2: headroom: --gpu: no GPU 'h2000'", ["true"], gpu="h2000")
refused(headroom.plan, "a list of words", "python3 train.py")
refused(headroom.read, "results.csv: there is none", "nowhere")
refused(headroom.read, "needs pandas: pip install pandas", "kept")
"""
# Stands before the real one, where read() is to miss it.
NO_PANDAS = "raise ImportError\n"


def run(command: list, folder: Path, code: int = 0) -> str:
    environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder)}
    environment["HEADROOM_DRY_RUN_HOST_NS"] = "6000"  # where it is chosen, a program runs once
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert ended.returncode == code, f"{command}: {ended.returncode}\n{ended.stdout}{ended.stderr}"
    return ended.stdout if code == 0 else ended.stderr


def make_environment(folder: Path, wheel: Path) -> Path:
    """Gives its folder of packages, where torch is a link."""
    run([OWN / "bin/python3", "-m", "venv", folder], folder)
    packages = next(folder.glob("lib/python3*/site-packages"))
    own = next(OWN.glob("lib/python3*/site-packages"))
    (packages / "torch").symlink_to(own / "torch")
    (packages / "others.pth").write_text(f"{PACKAGES}\n{own}\n")
    run(["python3", "-m", "pip", "install", "--no-deps", "--no-index",
         "--disable-pip-version-check", wheel], folder)
    return packages


def check(folder: Path, packages: Path) -> None:
    # The two commands: the other one was pip install.
    text = run(["headroom", "plan", "--gpu", "h100", "--json", "--out", "kept", "--",
                "python3", TRAINING], folder)
    planned = json.loads(text)
    assert planned["fits"] is True, planned
    (packages / "pandas.py").write_text(NO_PANDAS)
    run(["python3", "-c", CALLS], folder)
    (packages / "pandas.py").unlink()
    rows = run(["python3", "-c", "import headroom_torch as headroom; "
                "print(headroom.read('kept').run_peak_allocated_bytes.to_list())"], folder)
    assert rows == f"[{planned['processes'][0]['peak_allocated_bytes']}]\n", rows
    # Suites run over the PyTorch beside it, where it is that of the build.
    suite = [ROOT / "configs/quickstart.yaml", "--only", "^bert_vanilla$"]
    run(["headroom", "plan", *suite, "--out", "suite"], folder)
    check_another_version(folder, packages, suite)


def check_another_version(folder: Path, packages: Path, suite: list) -> None:
    (packages / "torch").unlink()
    (packages / "torch").mkdir()
    (packages / "torch/version.py").write_text("__version__ = '2.10.0+cu128'\n")
    said = run(["headroom", "plan", *suite, "--out", "other"], folder, code=4)
    expected = f"headroom: {packages}/torch: it is PyTorch 2.10.0+cu128, and headroom's models need"
    assert said.startswith(expected), said


def main() -> None:
    if not (OWN / "bin/python3").exists() or not PACKAGES.is_dir():
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder).resolve()
        subprocess.run([ROOT / "ci/wheel", "--build", sys.argv[1], folder], check=True)
        environment = folder / "environment"
        environment.mkdir()
        check(environment, make_environment(environment, next(folder.glob("*.whl"))))


if __name__ == "__main__":
    main()
