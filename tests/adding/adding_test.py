#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows docs/adding.md to the letter in a scratch tree, builds that, and runs what it added.

    adding_test.py BUILD_FOLDER

The scratch tree is an overlay over this one, so that only what the page changes is compiled; where
this machine mounts none, a copy below BUILD_FOLDER.

A sentence of the page that ends in a colon says what becomes of the code below it:
    A new file, `PATH`:
    A new test, `PATH`:
    A suite, `PATH`:
    In `PATH`, below `LINE`:      LINE is a whole line of that file, however many blanks it has
The table on top of the page says how many files of code each section may touch, tests aside.
"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(sys.argv.pop(1)).resolve()
IS_OVERLAY = "HEADROOM_OVERLAY" in os.environ
TREE = ROOT if IS_OVERLAY else BUILT / "adding" / "tree"
BUILD = BUILT if IS_OVERLAY else TREE / "build" / "dev"
TARGETS = ["headroom", "headroom-worker", "headroom_dry_run", "headroom_dry_run_nvml"]
TARGETS += ["techniques_test"]
SECTION = re.compile(r"^## (.+)$")
SENTENCE = re.compile(r"^(A new file,|A new test,|A suite,|In) `([^`]+)`(?:, below `([^`]+)`)?:$")
COUNT = re.compile(r"^\| \[([^\]]+)\]\([^)]*\) \| (\d+) \|")


def steps(page: str):
    """What the page says: (section, kind, path, line to stand below, code)."""
    section, lines = "", iter(page.splitlines())
    for line in lines:
        if match := SECTION.match(line):
            section = match[1]
        elif match := SENTENCE.match(line):
            assert next(lines).startswith("```"), f"no code below: {line}"
            code = []
            while (text := next(lines)) != "```":
                code.append(text)
            yield section, *match.groups(), code


def tracked() -> list:
    call = ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout.splitlines()


def write(name: str, text: bytes):
    """What is there already stays, with its time: the tree is built again where it changed."""
    path = TREE / name
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        path.chmod((ROOT / name).stat().st_mode if (ROOT / name).exists() else 0o644)


def remove_all_but(names: dict):
    """Makes the copy one of these files, and of what was built from it before."""
    for path in [path for path in TREE.rglob("*") if path.is_file()]:
        name = path.relative_to(TREE)
        if name.as_posix() not in names and name.parts[0] != "build":
            path.unlink()
    TREE.mkdir(parents=True, exist_ok=True)
    if not (TREE / ".deps").exists():
        (TREE / ".deps").symlink_to(ROOT / ".deps")


def follow(page: str) -> dict:
    """Makes the scratch tree. Returns the files of the project that each section touches."""
    texts = {n: (ROOT / n).read_bytes() for n in tracked() if (ROOT / n).is_file()}
    touched = {}
    for section, kind, name, below, code in steps(page):
        if kind == "In":
            lines = texts[name].decode().splitlines()
            found = [i for i, line in enumerate(lines) if line.split() == below.split()]
            assert len(found) == 1, f"{name} has {len(found)} lines '{below}'"
            lines[found[0] + 1 : found[0] + 1] = code
            texts[name] = "\n".join([*lines, ""]).encode()
        else:
            assert name not in texts, f"{name} is there already"
            texts[name] = "\n".join([*code, ""]).encode()
        if kind in ("A new file,", "In"):
            touched.setdefault(section[0].lower() + section[1:], set()).add(name)
    if not IS_OVERLAY:
        remove_all_but(texts)
    for name, text in texts.items():
        write(name, text)
    return touched


def build():
    environment = {**os.environ, "CCACHE_BASEDIR": str(TREE)}
    if shutil.which("ccache"):
        environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    root = os.environ.get("LIBTORCH_ROOT")
    # It is compiled once and runs for seconds.
    configure = ["cmake", "--preset", "dev", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"]
    configure += [f"-DLIBTORCH_ROOT={root}"] if root else []
    jobs = subprocess.run([ROOT / "ci/jobs"], capture_output=True, text=True, check=True).stdout
    make = ["cmake", "--build", BUILD, "--parallel", jobs.strip(), "--target", *TARGETS]
    for call in [make] if IS_OVERLAY else [configure, make]:
        ended = subprocess.run(call, cwd=TREE, env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-5000:]


class Adding(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = (ROOT / "docs/adding.md").read_text(encoding="utf-8")
        cls.touched = follow(cls.page)
        build()
        for out in ("out", "plan", "fused"):
            shutil.rmtree(TREE / "build" / out, ignore_errors=True)

    def headroom(self, *arguments, code=0) -> str:
        call = [BUILD / "headroom", *arguments]
        ended = subprocess.run(call, cwd=TREE, capture_output=True, text=True)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        return ended.stdout

    def test_no_section_touches_more_files_than_the_table_says(self):
        counts = {m[1].strip(): int(m[2]) for m in map(COUNT.match, self.page.splitlines()) if m}
        self.assertEqual(set(counts), set(self.touched))
        for section, files in self.touched.items():
            self.assertEqual(len(files), counts[section], f"{section}: {sorted(files)}")

    def test_what_was_added_is_listed(self):
        lists = {
            "techniques": "grouped_update",
            "models": "text_mlp",
            "gpus": "gpu_of_mine",
            "columns": "all_updates",
        }
        for what, name in lists.items():
            listed = json.loads(self.headroom("list", what, "--json"))
            self.assertIn(name, [entry["name"] for entry in listed])

    def test_what_was_added_runs(self):
        self.headroom("run", "configs/adding.yaml", "--device", "cpu", "--out", "build/out")
        with open(TREE / "build/out/results.csv", encoding="utf-8") as file:
            rows = {row["case"]: row for row in csv.DictReader(file)}
        self.assertEqual({row["status"] for row in rows.values()}, {"ok"})
        # One to warm up, one whose FLOPs are counted, two that are timed.
        self.assertEqual({row["all_updates"] for row in rows.values()}, {"4"})
        self.assertEqual(rows["signum"]["optimizer"], "signum")

    def test_an_implementation_that_was_not_added_is_unsupported(self):
        fused = ["--set", "train.optimizer.implementation=fused", "--only", "^signum$"]
        out = ["--device", "cpu", "--out", "build/fused"]
        self.headroom("run", "configs/adding.yaml", *fused, *out, code=4)
        with open(TREE / "build/fused/results.csv", encoding="utf-8") as file:
            (row,) = csv.DictReader(file)
        self.assertEqual(row["status"], "unsupported")
        self.assertEqual(row["reason"],
                         "the optimizer signum has no implementation 'fused'; it has per_tensor")

    def test_the_test_of_the_technique_passes(self):
        call = [BUILD / "techniques_test", "--gtest_filter=GroupedUpdate.*"]
        ended = subprocess.run(call, capture_output=True, text=True)
        self.assertIn("[  PASSED  ] 2 tests", ended.stdout, ended.stdout + ended.stderr)

    def test_the_gpu_that_was_added_is_planned_for(self):
        arguments = ["--gpu", "gpu_of_mine", "--out", "build/plan"]
        self.headroom("plan", "configs/adding.yaml", *arguments)
        with open(TREE / "build/plan/results.csv", encoding="utf-8") as file:
            self.assertEqual({row["fits"] for row in csv.DictReader(file)}, {"yes"})


if __name__ == "__main__":
    overlay = ROOT / "ci/overlay"
    if not IS_OVERLAY and subprocess.run([overlay, "true"], capture_output=True).returncode == 0:
        os.execv(overlay, [overlay, sys.executable, __file__, BUILT, *sys.argv[1:]])
    unittest.main()
