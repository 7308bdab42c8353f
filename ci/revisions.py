# SPDX-License-Identifier: Apache-2.0
"""Other revisions of this project, as trees beside its own."""
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def git(*arguments) -> str:
    """What git answers; an empty text where it refuses."""
    answer = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return answer.stdout.strip() if answer.returncode == 0 else ""


def commit_of(revision: str) -> str:
    """Its full hash; an empty text where this clone has no such commit."""
    return git("rev-parse", "--verify", "--quiet", revision + "^{commit}")


def default_base(head: str) -> str:
    """Where that revision left origin/main; where it did not, its parent; empty: it has none."""
    base = git("merge-base", "origin/main", head)
    return base if base and base != commit_of(head) else commit_of(head + "^")


def worktree(folder: Path, commit: str) -> Path:
    """A tree of that commit in `folder`, which is below this project's: a whole one that is there
    is taken as it is. It shares what ci/bootstrap installed. Raises OSError where git makes none.
    """
    tree = folder / commit
    whole = tree / ".deps"  # made last
    if whole.is_symlink():
        return tree
    shutil.rmtree(tree, ignore_errors=True)  # of a call that was killed
    git("worktree", "prune")
    git("worktree", "add", "--quiet", "--detach", tree, commit)
    whole.symlink_to(ROOT / ".deps")
    return tree


def differ(base: str, head: str, left_out: list) -> bool:
    """Whether two revisions differ in a file that no pattern of `left_out` names. An empty `head`:
    the working tree, with what is in no commit yet."""
    patterns = ["--", ".", *(f":(exclude){pattern}" for pattern in left_out)]
    changed = git("diff", "--name-only", base, *filter(None, [head]), *patterns)
    new = "" if head else git("ls-files", "--others", "--exclude-standard", *patterns)
    return bool(changed or new)
