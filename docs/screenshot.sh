#!/bin/bash
# Makes docs/incident.png: the collector's own page in headless Chromium, with 24 hosts' reports that this script invents.
# From 11:52 to 12:14 what comes in at node 7 is slow and lossy, whoever sends it; what node 7 sends is not.
# Usage: docs/screenshot.sh [hostint [png]]
# Needs python3, nodejs, npm, chromium and fonts-dejavu-core, as Debian has them; no root.
set -euo pipefail

hostint=$(realpath "$(command -v "${1:-hostint}")")
png=$(realpath -m "${2:-"$(dirname "$0")/incident.png"}")
cd "$(dirname "$0")/.."
[ -d tests/web/node_modules ] || npm --prefix tests/web ci --ignore-scripts --no-audit --no-fund
port=13299
out=$(mktemp -d)
collector=
clean_up() {
	[ -z "$collector" ] || { kill "$collector" && wait "$collector"; } 2>/dev/null || true
	rm -rf "$out"
}
trap clean_up EXIT

python3 - >"$out/reports.jsonl" <<'PY'
import datetime, json, math, random

random.seed(7)
NODES, RACK, BAD = 24, 8, 7
SECOND = 10**9
day = int(datetime.datetime(2026, 3, 11, tzinfo=datetime.timezone.utc).timestamp()) * SECOND
begin, end = day + 11 * 3600 * SECOND, day + int(12.5 * 3600) * SECOND
bad_from, bad_to = day + (11 * 60 + 52) * 60 * SECOND, day + (12 * 60 + 14) * 60 * SECOND
address = lambda node: f"10.1.{(node - 1) // RACK + 1}.{(node - 1) % RACK + 11}"


def flows():
    for source in range(1, NODES + 1):
        for sink in range(1, NODES + 1):
            if source != sink and (random.random() < 0.8 or sink == BAD):
                yield source, sink, random.randrange(32768, 61000), random.choice([443, 5432, 9000, 4420])


SAMPLES = 40


def slot(ns):
    """The greatest value that is counted with this one: 32 slots for each power of two."""
    shift = max(ns.bit_length() - 6, 0)
    return (((ns >> shift) + 1) << shift) - 1


class Totals:
    """What a sink has counted of a pair."""

    def __init__(self, at):
        self.told = {"period_ns": 10 * SECOND, "epoch_ns": at, "last_ns": at, "packets": 0, "bytes": 0, "lost": 0,
                     "recovered": 0, "reordered": 0, "duplicates": 0, "late": 0, "restarts": 0}
        self.slots = {}
        self.least, self.most, self.sum = 1 << 62, 0, 0

    def add(self, at, packets, lost, latencies):
        self.told["last_ns"] = at
        self.told["lost"] += lost
        for latency in latencies:
            count = packets // SAMPLES
            self.told["packets"] += count
            self.told["bytes"] += count * 900
            self.slots[slot(latency)] = self.slots.get(slot(latency), 0) + count
            self.least, self.most = min(self.least, latency), max(self.most, latency)
            self.sum += count * latency

    def summary(self):
        latency = {"steps": 32, "samples": self.told["packets"], "min_ns": self.least, "max_ns": self.most,
                   "sum_ns": self.sum, "slots": sorted(self.slots.items())}
        return {**self.told, "latency": latency}


def records():
    for source, sink, sport, dport in flows():
        base = 22_000 if (source - 1) // RACK == (sink - 1) // RACK else 41_000
        base *= random.uniform(0.8, 1.25)
        rate = random.randrange(40, 400)
        flow = {"src": address(source), "dst": address(sink), "sport": sport, "dport": dport, "protocol": 6}
        at, sequence = begin + random.randrange(20 * SECOND), 1
        totals = Totals(at)
        while at < end:
            step = int(random.uniform(15, 25) * SECOND)
            bad = sink == BAD and bad_from <= at < bad_to
            latency = base * random.lognormvariate(0, 0.18)
            if bad:
                latency += random.lognormvariate(14.2, 0.7)
            yield at, "latency", source, sink, flow, {"latency_ns": int(latency), "seq": sequence}
            slower = lambda: random.lognormvariate(14.2, 0.7) if bad else 0
            latencies = [int(base * random.lognormvariate(0, 0.15) + slower()) for _ in range(SAMPLES)]
            lost = random.random() < (0.9 if bad else 0.0015)
            sequence += rate * step // SECOND
            at += step
            count = 0
            if lost and at < end:
                count = random.randrange(1, max(2, rate * step // SECOND // 40)) if bad else 1
                gap = {"first_seq": sequence - count, "last_seq": sequence - 1, "count": count, "time_s": at // SECOND}
                yield at, "drop-summary", source, sink, flow, {"gap": gap}
            totals.add(at, rate * step // SECOND, count, latencies)
            yield at, "group-summary", source, sink, None, {"summary": totals.summary()}
            yield at, "flow-summary", source, sink, flow, {"summary": totals.summary()}


numbers = {}
for at, kind, source, sink, flow, rest in sorted(records(), key=lambda record: record[0]):
    numbers[sink] = numbers.get(sink, 0) + 1
    report = {
        "schema": "hostint.report/1", "version": "0.5", "kind": kind, "exporter": address(sink), "exporter_port": 40000,
        "received_ns": at, "report_seq": numbers[sink], "hw_id": 0, "tracked_flow": True, "report_time_s": at // SECOND,
        "sink_clock": "tai", "sink_clock_synchronised": True, "reporter_node": sink,
    }
    if flow:
        report["flow"] = flow
    if kind == "latency":
        sent = at - rest["latency_ns"]
        stamps = lambda time: {"ingress_ts_ns": time % 2**32, "egress_ts_ns": time % 2**32}
        report["source"] = {"node": source, "ingress_port": 2, "egress_port": 2, **stamps(sent)}
        report["sink"] = {"node": sink, "ingress_port": 2, "egress_port": 2, **stamps(at)}
    else:
        report["dropped"] = kind == "drop-summary"
        report["source"] = {"node": source, "port": 2}
        report["sink"] = {"node": sink, "port": 2}
    print(json.dumps({**report, **rest}))
PY

store=("--store" "$out/history.db" --keep-raw 100years --keep-10s 100years --keep-1m 100years --keep-1h 100years)
"$hostint" collect --read "$out/reports.jsonl" "${store[@]}" >/dev/null 2>&1
"$hostint" collect --listen "127.0.0.1:$port" --http "127.0.0.1:$port" "${store[@]}" >/dev/null 2>"$out/collect.err" &
collector=$!
for _ in $(seq 200); do
	grep -q "serving" "$out/collect.err" && break
	kill -0 "$collector" 2>/dev/null || { cat "$out/collect.err" >&2; exit 1; }
	sleep 0.05
done

since=$(date -u -d 2026-03-11T11:45 +%s)000
until=$(date -u -d 2026-03-11T12:15 +%s)000
TZ=UTC node tests/web/screenshot.mjs "http://127.0.0.1:$port/#/?range=custom&since=$since&until=$until" "$png"
echo "$png: $(stat -c %s "$png") bytes"
