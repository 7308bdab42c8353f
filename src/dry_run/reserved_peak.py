# SPDX-License-Identifier: Apache-2.0
"""What is reserved and not allocated at the peak of reserved memory: the allocator's history played
again up to the block for which it grew. Run before peak_holders.py, with its names.

The history has no sizes of blocks as the allocator rounds them; those the dry run was told.
"""
GROWTH = ("segment_alloc", "segment_map")
SMALL_SEGMENT = 2 << 20  # blocks of up to 1 MiB lie in segments of this size, all others elsewhere


class Reserved:
    """The segments and the blocks in them, as the history goes on."""

    def __init__(self):
        self.segments = {}  # address: (bytes, stream, whether it can grow)
        self.blocks = {}    # address: (bytes, frames, whether it is free but for a stream at work)
        self.bytes = 0

    def take(self, entry, size):
        """The next entry; `size`: of the block that it allocates."""
        action, address = entry["action"], entry["addr"]
        if action in GROWTH:
            self.segments[address] = (entry["size"], entry["stream"], action == "segment_map")
            self.bytes += entry["size"]
        elif action in ("segment_free", "segment_unmap"):
            self.cut(address, entry["size"])
            self.bytes -= entry["size"]
        elif action == "alloc":
            self.blocks[address] = (size, entry.get("frames", []), False)
        elif action == "free_requested" and address in self.blocks:
            self.blocks[address] = (*self.blocks[address][:2], True)
        elif action == "free_completed":
            self.blocks.pop(address, None)

    def cut(self, address, size):
        """What is given back may be a part of what was mapped."""
        for begin, (length, stream, grows) in list(self.segments.items()):
            if begin < address + size and address < begin + length:
                del self.segments[begin]
                if begin < address:
                    self.segments[begin] = (address - begin, stream, grows)
                if address + size < begin + length:
                    rest = begin + length - address - size
                    self.segments[address + size] = (rest, stream, grows)

    def joined_segments(self):
        """Those that can grow are one where they touch."""
        joined = []
        for begin, (length, stream, grows) in sorted(self.segments.items()):
            last = joined[-1] if joined else None
            if last and grows and last["grows"] and last["end"] == begin:
                last["end"] = begin + length
            else:
                pool = "small" if length == SMALL_SEGMENT and not grows else "large"
                joined.append({"begin": begin, "end": begin + length, "stream": stream,
                               "grows": grows, "pool": pool})
        return joined

    def gaps(self):
        """The free pieces: (segment, bytes, the blocks beside it)."""
        addresses = sorted(self.blocks)
        found = []
        for segment in self.joined_segments():
            at, beside = segment["begin"], []
            first = bisect.bisect_left(addresses, segment["begin"])
            last = bisect.bisect_left(addresses, segment["end"])
            for address in [*addresses[first:last], None]:
                end = segment["end"] if address is None else address
                after = [] if address is None else [address]
                if end > at:
                    found.append((segment, end - at, beside + after))
                if address is not None:
                    at, beside = address + self.blocks[address][0], [address]
        return found


def entries_with_sizes(device, trace, frames_of):
    """Each entry, with the size of the block that it allocates. `frames_of`: as
    frames_of_allocations() gives it."""
    blocks, _ = blocks_of(device)
    sizes = iter(blocks[event].bytes for event in frames_of)
    return [(entry, next(sizes) if entry["action"] == "alloc" else 0) for entry in trace]


def last_growth(entries):
    """The index behind the entry that made the peak."""
    total, peak, at = 0, 0, 0
    for index, (entry, _) in enumerate(entries):
        if entry["action"] in GROWTH:
            total += entry["size"]
        elif entry["action"] in ("segment_free", "segment_unmap"):
            total -= entry["size"]
        if total > peak:
            peak, at = total, index + 1
    return at


def reserved_peak_of(device, trace, frames_of, torch_folder):
    """None: it is not known."""
    entries = entries_with_sizes(device, trace, frames_of)
    end = last_growth(entries)
    begin = end  # of the growth, which may be of several pieces
    while begin > 0 and entries[begin - 1][0]["action"] in GROWTH:
        begin -= 1
    allocations = (each for each in entries[end:] if each[0]["action"] == "alloc")
    entry, size = next(allocations, (None, 0))
    if entry is None:
        return None
    reserved = Reserved()
    for before in entries[:begin]:
        reserved.take(*before)
    pool = "small" if entries[end - 1][0]["size"] == SMALL_SEGMENT else "large"
    mine = [gap for gap in reserved.gaps()
            if (gap[0]["pool"], gap[0]["stream"]) == (pool, entry["stream"])]
    large = [gap[1] for gap in mine if gap[1] >= size]
    mine = [gap for gap in mine if gap[1] < size]
    neighbours, numbers = collections.Counter(), collections.Counter()
    for address in {address for gap in mine for address in gap[2]}:
        length, frames, _ = reserved.blocks[address]
        line = line_of(frames, torch_folder)
        neighbours[line] += length
        numbers[line] += 1
    for growth in entries[begin:end]:
        reserved.take(*growth)
    reserved.take(entry, size)
    occupied = sum(length for length, _, _ in reserved.blocks.values())
    waiting = sum(length for length, _, waits in reserved.blocks.values() if waits)
    pools = collections.defaultdict(list)
    for segment, length, _ in reserved.gaps():
        pools[segment["pool"], segment["stream"]].append(length)
    return {"reserved_bytes": reserved.bytes,
            "allocated_bytes": occupied - waiting,
            "waiting_bytes": waiting,
            "free": [{"pool": name, "stream": stream, "bytes": sum(lengths),
                      "pieces": len(lengths), "largest_bytes": max(lengths)}
                     for (name, stream), lengths in sorted(pools.items())],
            "asked_bytes": size,
            "asked_at": line_of(entry.get("frames", []), torch_folder),
            "passed_over_bytes": sum(large),
            "passed_over_pieces": len(large),
            "too_small_bytes": sum(gap[1] for gap in mine),
            "too_small_pieces": len(mine),
            "too_small_largest_bytes": max((gap[1] for gap in mine), default=0),
            "neighbours": [{"line": line, "bytes": length, "blocks": numbers[line]}
                           for line, length in neighbours.most_common(12)]}
