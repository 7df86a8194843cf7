#!/usr/bin/env python3
"""Writes speed.md and its charts from speed-cpu.csv, speed-h100.csv and speed-h200.csv (output of `sawtooth bench`)
and speed-peers.csv (times of others). No number of the page is written by hand."""
import csv
import math
import pathlib
import re
from html import escape

HERE = pathlib.Path(__file__).resolve().parent

# The dimensions of [...] in the name of a case, in the words of the field.
DIMENSIONS = {
    "memory": ("sequences", "tokens", "numbers a key"),
    "scan": ("sequences", "positions", "channels"),
    "attention": ("sequences", "heads", "positions", "channels"),
    "btp": ("sequences", "heads", "channels", "positions"),
    "ar_ssm": ("sequences", "positions", "channels"),
}
LETTERS = {"B": "items", "T": "detectors", "C": "pairs a detector", "BL": "positions a block", "r": "ranks"}

# One chart each: machine, family, case, title.
ROWS = [
    ("cpu", "memory", "delta [4, 1024, 64]", "Delta rule of a memory"),
    ("cpu", "scan", "sum [4, 8192, 512]", "Inclusive sum along the middle axis"),
    ("cpu", "scan", "sum [1, 16777216, 1]", "Inclusive sum of one row"),
    ("cpu", "attention", "forward f32 [1, 8, 2048, 64]", "Attention with two encodings, forward"),
    ("cpu", "btp", "forward, order 2 f32 [1, 16, 16, 8192] BL 64", "Block Two-Pass, forward"),
    ("cpu", "lut", "forward, full float B 256 T 256 C 8", "Look-up tables, forward"),
    ("cpu", "ar_ssm", "forward, f32 [1, 2048, 512] r 32", "AR-SSM layer, forward"),
    ("h100", "memory", "delta bf16 [16, 4096, 64]", "Delta rule of a memory"),
    ("h100", "memory", "delta bf16 [64, 8192, 128]", "Delta rule of many long memories"),
    ("h100", "scan", "sum [4, 8192, 512]", "Inclusive sum along the middle axis"),
    ("h100", "scan", "linear [4, 8192, 512]", "Linear recurrence along the middle axis"),
    ("h100", "scan", "sum [1, 268435456, 1]", "Inclusive sum of one row"),
    ("h100", "attention", "forward bf16 [1, 32, 8192, 64]", "Attention with two encodings, forward"),
    ("h100", "attention", "forward and backward bf16 [1, 32, 8192, 64]",
     "Attention with two encodings, forward and backward"),
    ("h100", "attention", "forward and backward bf16 [1, 32, 8192, 128]",
     "Attention with two encodings and wide heads, forward and backward"),
    ("h100", "btp", "forward, order 2 bf16 [8, 128, 16, 8192]", "Block Two-Pass, forward"),
    ("h100", "lut", "with backward, full float B 4096 T 256 C 8", "Look-up tables, forward and backward"),
    ("h100", "ar_ssm", "forward, bf16 [4, 8192, 512] r 32", "AR-SSM layer, forward"),
    ("h200", "memory", "delta bf16 [16, 4096, 64]", "Delta rule of a memory"),
    ("h200", "memory", "delta bf16 [64, 8192, 128]", "Delta rule of many long memories"),
    ("h200", "scan", "sum [4, 8192, 512]", "Inclusive sum along the middle axis"),
    ("h200", "scan", "linear [4, 8192, 512]", "Linear recurrence along the middle axis"),
    ("h200", "scan", "linear [2048, 8192, 1]", "Linear recurrence of contiguous rows"),
    ("h200", "attention", "forward bf16 [1, 32, 8192, 64]", "Attention with two encodings, forward"),
    ("h200", "attention", "forward and backward bf16 [1, 32, 8192, 64]",
     "Attention with two encodings, forward and backward"),
    ("h200", "btp", "forward, order 2 bf16 [8, 128, 16, 8192]", "Block Two-Pass, forward"),
    ("h200", "lut", "forward, full float B 4096 T 256 C 8", "Look-up tables, forward"),
    ("h200", "lut", "with backward, full float B 4096 T 256 C 8", "Look-up tables, forward and backward"),
    ("h200", "ar_ssm", "forward, bf16 [4, 8192, 512] r 32", "AR-SSM layer, forward"),
]
MACHINES = {"cpu": "CPU", "h100": "NVIDIA H100", "h200": "NVIDIA H200"}

STYLE = """<style>
text { font: 12px Roboto, "Helvetica Neue", Arial, sans-serif; fill: #1d2128; }
.quiet { fill: #68707d; } .grid { stroke: #dfe2e7; } .bar { stroke: #9aa3b0; }
.own { fill: #0b72b5; } .peer { fill: none; stroke: #68707d; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #dfe3ea; } .quiet { fill: #858d9b; } .grid { stroke: #2b2f38; } .bar { stroke: #5a6270; }
  .own { fill: #56b4e9; } .peer { stroke: #858d9b; }
}
</style>"""


def read(name):
    with open(HERE / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def short_time(us):
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3g} {unit}"
    return f"{us:.3g} us"


def two_digits(number):
    return f"{float(f'{number:.2g}'):g}"


def words_of_case(family, case):
    """"sum [4, 8192, 512]" as "sum: 4 sequences, 8,192 positions, 512 channels"."""
    def size(number, word):
        return f"{int(number):,} {re.sub('s$', '', word) if int(number) == 1 else word}"

    sizes = []
    found = re.search(r"\[(.*?)\]", case)
    if found:
        sizes += [size(n, word) for n, word in zip(found[1].split(", "), DIMENSIONS[family])]
        case = case.replace(found[0], "")
    sizes += [size(number, LETTERS[letter]) for letter, number in re.findall(r"\b(BL|[BTCr]) (\d+)", case)]
    case = re.sub(r"\b(BL|[BTCr]) \d+", "", case).strip()
    return f"{case}: {', '.join(sizes)}"


class Point:
    """A row of a chart: a variant, or somebody else's time.

    counters: what limits the main launch: "forward, compute: the SMs at 72 % of their peak".
    """

    def __init__(self, name, us, note="", is_peer=False, counters=""):
        self.name, self.us, self.note, self.is_peer, self.counters = name, us, note, is_peer, counters


def points_of(tables, peers, machine, family, case):
    points = []
    for row in tables[machine]:
        if (row["family"], row["case"]) == (family, case) and not row.get("launch") and row["time (us)"]:
            share = row["share (%)"]
            assert not share or float(share) <= 105, f"a share above 105 %: {row}"
            note = f"{row['bound by']} {two_digits(float(share))} %" if share else ""
            points.append(Point(row["variant"], float(row["time (us)"]), note, counters=row.get("counters", "")))
    assert points, f"no rows of {family} {case} in speed-{machine}.csv"
    for row in peers:
        if (row["machine"], row["family"], row["case"]) == (machine, family, case):
            points.append(Point(row["who"], float(row["time (us)"]), row["where"], True))
    return sorted(points, key=lambda point: point.us)


def chart(points):
    """Times as points on a logarithmic axis, in which no length stands for a number."""
    left, right, line, top = 310, 700, 22, 8
    low = 10 ** math.floor(math.log10(min(p.us for p in points)))
    high = 10 ** math.ceil(math.log10(max(p.us for p in points) * 1.001))
    height = top + line * len(points) + 24

    def at(us):
        return left + (right - left) * math.log(us / low) / math.log(high / low)

    parts = []
    tick = low
    while tick <= high * 1.001:
        x = at(tick)
        parts.append(f'<path class="grid" d="M{x:.1f} {top}V{height - 22}"/>'
                     f'<text class="quiet" x="{x:.1f}" y="{height - 7}" text-anchor="middle">{short_time(tick)}</text>')
        tick *= 10
    for i, point in enumerate(points):
        y = top + line * i + line / 2
        name = escape(point.name + (f", {point.note}" if point.is_peer and point.note else ""))
        kind, quiet = ("peer", ' class="quiet"') if point.is_peer else ("own", "")
        parts.append(f'<text x="{left - 14}" y="{y + 4}" text-anchor="end"{quiet}>{name}</text>'
                     f'<circle class="{kind}" cx="{at(point.us):.1f}" cy="{y}" r="5"/>'
                     f'<text x="{at(point.us) + 12:.1f}" y="{y + 4}"{quiet}>{short_time(point.us)}'
                     f'{"" if point.is_peer or not point.note else ", " + escape(point.note)}</text>')
    width = right + 170
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">\n{STYLE}\n' + "\n".join(parts) + "\n</svg>\n")


def sentence_of(points):
    """The fastest variant, and the best of others, those on such a machine first. Times of different programs that did
    not take turns: only half as long again counts as a difference."""
    own = min((p for p in points if not p.is_peer), key=lambda p: p.us)
    text = f"The least time is {short_time(own.us)}, of `{own.name}`"
    text += f" ({own.note})." if own.note else "."
    if own.counters:
        launch, limit, words = re.fullmatch(r"(\w+), (\w+): (.*)", own.counters).groups()
        text += f" By counters, `{launch}` is limited by {limit}: {words}."
    peers = [p for p in points if p.is_peer]
    if not peers:
        return text
    peer = min(peers, key=lambda p: (bool(p.note), p.us))
    ratio = peer.us / own.us
    text += f" {peer.name} took {short_time(peer.us)}"
    if peer.note:
        return text + f" on {peer.note}."  # another processor
    if ratio > 1.5:
        return text + f", {ratio:.2g} times as long."
    if ratio < 1 / 1.5:
        return text + f", so `{own.name}` takes {1 / ratio:.2g} times as long."
    return text + ": no difference that two separate measurements can tell."


def page():
    tables = {machine: read(f"speed-{machine}.csv") for machine in MACHINES}
    peers = read("speed-peers.csv")
    for peer in peers:
        assert points_of(tables, [], peer["machine"], peer["family"], peer["case"])
    lines = ["# Speed", "",
             "Times of `sawtooth bench`: medians with cold caches, each variant checked against the reference in the same",
             "run. Filled points are variants of Sawtooth; a share says how near one comes to what limits it: bytes, against",
             "a copy of as many bytes measured in turns with it, or arithmetic, against the measured peak. Rings are times of",
             "others for the same shape. Those on an H100 were measured on the same day by [peers.py](peers.py), on a card of",
             "the same model. All others are **quoted**, not measured here: medians of at least 20 repeats (slow ones of 5",
             "to 10) on another day. Times on GPUs are by events with the L2 cache flushed. The axis is logarithmic.", "",
             "All cases, with the spread of each time, what limits it, and times by launch: [speed-cpu.csv](speed-cpu.csv),",
             "[speed-h100.csv](speed-h100.csv), [speed-h200.csv](speed-h200.csv); times of others:",
             "[speed-peers.csv](speed-peers.csv). `docs/speed.py` writes this page from them. A share above 105 % says that",
             "its limit is wrong and is left out. Counters are those of the launch that takes most of the time, read in",
             "passes of their own with the caches as the pass before left them.", ""]
    count = {machine: 0 for machine in MACHINES}
    for machine, name in MACHINES.items():
        days = sorted({row["measured"] for row in tables[machine]})
        on = tables[machine][0]["on"]
        lines += [f"## {name}", "", f"{on}, measured on {', '.join(days)}.", ""]
        for place, family, case, title in ROWS:
            if place != machine:
                continue
            points = points_of(tables, peers, machine, family, case)
            count[machine] += 1
            file = f"speed-{machine}-{count[machine]}.svg"
            (HERE / file).write_text(chart(points), encoding="utf-8")
            lines += [f"### {title}", "", f"`{family}`, {words_of_case(family, case)}. {sentence_of(points)}", "",
                      f"![Times: {title}]({file})", ""]
    lines += ["## Measure again", "",
              "    sawtooth bench FAMILY --csv FILE                              # on the CPU",
              "    sawtooth bench FAMILY --backend cuda --repeat 20 --csv FILE   # on a GPU",
              "    sawtooth bench FAMILY --backend cuda --repeat 20 --profile counters --csv FILE   # and what limits it", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    for old in HERE.glob("speed-*.svg"):
        old.unlink()
    (HERE / "speed.md").write_text(page(), encoding="utf-8")
