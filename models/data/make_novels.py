#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes novels.bin out of a package of Debian 12, with nothing but Python's own library.

    apt-get download r-cran-janeaustenr=1.0.0-1
    python3 make_novels.py r-cran-janeaustenr_1.0.0-1_all.deb novels.bin

novels.bin: the first 42,000 words of each of six novels, in the order of TITLES, as ids of 16 bits,
little-endian. A word is a run of letters, apostrophes within it, in lower case, or one of the
characters . , ; : ! ? Headings and whatever stands before the first of them are left out.

ids: 0 padding and 1 the beginning of a passage, which are not in the file; 2 a word that has no id;
3 to 4095 the words that the first 36,000 of each novel, those to train on, hold most often, the
most frequent first and of equally frequent ones the first in the alphabet.
"""
import collections
import hashlib
import io
import re
import struct
import sys
import tarfile
import zlib

PACKAGE_SHA256 = "df6bddf211906d1ff404f8ff662c21b34e6660e7f54a311084e749050c019c95"
DATABASE = "./usr/lib/R/site-library/janeaustenr/data/Rdata.rdb"
TITLES = ("EMMA", "MANSFIELD PARK", "NORTHANGER ABBEY", "Persuasion", "PRIDE AND PREJUDICE",
          "SENSE AND SENSIBILITY")
WORDS, TRAINED_WORDS = 42_000, 36_000  # of each novel
UNKNOWN, FIRST_WORD, IDS = 2, 3, 4096

HEADING = re.compile(r"(chapter|volume) [ivxl\d]+", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|[.,;:!?]")


def member(package: bytes, name: str) -> bytes:
    """A file of a .deb, which is an ar archive that holds a tar archive."""
    at = len(b"!<arch>\n")
    while at < len(package):
        header, at = package[at:at + 60], at + 60
        size = int(header[48:58])
        if header.startswith(b"data.tar"):
            with tarfile.open(fileobj=io.BytesIO(package[at:at + size])) as archive:
                return archive.extractfile(name).read()
        at += size + size % 2
    raise SystemExit("a .deb without data")


def texts(database: bytes):
    """The lines of each text of R's database: records of a size and a deflated list of strings."""
    while database:
        inflater = zlib.decompressobj()
        record = inflater.decompress(database[4:])
        database = inflater.unused_data
        at = record.index(b"UTF-8") + len(b"UTF-8")
        kind, count = struct.unpack_from(">II", record, at)
        if kind != 16:  # of strings
            return
        at += 8
        lines = []
        for _ in range(count):
            size, = struct.unpack_from(">I", record, at + 4)
            lines.append(record[at + 8:at + 8 + size].decode())
            at += 8 + size
        yield lines


def words(lines: list[str]) -> list[str]:
    first = next(i for i, line in enumerate(lines) if HEADING.fullmatch(line))
    text = " ".join(line for line in lines[first:] if not HEADING.fullmatch(line))
    found = WORD.findall(text.replace("_", "").lower())  # _ sets a word off
    if len(found) < WORDS:
        raise SystemExit(f"{lines[0]} has {len(found)} words, {WORDS} are needed")
    return found[:WORDS]


def main(package_path: str, output: str) -> None:
    with open(package_path, "rb") as file:
        package = file.read()
    if hashlib.sha256(package).hexdigest() != PACKAGE_SHA256:
        raise SystemExit(f"{package_path} is another package; expected sha256 {PACKAGE_SHA256}")
    by_title = {lines[0]: words(lines) for lines in texts(member(package, DATABASE))}
    novels = [by_title[title] for title in TITLES]

    counts = collections.Counter(word for novel in novels for word in novel[:TRAINED_WORDS])
    ranked = sorted(counts, key=lambda word: (-counts[word], word))[:IDS - FIRST_WORD]
    ids = {word: FIRST_WORD + rank for rank, word in enumerate(ranked)}
    with open(output, "wb") as file:
        for novel in novels:
            file.write(struct.pack(f"<{WORDS}H", *(ids.get(word, UNKNOWN) for word in novel)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
