# SPDX-License-Identifier: Apache-2.0
"""Results that `headroom run` and `headroom plan --out` keep."""
from pathlib import Path


def read(folder):
    """The rows of a folder's results.csv as a DataFrame of pandas: docs/measuring.md has the
    columns. What was not measured is missing (NaN)."""
    path = Path(folder) / "results.csv"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is none; a folder that headroom wrote has one")
    try:
        import pandas
    except ImportError as error:
        raise ImportError("headroom_torch.read needs pandas: pip install pandas") from error
    return pandas.read_csv(path)
