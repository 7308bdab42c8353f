#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/check_layers: each rule is seen where it is broken, and nothing where none is."""
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "ci/check_layers"
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
# What a file holds, and what is said of it; an empty text: nothing.
FILES = [
    ("src/suite/a.cpp", SPDX + '#include "src/core/text.h"\n#include "src/suite/b.h"\n', ""),
    ("src/core/a.cpp", SPDX + '#include "src/suite/case.h"\n', "src/core may not include from"),
    ("src/cli/a.cpp", SPDX + "#include <ATen/ATen.h>\n", "may not include from libtorch"),
    ("models/a.cpp", SPDX + "#include <fmt/format.h>\n", "may not include from fmt"),
    ("src/worker/a.cpp", SPDX + '#include "src/results/columns.h"\n', ""),
    ("src/worker/b.cpp", SPDX + '#include "src/results/row.h"\n', "src/worker may not include"),
    ("src/suite/b.cpp", SPDX + '#include "case.h"\n', "written from the root of the project"),
    ("tests/core/a.cpp", SPDX + '#include "src/cli/output.h"\n', ""),
    ("src/core/b.cpp", "int a;\n", "no line 'SPDX"),
    ("src/core/c.cpp", SPDX + "//" + "x" * 99 + "\n", "101 columns, allowed are 100"),
    ("src/core/d.cpp", SPDX + "//\n" * 400, "more than 400 lines"),
    ("src/core/e.cpp", SPDX + 'void f() { std::cout << "a"; }\n', "may print to standard output"),
    ("src/cli/b.cpp", SPDX + 'void f() { std::cout << "a"; }\n', ""),
]


def check(path: str, text: str) -> str:
    """What it says of a tree of one file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path
        file.parent.mkdir(parents=True)
        file.write_text(text)
        (Path(folder) / "headroom").write_text("# SPDX-License-Identifier: Apache-2.0\n")
        ended = subprocess.run([SOURCE, folder], capture_output=True, text=True)
        assert ended.returncode == (1 if ended.stderr else 0), ended
        return ended.stderr


for path, text, expected in FILES:
    said = check(path, text)
    assert (expected in said) if expected else not said, f"of {path}: {said}"
