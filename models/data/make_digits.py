#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes digits.bin out of a scikit-learn wheel, with nothing but Python's own library.

    pip download --no-deps scikit-learn==1.9.1
    python3 make_digits.py scikit_learn-1.9.1-*.whl digits.bin

digits.bin: 1,797 records of 65 bytes in the order of the source: the label (0..9), then 8 x 8
pixels (0..16), row by row.
"""
import gzip
import sys
import zipfile

SAMPLES, PIXELS = 1797, 64


def main(wheel: str, output: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        lines = gzip.decompress(archive.read("sklearn/datasets/data/digits.csv.gz")).split()
    records = bytearray()
    for line in lines:
        *pixels, label = (int(float(cell)) for cell in line.split(b","))
        if len(pixels) != PIXELS or not 0 <= label <= 9 or not all(0 <= p <= 16 for p in pixels):
            raise SystemExit(f"not a digit: {line!r}")
        records += bytes([label, *pixels])
    if len(records) != SAMPLES * (1 + PIXELS):
        raise SystemExit(f"{len(lines)} samples instead of {SAMPLES}")
    with open(output, "wb") as file:
        file.write(records)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
