#!/usr/bin/env python3
"""Where pods' traffic is measured: pod networks of real CNI plugins, ways through them, places of hostint: pod-networks.py HOSTINT

Two nodes, an outside host with the collector, and pods that the plugins of Debian's containernetworking-plugins attach, all as
network namespaces. Each way is gone by TCP and UDP, first without hostint, then with it at each place. It ends with 1 if traffic is
not whole, INT gets where no sink is, loss is reported that was none, or a cell is not as pod_networks/rows.py expects. KINDS="ptp
vxlan" chooses kinds; ipvs, geneve, ipip, wireguard, ipvlan and netkit are those for which not every kernel has devices.
SECONDS_OF_PODS=60 makes pods come and go for so long, WARM_SECONDS=20 is the time for leases before the ways are gone (5). Needs root, nft and iptables.
"""

import json
import os
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent / "pod_networks"))

from changes import beside_programs, pods_come_and_go  # noqa: E402
from lab import COLLECTOR, NODES, OUTSIDE, SERVICE, SHARED, Hostint, Lab, await_that  # noqa: E402
from rows import ROWS, expected  # noqa: E402
from traffic import Echo, Sniffer, repeated_syns, tcp_way, udp_way  # noqa: E402

FIRST_PORT = 7000
# Of VXLAN, Geneve and WireGuard.
OUTER_PORTS = (8472, 6081, 51871)
WARM = 1000
MARKER = 6990
PLACES = ("uplink", "veth", "uplink and veth", "pod")
KINDS = ("ptp", "bridge", "bridge-masq", "vxlan", "macvlan")
WAYS = {
    "pod to pod": ("a1", "b1", "b1"),
    "pod to host": ("a1", "b", "b"),
    "host to pod": ("a", "b1", "b1"),
    "service, iptables": ("a1", SERVICE, "b1"),
    "service, nft": ("a1", SERVICE, "b1"),
    "node port": ("outside", "a", "b1"),
    "pod to outside": ("a1", OUTSIDE, "outside"),
    "same node": ("a1", "a2", "a2"),
    "service, ipvs": ("a1", SERVICE, "b1"),
}
PORTS = {way: FIRST_PORT + 2 * number for number, way in enumerate(WAYS)}


def ways_of(kind):
    """The ways of a kind of network: services are translated by what it is named after, or by both of the others."""
    return [way for way in WAYS if not way.startswith("service") or way.endswith("ipvs") == (kind == "ipvs")]


def class_of(way, proto, back):
    return f"{way} {proto}{back}".replace(",", "").replace(" ", "-")


def rules():
    lines = ['[[watch]]\nto = "0.0.0.0/0"\npriority = 10\n']
    lines += [f'[[watch]]\nclass = "outer"\nprotocol = "udp"\nto-port = {port}\n' for port in OUTER_PORTS]
    for way, port in PORTS.items():
        for number, proto in enumerate(("tcp", "udp")):
            for key, back in (("to-port", ""), ("from-port", " back")):
                lines.append(f'[[watch]]\nclass = "{class_of(way, proto, back)}"\n{key} = {port + number}\n')
    lines += [f'[[watch]]\nclass = "marker{back}"\n{key} = {MARKER + 1}\n' for key, back in (("to-port", ""), ("from-port", "-back"))]
    return "".join(lines)


def config(key, node_id, sink, source, more=""):
    return (f'[sink]\ndev = {json.dumps(sink)}\nnode-id = {node_id}\ncollector = "{COLLECTOR}"\nnode-name = "n{node_id}"\n'
            f'lease-key = "{key}"\n[source]\ndev = {json.dumps(source)}\nlease-key = "{key}"\n{more}{rules()}')


class Run:
    """A kind of network with pods, and its ways."""

    def __init__(self, kind, binary):
        self.lab, self.binary, self.kind = Lab(kind), binary, kind
        self.key = self.lab.folder / "key"
        self.key.write_text("00112233445566778899aabbccddeeff\n")
        self.key.chmod(0o600)

    def build(self):
        self.lab.build()
        for name, node in (("a1", "a"), ("a2", "a"), ("b1", "b")):
            self.lab.add_pod(name, node)
        ports = {way: [port + add for add in (0, 1, WARM, WARM + 1)] for way, port in PORTS.items()}
        self.lab.add_service(self.lab.pods["b1"].address, {
            "iptables": ports["service, iptables"], "nft": ports["service, nft"], "ipvs": ports["service, ipvs"], "node": ports["node port"]})
        self.echoes = []
        for way, (_, _, server) in WAYS.items():
            for add in (0, WARM):
                self.echoes.append(Echo(self.lab.ns(server), PORTS[way] + add, OUTSIDE if server == "outside" else "0.0.0.0"))
        self.echoes += [Echo(self.lab.ns(server), MARKER, "0.0.0.0") for server in ("b", "b1", "a2")]
        self.passes = {}

    def address(self, name):
        return self.lab.pods[name].address if name in self.lab.pods else NODES[name][0] if name in NODES else name

    def go(self, way, proto, add=0, **how):
        client, to, _ = WAYS[way]
        walk = tcp_way if proto == "tcp" else udp_way
        mtu = {} if proto == "tcp" else {"mtu": self.lab.mtu()}
        return walk(self.lab.ns(client), self.address(to), PORTS[way] + add + (proto == "udp"), **mtu, **how)

    def ways(self):
        return [(way, proto) for way in ways_of(self.kind) for proto in ("tcp", "udp") if self.passes[way, proto]]

    def baseline(self):
        for way in ways_of(self.kind):
            for proto in ("tcp", "udp"):
                wrong = self.go(way, proto)
                self.passes[way, proto] = wrong is None
                if wrong:
                    print("  without hostint:", way, proto, wrong)

    def start(self, place):
        self.place, self.store = place, f"{self.lab.folder}/{place}.db"
        self.collector = Hostint(self.lab, self.binary, "outside", f'[collect]\nstore = "{self.store}"\n')
        hosts = {}
        if place == "pod":
            hosts = {name: config(self.key, 10 + number, "eth0", "eth0") for number, name in enumerate(self.lab.pods)}
        for node, (_, number) in NODES.items():
            if place.startswith("uplink"):
                hosts[node] = config(self.key, number, "eth0", "eth0")
            if place == "veth":
                hosts[node] = config(self.key, number, "eth0", self.lab.ends, 'hook = "tc-ingress"\n')
        self.hosts = {name: Hostint(self.lab, self.binary, name, text) for name, text in hosts.items()}
        for one in self.hosts.values():
            await_that(f"{one.name} is ready", lambda: one.says("source attached to"), 300)
            if place == "uplink and veth":
                one.command("source", "attach", "--dev", self.lab.ends, "--hook", "tc-ingress")

    def phase(self, place):
        """Goes all ways with hostint at a place; returns what became of each, and what was broken."""
        self.start(place)
        end = time.monotonic() + int(os.environ.get("WARM_SECONDS", "5"))
        while time.monotonic() < end:
            for way, proto in self.ways():
                self.go(way, proto, WARM, **({"length": 3000} if proto == "tcp" else {"count": 2}))
        watched = [name for name in (*self.lab.pods, "outside") if place != "pod" or name == "outside"]
        sniffers = {name: Sniffer(self.lab.ns(name), "eth0", [self.address(name), COLLECTOR, OUTSIDE][name == "outside":])
                    for name in watched}
        broken = []
        for way, proto in self.ways():
            before = {name: dict(one.counts) for name, one in sniffers.items()}
            ends = [self.lab.ns(name) for name in (WAYS[way][0], WAYS[way][2])]
            syns = repeated_syns(*ends)
            if wrong := self.go(way, proto):
                broken.append(f"{way}: {wrong}")
            if syns := repeated_syns(*ends) - syns:
                broken.append(f"{way}: a TCP connection began after {syns} repeated SYNs, a second or more")
            for one in sniffers.values():
                one.settle()
            for name, one in sniffers.items():
                for form in ("tunnel", "option", "empty"):
                    count = one.counts[form] - before[name][form]
                    if count and (form == "tunnel" or name == "outside"):
                        broken.append(f"{way}: {count} packets of {proto} with INT ({form}) reached {name}")
        self.mark()
        coverage, pairs = self.told()
        for pair in pairs:
            if pair["lost"]:
                broken.append(f"{pair['lost']} packets are said to be lost, though all arrived")
            if pair["latency"] and not 0 < pair["latency"]["min_ns"] <= pair["latency"]["max_ns"] < 10**9:
                broken.append(f"latencies are {pair['latency']}, though all clocks are one")
        self.stop()
        for one in sniffers.values():
            one.close()
        return coverage, broken

    def stop(self):
        for one in [*self.hosts.values(), self.collector]:
            one.stop()

    def mark(self):
        """Sends what is measured last: when the collector knows of it, it knows of all before it."""
        for _ in range(20):
            for client, server in self.marks():
                udp_way(self.lab.ns(client), self.address(server), MARKER + 1, mtu=600, count=5)

    def marks(self):
        """Pairs of ends, by which all sources and sinks have measured something."""
        return [("a", "b")] if self.place.startswith("uplink") else [("a1", "b1"), ("a1", "a2")]

    def history(self, what):
        return json.loads(self.lab.inside("outside", self.binary, "history", what, "--store", self.store, "--json"))[what]

    def told(self):
        """Waits until the collector knows all; returns the rows of coverage by class, and the pairs."""
        def knows():
            rows = [row for row in self.history("coverage") if (row["class"] or "").startswith("marker")]
            return sum(bool(row["measured"] or row["missed"] and not row["tagged"]) for row in rows) >= 2 * len(self.marks())
        end = time.monotonic() + 90
        while time.monotonic() < end and not knows():
            time.sleep(1)
        by_class = {}
        for row in self.history("coverage"):
            by_class.setdefault(row["class"], []).append(row)
        return by_class, self.history("pairs")


REASONS = {"no_option": "o", "no_lease": "l", "unproved": "p", "left": "p", "guarded": "p", "unmeasured": "a"}


def outcome(rows):
    """What coverage says of a direction: the share that was measured, or a letter for why it was not, or - if nothing was seen."""
    measured, tagged = (sum(row[key] or 0 for row in rows) for key in ("measured", "tagged"))
    missed = {}
    for row in rows:
        for reason, count in row["missed"].items():
            missed[reason] = missed.get(reason, 0) + count
    if tagged > measured:
        missed["unmeasured"] = tagged - measured
    if not measured and not missed:
        return "-"
    # What a veth's source and the uplink's both leave is missed twice.
    if measured * 4 >= sum(missed.values()):
        return str(100 * measured // (measured + sum(missed.values())))
    return REASONS.get(max(missed, key=missed.get), max(missed, key=missed.get))


def kind_of(found):
    return "-" if found == "-" else "m" if found.isdigit() else "n"


def walk(run, place):
    """All ways at a place. Returns cells by way, and what was broken or is not as expected."""
    coverage, broken = run.phase(place)
    cells = {}
    for way in ways_of(run.kind):
        row, found = expected(run.kind, place, way), []
        for proto in ("tcp", "udp"):
            pair = [outcome(coverage.get(class_of(way, proto, back), [])) for back in ("", " back")]
            found.append("/".join(pair) if run.passes[way, proto] else "x")
            wanted = getattr(row, proto) if row else "x"
            if ("".join(map(kind_of, pair)) if run.passes[way, proto] else "x") != wanted:
                broken.append(f"{way}: {proto} is {found[-1]} instead of {wanted}")
        cells[way] = " ".join(found)
    if outer := coverage.get("outer"):
        print(f"  the tunnel's outer packets: {outcome(outer)}, of which {[(row['measured'], row['missed']) for row in outer]}", flush=True)
    return cells, broken


def print_tables(cells, kinds):
    for place in PLACES:
        print(f"\n| hostint at {place} | {' | '.join(kinds)} |\n|---|{'---|' * len(kinds)}")
        for way in WAYS:
            print(f"| {way} | {' | '.join(cells.get((kind, place), {}).get(way, '') for kind in kinds)} |")
    print("\nTCP, UDP, there/back: percent of the packets that were measured; o no_option, l no_lease, p unproved, left or guarded, a other "
          "address at the sink, - nothing seen, x no way without hostint")
    for row in ROWS:
        print(f"| {row.place} | {row.way} | {row.kinds} | {row.tcp} {row.udp} | {row.why} |")


def main(binary):
    chosen, seconds = (os.environ.get("KINDS") or " ".join(KINDS)).split(), int(os.environ.get("SECONDS_OF_PODS", "30"))
    cells, broken = {}, []

    def note(kind, place, found):
        for what in found:
            broken.append(f"{kind}, hostint at {place}: {what}")
            print(f"  BROKEN {broken[-1]}", flush=True)

    for kind in chosen:
        run = Run(kind, binary)
        try:
            run.build()
            run.baseline()
            for place in PLACES:
                if kind in SHARED and "veth" in place:
                    continue
                print(f"== {kind}, hostint at {place}", flush=True)
                cells[kind, place], found = walk(run, place)
                note(kind, place, found)
            if kind == "ptp":
                print("== other tools' programs at the uplink", flush=True)
                note(kind, "uplink", beside_programs(run))
            if kind in ("ptp", "bridge", "macvlan"):
                line, found = pods_come_and_go(run, seconds)
                print(f"== {kind}: {line}", flush=True)
                note(kind, "uplink", found)
        finally:
            run.lab.close()
    print_tables(cells, chosen)
    if broken:
        sys.exit("\n".join(["pod-networks: not as promised:", *broken]))
    print("pod-networks: passed")


main(str(Path(sys.argv[1]).resolve()))
