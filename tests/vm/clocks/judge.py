#!/usr/bin/env python3
"""Judges corrected latencies by what the guests' clocks truly showed: see ../clocks.sh.

judge.py sums STATE                        prints the sums of all runs
judge.py judge STATE LOG FOLDER SECONDS    reads FOLDER/reports and FOLDER/truth1 to 3 as they are written

The guests' clocks are known by one counter (guest.c): the true latency of a packet is the time by that counter between
the counts when the clocks showed its stamps. Each of both is uncertain by the time of a reading, by how far the clock can
bend between two readings 0.1 s apart, and by the constant of the guest's counter. An interval is violated if the true
latency lies outside by more than that sum.
"""

import bisect
import collections
import json
import math
import os
import sys
import time

KEPT_S = 180
# Guests that get little of a CPU write late.
PATIENCE_S = 60
FLUSH_S = 10
# They are slow to start on a busy machine.
SILENT_S = 900


class Follower:
    """A file that another process appends to."""

    def __init__(self, path):
        self.path, self.file, self.rest = path, None, ""

    def lines(self):
        if self.file is None:
            if not os.path.exists(self.path):
                return []
            self.file = open(self.path, errors="replace")
        *whole, self.rest = (self.rest + self.file.read()).split("\n")
        return whole


class Stretch:
    """The readings between two changes of a clock."""

    def __init__(self):
        self.counts, self.clock, self.widths = [], [], []

    def add(self, count, width, clock_ns):
        self.counts.append(count + width / 2)
        self.clock.append(clock_ns)
        self.widths.append(width / 2)

    def between(self, keys, at, values):
        """The value where the key is `at`, and how far it can be off by a change of rate between two readings."""
        i = bisect.bisect_right(keys, at)
        if i == 0 or i == len(keys):
            return None
        i -= 1

        def slope(i):
            return (values[i + 1] - values[i]) / (keys[i + 1] - keys[i])

        here = slope(i)
        near = [slope(j) for j in (i - 1, i + 1) if 0 <= j < len(keys) - 1]
        bend = max((abs(one - here) for one in near), default=0.0) * (keys[i + 1] - keys[i]) / 4
        return values[i] + (at - keys[i]) * here, bend, max(self.widths[i], self.widths[i + 1])


class Guest:
    def __init__(self, path):
        self.follower = Follower(path)
        self.stretches = [Stretch()]
        self.low, self.high = -(1 << 62), 1 << 62
        self.mode = "free"
        self.modes = []
        self.newest = 0

    def read(self):
        news = 0
        for line in self.follower.lines():
            word, *rest = line.split()[:4] or [""]
            if word not in ("S", "E", "C", "M"):
                continue
            try:
                news += 1
                if word == "M":
                    self.mode = rest[0]
                    self.modes.append((self.newest, self.mode))
                    continue
                numbers = [int(one) for one in rest]
                if word == "S":
                    self.newest = numbers[0]
                    self.stretches[-1].add(*numbers)
                elif word == "E":
                    self.stretches.append(Stretch())
                elif word == "C":
                    self.low, self.high = numbers
                    if self.low > self.high:
                        sys.exit(f"{self.follower.path}: the counter's constant is none: {line}")
            except (ValueError, TypeError, IndexError):
                # Words of the guest's kernel may stand within a line.
                continue
        return news

    def forget(self, ticks):
        while len(self.stretches) > 1 and (
            not self.stretches[0].counts or self.stretches[0].counts[-1] < self.newest - ticks
        ):
            self.stretches.pop(0)
        first = self.stretches[0]
        old = bisect.bisect_left(first.counts, self.newest - ticks)
        for values in (first.counts, first.clock, first.widths):
            del values[:old]

    def known(self):
        return self.high - self.low < 1 << 40

    def constant(self):
        """By how far the host's counter is ahead, and the error of that."""
        return (self.low + self.high) / 2, (self.high - self.low) / 2

    def mode_at(self, count):
        return next((mode for since, mode in reversed(self.modes) if since <= count), "free")

    def when(self, clock_ns):
        """The stretches and the counts when the clock showed this."""
        found = [(one, one.between(one.clock, clock_ns, one.counts)) for one in self.stretches]
        return [(one, at) for one, at in found if at]

    def shown(self, count):
        for one in self.stretches:
            at = one.between(one.counts, count, one.clock)
            if at:
                return one, at
        return None


Verdict = collections.namedtuple("Verdict", "kind modes error_ns off_ns half_ns detail", defaults=(None,) * 5)


class Judge:
    def __init__(self, guests, ns):
        self.guests, self.ns = guests, ns

    def verdict(self, report):
        """`None`: at its arrival, one of the clocks was not read."""
        source, sink = (self.guests[report[end]["node"]] for end in ("source", "sink"))
        if not (source.known() and sink.known()):
            return None
        latest = (report["report_time_s"] + 1) * 10**9
        arrival = report.get("arrival_ns") or latest - (latest - report["sink"]["ingress_ts_ns"]) % (1 << 32)
        found = sink.when(arrival)
        if not found:
            return None
        if len(found) > 1:
            return Verdict("twice")
        stretch, (count, bend, width) = found[0]
        sink_constant, sink_error = sink.constant()
        source_constant, source_error = source.constant()
        at_source = count + sink_constant - source_constant
        shown = source.shown(at_source)
        if not shown:
            return None
        # No packet takes 4 s.
        source_now = shown[1][0]
        departed = source_now - (source_now - report["source"]["egress_ts_ns"]) % (1 << 32)
        found = source.when(departed)
        if len(found) != 1:
            return Verdict("twice") if found else None
        other, (departure, other_bend, other_width) = found[0]
        true = (at_source - departure) * self.ns
        truth_ns = (bend + width + sink_error + source_error + other_width + other_bend) * self.ns + 10
        since = min(count - stretch.counts[0], at_source - shown[0].counts[0], departure - other.counts[0]) * self.ns
        modes = "-".join(sorted((sink.mode_at(count), source.mode_at(at_source))))
        if not report.get("latency_bound_ns"):
            return Verdict("unknown", modes)
        low, high = report["latency_bound_ns"]
        holds = low - truth_ns <= true <= high + truth_ns
        kind = "holds" if holds else "violated"
        if true < -truth_ns:
            kind = "impossible"
        detail = None
        if not holds or kind == "impossible":
            detail = (
                f"{kind} {modes}: true {true:.0f} ± {truth_ns:.0f} in [{low}, {high}], {since / 1e9:.3f} s after a "
                f"change: {json.dumps(report)}"
            )
        off = abs(report["latency_corrected_ns"] - true)
        return Verdict(kind, modes, truth_ns, off, (high - low) / 2, detail)


def bucket(ns):
    """Half octaves."""
    return int(2 * math.log2(max(ns, 1.0)))


def flush(state, counts, seconds):
    if not counts:
        return
    with open(state, "a") as out:
        out.write(json.dumps({"seconds": seconds, "counts": {" ".join(key): n for key, n in counts.items()}}) + "\n")
    counts.clear()


def judge(state, log, folder, seconds):
    guests = {n: Guest(f"{folder}/truth{n}") for n in (1, 2, 3)}
    reports = Follower(f"{folder}/reports")
    court = Judge(guests, 1e6 / int(os.environ["COUNTER_KHZ"]))
    host = Follower(f"{folder}/host")
    while not (first := host.lines()):
        time.sleep(0.1)
    host_count, host_ns = (int(one) for one in first[0].split()[1:])

    def is_written(since):
        """True if all guests wrote what their clocks showed until then."""
        count = host_count + (since * 1e9 - host_ns) / court.ns
        return all(guest.known() and guest.newest + guest.low > count for guest in guests.values())

    waiting = collections.deque()
    counts = collections.Counter()
    begin = heard = flushed = time.monotonic()
    last_judged = None
    out = open(log, "w")
    while True:
        time.sleep(0.5)
        now = time.monotonic()
        if sum(guest.read() for guest in guests.values()):
            heard = now
        for line in reports.lines():
            try:
                report = json.loads(line)
            except ValueError:
                continue
            if report.get("kind") == "latency" and report.get("latency_ns") is not None:
                waiting.append((now, report))
        while waiting and (is_written(waiting[0][0]) or now - waiting[0][0] > PATIENCE_S):
            _, report = waiting.popleft()
            # While a clock is being set, it is not read.
            verdict = court.verdict(report) or Verdict("unread")
            counts["verdict", verdict.kind, verdict.modes or "-"] += 1
            if verdict.error_ns is not None:
                last_judged = now
                counts["truth", str(bucket(verdict.error_ns))] += 1
                counts["half", str(bucket(verdict.half_ns))] += 1
                counts["off", str(bucket(verdict.off_ns))] += 1
            if verdict.detail:
                print(verdict.detail, file=out, flush=True)
        if now - flushed >= FLUSH_S:
            for guest in guests.values():
                guest.forget(KEPT_S * 1e9 / court.ns)
            judged_s = FLUSH_S if last_judged and now - last_judged < FLUSH_S else 0
            flush(state, counts, judged_s)
            flushed = now
        if now - heard > SILENT_S or now - begin > seconds + 900 or (now - heard > 20 and now - begin > seconds):
            flush(state, counts, 0)
            break
    sums(state)


def quantile(buckets, part):
    """In us, at the upper end of a bucket."""
    left = part * sum(buckets.values())
    for key in sorted(buckets):
        left -= buckets[key]
        if left <= 0:
            return 2 ** ((key + 1) / 2) / 1000
    return math.nan


def sums(state):
    seconds, verdicts = 0, collections.defaultdict(collections.Counter)
    spread = collections.defaultdict(collections.Counter)
    for line in open(state):
        run = json.loads(line)
        seconds += run["seconds"]
        for key, n in run["counts"].items():
            what, *rest = key.split()
            if what == "verdict":
                verdicts[rest[1]][rest[0]] += n
            else:
                spread[what][int(rest[0])] += n
    print(f"{seconds / 60:.1f} minutes")
    kinds = ["holds", "violated", "unknown", "twice", "unread", "impossible"]
    print("| clocks | " + " | ".join(kinds) + " |\n|---|" + "---|" * len(kinds))
    for modes, row in sorted(verdicts.items()) + [("all", sum(verdicts.values(), collections.Counter()))]:
        print(f"| {modes} | " + " | ".join(str(row[kind]) for kind in kinds) + " |")
    for what, name in (("truth", "error of the truth"), ("half", "half the interval"), ("off", "error of the estimate")):
        print(f"{name}: median {quantile(spread[what], 0.5):.1f} us, 95 % {quantile(spread[what], 0.95):.1f} us")
    sys.exit(1 if any(row["violated"] or row["impossible"] for row in verdicts.values()) else 0)


if __name__ == "__main__":
    if sys.argv[1] == "sums":
        sums(sys.argv[2])
    judge(*sys.argv[2:5], int(sys.argv[5]))
