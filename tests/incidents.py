#!/usr/bin/env python3
"""Real incidents between real hosts, and what the verdict says of each, and when.

Six hosts in two racks, as network namespaces: three behind each of two routers, between which four ways run, and a
collector. Each host runs all that a host runs. Each incident is made with the tools of the system, and ended again.

    make test-incidents                     all of them
    make test-incidents CASES="router ECMP" those whose sentence has one of these words
    make test-incidents CASES=hour          an hour in which the load changes all the time, and nothing is to be blamed
"""

import asyncio
import json
import math
import os
import random
import signal
import socket
import subprocess
import sys
import time

HOSTS = 6
WAYS = 4
RACKS = {1: "a", 2: "a", 3: "a", 4: "b", 5: "b", 6: "b"}
TCP_PORT, UDP_PORT, VOICE_PORT = 7000, 7001, 7002
HOOK_PORT = 7003
FLOWS = 2
CLASSES = f"""
[[watch]]
to = "10.91.0.0/16"
to-port = {VOICE_PORT}
class = "voice"
[[watch]]
to = "10.91.0.0/16"
class = "rest"
"""
# How long an incident lasts, and how long it is awaited that its words are gone.
LASTS_S, GONE_S = 100, 260
SAID_S, NEAR_S = 60, 20

HERE = os.path.dirname(os.path.abspath(__file__))
HOSTINT = os.environ.get("HOSTINT", f"{HERE}/../target/x86_64-unknown-linux-gnu/debug/hostint")
RUN = os.environ.get("HOSTINT_INCIDENTS", "/run/hostint-incidents")


def sh(command, check=True):
    """Runs a command line, which says itself what is wrong."""
    return subprocess.run(["sh", "-c", command], check=check, stdout=subprocess.PIPE, text=True).stdout


def inside(name, command, check=True):
    return sh(f"ip netns exec hi-{name} sh -c '{command}'", check)


def router_of(host):
    return f"r{RACKS[host]}"


def address(host):
    return f"10.91.{host}.2"


# The traffic of a host, in a process of its own.


class Echo(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, sender):
        self.transport.sendto(data, sender)


class Sender(asyncio.DatagramProtocol):
    def error_received(self, error):
        pass


def load(me):
    """How many times as much a host sends now as usual: if the load changes, a quarter to four times, in waves of its own."""
    if "HOSTINT_LOAD_CHANGES" not in os.environ:
        return 1.0
    now = time.time()
    return 2 ** (math.sin(now / (40 + 15 * me)) + math.sin(now / (230 + 30 * me)))


async def traffic(me):
    """Answers all, and asks all others. SIGUSR1 has it answer late, and SIGUSR2 at once."""
    loop = asyncio.get_running_loop()
    pause = {"s": 0.0}
    loop.add_signal_handler(signal.SIGUSR1, lambda: pause.update(s=0.4))
    loop.add_signal_handler(signal.SIGUSR2, lambda: pause.update(s=0.0))

    async def answer(reader, writer):
        try:
            while data := await reader.read(4096):
                if pause["s"]:
                    await asyncio.sleep(pause["s"])
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def ask(other):
        while True:
            writer = None
            try:
                opened = asyncio.open_connection(address(other), TCP_PORT)
                reader, writer = await asyncio.wait_for(opened, 5)
                while True:
                    writer.write(b"x" * 300)
                    await writer.drain()
                    await asyncio.wait_for(reader.read(4096), 10)
                    await asyncio.sleep(random.uniform(0.06, 0.14) / load(me))
            except (OSError, asyncio.TimeoutError):
                if writer:
                    writer.close()
                await asyncio.sleep(1)

    async def send(other, port):
        transport, _ = await loop.create_datagram_endpoint(Sender, remote_addr=(address(other), port))
        if port == VOICE_PORT:
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 46 << 2)
        while True:
            transport.sendto(b"y" * 200)
            await asyncio.sleep(random.uniform(0.06, 0.14) / load(me))

    await asyncio.start_server(answer, "0.0.0.0", TCP_PORT)
    for port in (UDP_PORT, VOICE_PORT):
        await loop.create_datagram_endpoint(Echo, local_addr=("0.0.0.0", port))
    await asyncio.sleep(1)
    tasks = []
    for other in (one for one in range(1, HOSTS + 1) if one != me):
        tasks += [ask(other) for _ in range(FLOWS)]
        tasks += [send(other, port) for port in (UDP_PORT, VOICE_PORT) for _ in range(FLOWS // 2)]
    await asyncio.gather(*tasks)


def relay(first, second, delay_s):
    """A tun device, which gives back each packet after a while by another one: a longer path."""
    import fcntl
    import struct
    from collections import deque

    def tun(name):
        device = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(device, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x0001 | 0x1000))
        return device

    import select

    entry, end = tun(first), tun(second)
    print("ready", flush=True)
    waiting = deque()
    while True:
        due = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        if select.select([entry], [], [], due)[0]:
            waiting.append((time.monotonic() + delay_s, os.read(entry, 65536)))
        while waiting and waiting[0][0] <= time.monotonic():
            os.write(end, waiting.popleft()[1])


def hook(path):
    """Takes what the collector posts at each change of its verdict, and writes a line of each."""
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Taker(BaseHTTPRequestHandler):
        def do_POST(self):
            posted = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(posted["verdict"]) + "\n")
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    HTTPServer(("127.0.0.1", HOOK_PORT), Taker).serve_forever()


# The network and its hosts.


class Network:
    def __init__(self):
        self.processes = {}
        self.down()
        os.makedirs(RUN, exist_ok=True)
        for name in ["ra", "rb", "col"] + [f"h{host}" for host in range(1, HOSTS + 1)]:
            sh(f"ip netns add hi-{name} && ip -n hi-{name} link set lo up")
        for router in ("ra", "rb"):
            inside(router, "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.fib_multipath_hash_policy=1")
            sh(f"ip netns exec hi-{router} nft add table ip lab")
            hook = "{ type filter hook forward priority 0; }"
            sh(f"ip netns exec hi-{router} nft 'add chain ip lab f {hook}'")
        for host in range(1, HOSTS + 1):
            self.join(f"h{host}", router_of(host), host)
        self.join("col", "ra", 99)
        self.ways()
        self.start_collector()
        for host in range(1, HOSTS + 1):
            self.start_agent(host)
            self.start_traffic(host)

    @staticmethod
    def join(name, router, number):
        sh(
            f"ip link add e0 netns hi-{name} type veth peer name to{number} netns hi-{router} && "
            f"ip -n hi-{name} addr add 10.91.{number}.2/24 dev e0 && ip -n hi-{name} link set e0 up && "
            f"ip -n hi-{router} addr add 10.91.{number}.1/24 dev to{number} && "
            f"ip -n hi-{router} link set to{number} up && ip -n hi-{name} route add default via 10.91.{number}.1"
        )

    @staticmethod
    def ways():
        for way in range(WAYS):
            sh(
                f"ip link add w{way} netns hi-ra type veth peer name w{way} netns hi-rb && "
                f"ip -n hi-ra addr add 10.92.{way}.1/24 dev w{way} && ip -n hi-ra link set w{way} up && "
                f"ip -n hi-rb addr add 10.92.{way}.2/24 dev w{way} && ip -n hi-rb link set w{way} up"
            )
        for router, end, far in (("ra", 2, [4, 5, 6]), ("rb", 1, [1, 2, 3, 99])):
            hops = " ".join(f"nexthop via 10.92.{way}.{end}" for way in range(WAYS))
            for number in far:
                sh(f"ip -n hi-{router} route add 10.91.{number}.0/24 {hops}")

    def start(self, key, name, arguments, environment=None):
        log = open(f"{RUN}/{key}.log", "ab")
        command = ["ip", "netns", "exec", f"hi-{name}"] + arguments
        environment = {**os.environ, **(environment or {})}
        self.processes[key] = subprocess.Popen(
            command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment, start_new_session=True
        )

    def end(self, key, number=signal.SIGTERM):
        process = self.processes.pop(key)
        process.send_signal(number)
        process.wait()

    def start_collector(self):
        with open(f"{RUN}/collector.toml", "w", encoding="utf-8") as file:
            file.write(f'[collect]\nstore = "{RUN}/history.db"\noutput = "/dev/null"\n')
            file.write(f'webhook = "http://127.0.0.1:{HOOK_PORT}/"\n{CLASSES}')
        self.start("hook", "col", [sys.executable, os.path.abspath(__file__), "hook", f"{RUN}/hook.jsonl"])
        self.start("collector", "col", [HOSTINT, "collect", "--config", f"{RUN}/collector.toml"])

    def start_agent(self, host):
        os.makedirs(f"{RUN}/h{host}", exist_ok=True)
        identity = f'node-name = "h{host}"\nnode-id = {host}\nlabel = ["rack={RACKS[host]}"]\n'
        collector = 'collector = "10.91.99.2"\n'
        with open(f"{RUN}/h{host}.toml", "w", encoding="utf-8") as file:
            file.write(f'[sink]\n{identity}dev = "e0"\nhost-times = true\n{collector}[source]\ndev = "e0"\n')
            file.write(CLASSES)
            file.write(f'[postcards]\n{identity}drops = "all"\n{collector}[tcp]\n{identity}{collector}')
        arguments = [HOSTINT, "run", "--config", f"{RUN}/h{host}.toml"]
        self.start(f"agent{host}", f"h{host}", arguments, {"HOSTINT_RUN": f"{RUN}/h{host}"})

    def start_traffic(self, host):
        self.start(f"traffic{host}", f"h{host}", [sys.executable, os.path.abspath(__file__), "traffic", str(host)])

    def down(self):
        for key in list(self.processes):
            process = self.processes[key]
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = {}
        for line in sh("ip netns list").splitlines():
            if line.startswith("hi-"):
                sh(f"ip netns del {line.split()[0]}")
        sh(f"rm -rf {RUN}")

    @staticmethod
    def posted():
        """What the webhook was told, in words."""
        try:
            with open(f"{RUN}/hook.jsonl", encoding="utf-8") as file:
                return [said_of(json.loads(line)) for line in file]
        except FileNotFoundError:
            return []

    @staticmethod
    def verdict():
        text = sh(f"{HOSTINT} history verdict --json --store {RUN}/history.db 2>/dev/null", check=False)
        return json.loads(text)["verdict"] if text.strip() else None


# The incidents: a sentence, what begins it, what ends it, and which words are right.


def rule(router, text):
    """A rule of a router's firewall, and what takes it away."""
    return (
        lambda net: sh(f"ip netns exec hi-{router} nft 'add rule ip lab f {text}'"),
        lambda net: sh(f"ip netns exec hi-{router} nft flush chain ip lab f"),
    )


def both(*pairs):
    return (lambda net: [begin(net) for begin, _ in pairs], lambda net: [end(net) for _, end in pairs])


def percent(share):
    if share == 100:
        return "counter drop"
    return f"numgen random mod 1000 < {int(share * 10)} counter drop"


def firewall(host, text):
    hook = "{ type filter hook input priority 0; }"
    return (
        lambda net: sh(
            f"ip netns exec hi-h{host} nft add table ip lab; ip netns exec hi-h{host} nft 'add chain ip lab i {hook}'; "
            f"ip netns exec hi-h{host} nft 'add rule ip lab i {text}'"
        ),
        lambda net: sh(f"ip netns exec hi-h{host} nft delete table ip lab"),
    )


def shaped(name, device, rate, latency="400ms"):
    return (
        lambda net: sh(
            f"tc -n hi-{name} qdisc add dev {device} root tbf rate {rate} burst 4k latency {latency}"
        ),
        lambda net: sh(f"tc -n hi-{name} qdisc del dev {device} root"),
    )


def shaped_class():
    """Both routers shape the voice to their hosts: each packet waits until the one before it was sent slowly."""
    ends = [(router_of(host), f"to{host}") for host in range(1, HOSTS + 1)]

    def begin(net):
        for router, device in ends:
            tc = f"tc -n hi-{router}"
            sh(
                f"{tc} qdisc add dev {device} root handle 1: htb default 1 && "
                f"{tc} class add dev {device} parent 1: classid 1:1 htb rate 1gbit && "
                f"{tc} class add dev {device} parent 1: classid 1:10 htb rate 250kbit burst 300 cburst 300"
            )
        for router in ("ra", "rb"):
            sh(f"ip netns exec hi-{router} nft 'add rule ip lab f ip dscp ef meta priority set 1:10'")

    def end(net):
        for router in ("ra", "rb"):
            sh(f"ip netns exec hi-{router} nft flush chain ip lab f")
        for router, device in ends:
            sh(f"tc -n hi-{router} qdisc del dev {device} root")

    return begin, end


def longer(router, host, delay_s):
    def begin(net):
        arguments = [sys.executable, os.path.abspath(__file__), "relay", "long0", "long1", str(delay_s)]
        net.start("relay", router, arguments)
        while "ready" not in open(f"{RUN}/relay.log", encoding="utf-8").read():
            time.sleep(0.05)
        inside(router, "sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.long1.rp_filter=0")
        sh(
            f"ip -n hi-{router} link set long0 up && ip -n hi-{router} link set long1 up && "
            f"ip -n hi-{router} route add default dev long0 table 100 && "
            f"ip -n hi-{router} rule add to {address(host)} iif long1 lookup main priority 90 && "
            f"ip -n hi-{router} rule add to {address(host)} lookup 100 priority 100"
        )

    def end(net):
        sh(f"ip -n hi-{router} rule del priority 90; ip -n hi-{router} rule del priority 100")
        time.sleep(delay_s * 3)
        net.end("relay")

    return begin, end


def to_process(key, begin_signal, end_signal):
    return (
        lambda net: net.processes[key].send_signal(begin_signal),
        lambda net: net.processes[key].send_signal(end_signal),
    )


def killed_agent(host):
    return lambda net: net.end(f"agent{host}", signal.SIGKILL), lambda net: net.start_agent(host)


def restarted_traffic(host):
    def begin(net):
        net.end(f"traffic{host}")
        time.sleep(4)
        net.start_traffic(host)

    return begin, lambda net: None


def restarted_agent(host):
    def begin(net):
        net.end(f"agent{host}")
        net.start_agent(host)

    return begin, lambda net: None


def surge(source, sink):
    def begin(net):
        net.start("server", f"h{sink}", ["iperf3", "-s", "-p", "5999"])
        time.sleep(0.5)
        to = address(sink)
        net.start("client", f"h{source}", ["iperf3", "-c", to, "-p", "5999", "-u", "-b", "20M", "-t", "1000"])

    return begin, lambda net: (net.end("client"), net.end("server"))


def link(name, device):
    return (
        lambda net: sh(f"ip -n hi-{name} link set {device} down"),
        lambda net: sh(f"ip -n hi-{name} link set {device} up && ip -n hi-{name} route replace default via 10.91.{name[1:]}.1"),
    )


def mtu(host):
    router = router_of(host)
    return (
        lambda net: sh(f"ip -n hi-{router} link set to{host} mtu 1300"),
        lambda net: sh(f"ip -n hi-{router} link set to{host} mtu 1500"),
    )


def one_way_only():
    """The router takes one of four ways for all, as after a failure of the others."""

    def hops(count):
        return " ".join(f"nexthop via 10.92.{way}.2" for way in range(count))

    def route(count):
        return lambda net: [sh(f"ip -n hi-ra route replace 10.91.{far}.0/24 {hops(count)}") for far in (4, 5, 6)]

    return route(1), route(WAYS)


def nothing():
    return lambda net: None, lambda net: None


QUIET = "quiet"
CASES = [
    # sentence, (begin, end), right kinds with subjects; QUIET: nothing may be blamed; a note has to be said beside
    ("5 % lost at a router to one host", rule("ra", f"ip daddr {address(2)} {percent(5)}"), ["host-in h2"]),
    ("1 % lost at a router to one host", rule("rb", f"oifname to5 {percent(1)}"), ["host-in h5"]),
    ("3 % lost at a router from one host", rule("ra", f"iifname to3 {percent(3)}"), ["host-out h3"]),
    ("all lost at a router to one host", rule("rb", f"oifname to6 {percent(100)}"), ["unreached h6"]),
    ("one of four ECMP ways loses 5 %", rule("ra", f"oifname w1 {percent(5)}"), ["label-out rack=a some", "label-in rack=b some", "between some"]),
    ("all four ways from rack a lose 2 %", rule("ra", f"oifname \"w*\" {percent(2)}"), ["label-out rack=a", "label-in rack=b", "between"]),
    ("one pair loses 10 %", rule("ra", f"ip saddr {address(1)} ip daddr {address(5)} {percent(10)}"), ["pair h1 h5"]),
    ("both routers lose 2 % of all", both(rule("ra", percent(2)), rule("rb", percent(2))), ["everywhere"]),
    ("a class is policed: 4 % of it is lost", both(rule("ra", f"ip dscp ef {percent(4)}"), rule("rb", f"ip dscp ef {percent(4)}")), ["class voice"]),
    ("a class is shaped: its packets wait", shaped_class(), ["class voice"]),
    ("a host's firewall drops 5 % behind the strip", firewall(4, f"tcp dport {TCP_PORT} {percent(5)}"), [QUIET, "host-drops-in h4"]),
    ("a host's own queue is too slow", shaped("h1", "e0", "600kbit"), ["host-queue h1", "host-drops-out h1", "host-out h1"]),
    ("a router's queue to one host is too slow", shaped("rb", "to4", "600kbit"), ["host-in h4"]),
    ("the path to one host is 5 ms longer", longer("ra", 2, 0.005), ["host-in h2"]),
    ("an application answers late", to_process("traffic3", signal.SIGUSR1, signal.SIGUSR2), [QUIET, "note answers-late h3"]),
    ("an application hangs", to_process("traffic3", signal.SIGSTOP, signal.SIGCONT), [QUIET, "receiver h3", "reads-late h3"]),
    ("an agent is killed", killed_agent(6), ["gone h6"]),
    ("an agent restarts, as at an upgrade", restarted_agent(5), [QUIET]),
    ("a deploy restarts the application", restarted_traffic(5), [QUIET]),
    ("the collector is starved", to_process("collector", signal.SIGSTOP, signal.SIGCONT), [QUIET, "collector"]),
    ("the interface of a host is down", link("h4", "e0"), ["gone h4"]),
    ("the MTU to one host falls to 1300", mtu(2), [QUIET]),
    ("the routes change: one way for all", one_way_only(), [QUIET]),
    ("a surge of traffic to one host", surge(1, 4), [QUIET, "coverage h1"]),
    ("nothing", nothing(), [QUIET]),
]


def notes_of(verdict):
    notes = verdict["notes"] if verdict else []
    return {"note " + words_of(note) for note in notes}


def said_of(verdict):
    """What a verdict says first, in a line such as 'host-in h2', 'label-out rack=a some'; QUIET if nothing is blamed."""
    if verdict is None or verdict["state"] == "healthy":
        return QUIET
    if not verdict["causes"]:
        return QUIET if verdict["state"] == "cannot-tell" else verdict["state"]
    return words_of(verdict["causes"][0])


def words_of(cause):
    words = [cause["kind"]]
    for subject in cause["subjects"]:
        if "node" in subject:
            words.append(subject.get("name") or f"h{subject['node']}")
        elif "label" in subject:
            words.append("{label}={value}".format(**subject["label"]))
        else:
            words.append(str(subject.get("class")))
    if cause.get("some_flows"):
        words.append("some")
    return " ".join(words)


def is_right(said, right):
    kinds = [one for one in right if one.startswith("between")]
    return said in right or any(said.startswith("between") and said.endswith("some") == one.endswith("some") for one in kinds)


def await_usual(net):
    """Latency is judged from some minutes on."""
    begun = time.time()
    while (net.verdict() or {"judged": {"latency_pairs": 0}})["judged"]["latency_pairs"] < HOSTS * (HOSTS - 1):
        if time.time() - begun > 1200:
            sys.exit("what is usual was not known after 20 minutes")
        time.sleep(5)
    return time.time() - begun


def await_quiet(net, longest_s):
    begun = time.time()
    calm = 0
    while time.time() - begun < longest_s:
        verdict = net.verdict()
        is_calm = verdict is not None and verdict["state"] == "healthy" and verdict["judged"]["pairs"] >= HOSTS * (HOSTS - 1)
        calm = calm + 1 if is_calm else 0
        if calm >= 4:
            return time.time() - begun
        time.sleep(2)
    return None


def judge(net, sentence, steps, right):
    begin, end = steps
    begun = time.time()
    posted = len(net.posted())
    begin(net)
    changes, first_right, onset, false_words, notes = [], None, None, set(), set()
    while time.time() - begun < LASTS_S:
        verdict = net.verdict()
        said = said_of(verdict)
        notes |= notes_of(verdict)
        if not changes or changes[-1][1] != said:
            changes.append((round(time.time() - begun), said))
        if said != QUIET or QUIET in right:
            if not is_right(said, right):
                false_words.add(said)
            elif first_right is None and said != QUIET:
                first_right = time.time() - begun
        if said != QUIET and is_right(said, right):
            onset = verdict["causes"][0]["since_ns"] / 1e9 - begun if verdict["causes"] else None
        time.sleep(2)
    end(net)
    gone = await_quiet(net, GONE_S)
    final = changes[-1][1]
    is_named = first_right is not None or QUIET in right
    is_noted = notes >= {one for one in right if one.startswith("note ")}
    row = {
        "sentence": sentence,
        "right": is_named and is_noted and is_right(final, right) and not (QUIET in right and false_words),
        "after_s": first_right and round(first_right),
        "onset_off_s": None if onset is None else round(onset),
        "false": sorted(false_words),
        "quiet_after_s": gone and round(gone),
        "notes": sorted(notes),
        "posted": net.posted()[posted:],
        "changes": changes,
    }
    print(json.dumps(row), flush=True)
    return row


def bulk(net, number):
    """One host sends to another one for a while, with iperf3."""
    source, sink = random.sample(range(1, HOSTS + 1), 2)
    seconds, rate = random.randrange(20, 180), random.choice(["2M", "8M", "20M"])
    server, client = f"server{number}", f"client{number}"
    net.start(server, f"h{sink}", ["iperf3", "-s", "-1", "-p", "5999"])
    time.sleep(0.5)
    kind = random.choice([[], ["-u"], ["-R"]])
    net.start(client, f"h{source}", ["iperf3", "-c", address(sink), "-p", "5999", "-b", rate, "-t", str(seconds)] + kind)
    return [server, client]


def quiet_hour(net, seconds):
    """The load of each host changes all the time, bulk flows come and go, and applications are restarted."""
    begun, alarms, looks, running, number = time.time(), [], 0, [], 0
    while time.time() - begun < seconds:
        verdict = net.verdict()
        said, looks = said_of(verdict), looks + 1
        if said != (alarms[-1][1] if alarms else QUIET):
            alarms.append((round(time.time() - begun), said))
            print(json.dumps(alarms[-1]), verdict["text"] if said != QUIET else "", flush=True)
        running = [key for key in running if net.processes[key].poll() is None]
        if not running:
            number += 1
            running = bulk(net, number)
            if number % 5 == 0:
                restarted_traffic(random.randrange(1, HOSTS + 1))[0](net)
        time.sleep(2)
    # Datagrams of iperf3 fill the MTU, so that less of the traffic is measured, as is said then.
    thin = sum(said.startswith("coverage ") for _, said in alarms)
    false = sum(said != QUIET for _, said in alarms) - thin
    print(
        f"{looks} verdicts in {seconds} s of changing load, {number} bulk flows: {false} false alarms, and {thin} times less "
        "was measured, and that was said",
        flush=True,
    )
    return false


def main():
    if sys.argv[1:2] == ["traffic"]:
        asyncio.run(traffic(int(sys.argv[2])))
        return 0
    if sys.argv[1:2] == ["hook"]:
        hook(sys.argv[2])
        return 0
    if sys.argv[1:2] == ["relay"]:
        relay(sys.argv[2], sys.argv[3], float(sys.argv[4]))
        return 0
    words = sys.argv[1:]
    if words[:1] == ["hour"]:
        os.environ["HOSTINT_LOAD_CHANGES"] = "1"
    chosen = [case for case in CASES if not words or any(word in case[0] for word in words)]
    net = Network()
    try:
        print(f"all is well after {await_quiet(net, 300)} s", flush=True)
        print(f"what is usual is known after {await_usual(net):.0f} s", flush=True)
        if words[:1] == ["hour"]:
            return 1 if quiet_hour(net, 3600) else 0
        rows = [judge(net, *case) for case in chosen]
    finally:
        net.down()
    right = sum(row["right"] for row in rows)
    said = [row for row in rows if row["after_s"] is not None]
    soon = sum(row["after_s"] <= SAID_S for row in said)
    near = sum(abs(row["onset_off_s"] or 0) <= NEAR_S for row in said)
    print(f"right: {right} of {len(rows)}; of {len(said)} that were said: within {SAID_S} s {soon}, beginning within {NEAR_S} s {near}")
    return 0 if right * 100 >= 95 * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
