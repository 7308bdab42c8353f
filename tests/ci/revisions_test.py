#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/revisions.py: a tree of a call that was killed is made anew, a whole one is taken as it is; a
revision is compared with where it left origin/main, or with its parent, by those of its files that
matter."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "ci/revisions.py"


def main():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "ci").mkdir()
        shutil.copy(SOURCE, root / "ci")
        (root / ".gitignore").write_text("build\n__pycache__\n")
        user = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for call in (["init", "-q"], ["add", "."], [*user, "commit", "-q", "-m", "all"]):
            subprocess.run(["git", "-C", root, *call], check=True)
        sys.path.insert(0, str(root / "ci"))
        import revisions

        commit = revisions.commit_of("HEAD")
        half = root / "build" / commit
        half.mkdir(parents=True)
        tree = revisions.worktree(root / "build", commit)
        assert (tree / "ci/revisions.py").is_file(), "a half-made tree was taken"
        (tree / "built").touch()
        assert (revisions.worktree(root / "build", commit) / "built").is_file(), "built twice"

        def commit_more() -> str:
            call = ["git", "-C", root, *user, "commit", "-q", "--allow-empty", "-m", "more"]
            subprocess.run(call, check=True)
            return revisions.commit_of("HEAD")

        assert revisions.default_base("HEAD") == "", "the first commit was compared"
        second = commit_more()
        assert revisions.default_base("HEAD") == commit, "without origin/main it is the parent"
        revisions.git("update-ref", "refs/remotes/origin/main", second)
        assert revisions.default_base("HEAD") == commit, "origin/main was compared with itself"
        commit_more()
        commit_more()
        assert revisions.default_base("HEAD") == second, "the branch left origin/main elsewhere"

        pages = ["docs", "*.md"]
        assert not revisions.differ(commit, "HEAD", pages), "empty commits differ"
        for name in ("docs/page.txt", "src/README.md"):
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text("new")
        assert not revisions.differ(commit, "", pages), "a page counts"
        assert revisions.differ(commit, "", ["docs"]), "a new file does not count"
        (root / "ci/revisions.py").write_text("changed")
        assert revisions.differ(commit, "", pages), "a change does not count"
        assert not revisions.differ(commit, "HEAD", pages), "what is in no commit counts"


main()
