# SPDX-License-Identifier: Apache-2.0
"""Memory over the step of the peak. Run behind peak_holders.py, whose names it uses."""

MOST_PLACES = 240


def step_around(peak, ends, count):
    """The events [begin, end) of the step that holds an event; `ends`: of steps."""
    at = bisect.bisect_right(ends, peak)
    return (ends[at - 1] if at > 0 else 0), (ends[at] if at < len(ends) else count)


def step_memory_of(device, frames_of, torch_folder):
    """[who asked, None, bytes] for each place of the step, in the order of time: the most that was
    allocated there, as headroom's report draws it."""
    blocks, count = blocks_of(device)
    totals = totals_of(blocks, count)
    begin, end = step_around(totals.index(max(totals)), step_ends[device], count)
    who, phases = "forward", []
    for event in range(begin, end):
        if event in frames_of:
            who = kind_of(frames_of[event], torch_folder)
        phases.append(who)
    places = min(MOST_PLACES, end - begin)
    edges = [begin + place * (end - begin) // places for place in range(places + 1)]
    return [[collections.Counter(phases[first - begin:last - begin]).most_common(1)[0][0], None,
             max(totals[first:last])] for first, last in zip(edges, edges[1:])]
