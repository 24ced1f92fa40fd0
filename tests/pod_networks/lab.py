"""Two nodes with pods of real CNI plugins, an outside host with a collector, and hostint at a place of choice."""

import ctypes
import json
import os
import signal
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from traffic import LIBC, inside

PLUGINS = "/usr/lib/cni"
PODS = "10.244.0.0/16"
SERVICE = "10.96.0.10"
OUTSIDE = "198.51.100.1"
COLLECTOR = "10.250.0.4"
NODES = {"a": ("10.250.0.1", 1), "b": ("10.250.0.2", 2)}
# Networks in which packets between nodes go in tunnels, and the longest packet in one.
OVERLAYS = {"vxlan": 1450, "geneve": 1450, "ipip": 1480, "wireguard": 1420}
# Networks whose pods' interfaces are made of the node's uplink.
SHARED = ("macvlan", "ipvlan")


def run(*command, **how):
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    done = subprocess.run([str(word) for word in command], text=True, **how)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}".strip())
    return done.stdout


def await_that(what, is_true, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := is_true():
            return found
        time.sleep(0.1)
    raise RuntimeError(f"not within {seconds} s: {what}")


class Pod:
    def __init__(self, name, node, netns):
        self.name, self.node, self.netns = name, node, netns


class Lab:
    """The namespaces, all of whose names begin with a prefix of this process."""

    def __init__(self, kind):
        self.kind, self.prefix = kind, f"pn{os.getpid()}-"
        self.folder = Path(tempfile.mkdtemp(prefix="pod-networks-"))
        self.pods, self.hostints, self.names = {}, [], []
        # The nodes' ends of their pods' interfaces.
        self.ends = "lxc-*" if kind == "netkit" else "veth*"
        self.bpffs = self.folder / "bpffs"
        self.bpffs.mkdir()
        run("mount", "-t", "bpf", "bpf", self.bpffs)

    def ns(self, name):
        return self.prefix + name

    def ip(self, name, *words):
        return run("ip", "-n", self.ns(name), *words)

    def inside(self, name, *command, **how):
        return run("ip", "netns", "exec", self.ns(name), *command, **how)

    def add(self, name):
        run("ip", "netns", "add", self.ns(name))
        self.names.append(name)
        self.ip(name, "link", "set", "lo", "up")

    def build(self):
        self.add("switch")
        self.ip("switch", "link", "add", "sw0", "type", "bridge")
        self.ip("switch", "link", "set", "sw0", "up")
        for name, address in {**{name: of[0] for name, of in NODES.items()}, "outside": COLLECTOR}.items():
            self.add(name)
            self.ip(name, "link", "add", "eth0", "type", "veth", "peer", "name", f"p-{name}", "netns", self.ns("switch"))
            self.ip("switch", "link", "set", f"p-{name}", "master", "sw0", "up")
            self.ip(name, "addr", "add", f"{address}/24", "dev", "eth0")
            self.ip(name, "link", "set", "eth0", "up")
        self.ip("outside", "addr", "add", f"{OUTSIDE}/32", "dev", "lo")
        for name, (address, number) in NODES.items():
            self.ip(name, "route", "add", "default", "via", COLLECTOR)
            self.inside(name, "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0")
            other = next(of for of in NODES if of != name)
            if self.kind in OVERLAYS:
                self.add_overlay(name, number)
            else:
                self.ip(name, "route", "add", f"10.244.{NODES[other][1]}.0/24", "via", NODES[other][0])
            self.add_rules(name)

    def mtu(self):
        return OVERLAYS.get(self.kind, 1500)

    def add_overlay(self, name, number):
        """A tunnel's device, and what leads to the other node's pods through it."""
        other, far = 3 - number, next(of[0] for of in NODES.values() if of[1] != number)
        if self.kind == "vxlan":
            return self.add_vxlan(name, number)
        # As Calico makes it for IPIP, and Cilium for WireGuard.
        local = NODES[name][0]
        how = {"geneve": ("type", "geneve", "id", "1", "remote", far), "ipip": ("type", "ipip", "local", local),
               "wireguard": ("type", "wireguard")}[self.kind]
        self.ip(name, "link", "add", "tunnel1", *how)
        if self.kind == "wireguard":
            self.add_peer(name, other, far)
        self.ip(name, "addr", "add", f"10.244.{number}.0/32", "dev", "tunnel1")
        self.ip(name, "link", "set", "tunnel1", "mtu", self.mtu(), "up")
        gateway = {"geneve": ("via", f"10.244.{other}.0"), "ipip": ("via", far), "wireguard": ()}[self.kind]
        if self.kind == "geneve":
            self.ip(name, "link", "set", "tunnel1", "address", f"0e:00:00:00:00:0{number}")
            self.ip(name, "neigh", "add", gateway[1], "lladdr", f"0e:00:00:00:00:0{other}", "dev", "tunnel1", "nud", "permanent")
        self.ip(name, "route", "add", f"10.244.{other}.0/24", *gateway, "dev", "tunnel1", *(["onlink"] if gateway else []))

    def add_peer(self, name, other, far):
        """The other node by its public key, with its pods."""
        secret = {number: self.folder / f"wireguard-{number}" for _, number in NODES.values()}
        for file in secret.values():
            if not file.exists():
                file.write_text(run("wg", "genkey"))
                file.chmod(0o600)
        peer = run("wg", "pubkey", input=secret[other].read_text()).strip()
        self.inside(name, "wg", "set", "tunnel1", "listen-port", "51871", "private-key", secret[3 - other], "peer", peer, "allowed-ips",
                    f"10.244.{other}.0/24", "endpoint", f"{far}:51871")

    def add_vxlan(self, name, number):
        """As flannel makes it: a VXLAN device, and routes, neighbours and forwarding entries of the other node."""
        self.ip(name, "link", "add", "flannel.1", "address", f"0e:00:00:00:00:0{number}", "type", "vxlan", "id", "1", "dstport",
                "8472", "local", NODES[name][0], "nolearning")
        self.ip(name, "addr", "add", f"10.244.{number}.0/32", "dev", "flannel.1")
        self.ip(name, "link", "set", "flannel.1", "mtu", "1450", "up")
        other, far = 3 - number, next(of[0] for of in NODES.values() if of[1] != number)
        mac, gateway = f"0e:00:00:00:00:0{other}", f"10.244.{other}.0"
        self.ip(name, "route", "add", f"10.244.{other}.0/24", "via", gateway, "dev", "flannel.1", "onlink")
        self.ip(name, "neigh", "add", gateway, "lladdr", mac, "dev", "flannel.1", "nud", "permanent")
        run("bridge", "-n", self.ns(name), "fdb", "add", mac, "dev", "flannel.1", "dst", far)

    def add_rules(self, name):
        """kube-proxy's rule against packets of unknown connections, and the network's own masquerading."""
        within = "{ 10.244.0.0/16 }" if self.kind in OVERLAYS else "{ 10.244.0.0/16, 10.250.0.0/24 }"
        rules = f"""table ip pods {{
            chain forward {{ type filter hook forward priority 0; ct state invalid drop; }}
            chain out {{ type nat hook postrouting priority 100; ip saddr {PODS} ip daddr != {within} masquerade; }}
            }}"""
        self.inside(name, "nft", "-f", "-", input=rules)

    def add_service(self, target, ports):
        """A service address of one pod, as kube-proxy translates it in its modes, and a port of the nodes."""
        for name, (address, _) in NODES.items():
            if self.kind == "ipvs":
                self.ip(name, "link", "add", "kube-ipvs0", "type", "dummy")
                self.ip(name, "addr", "add", f"{SERVICE}/32", "dev", "kube-ipvs0")
                self.inside(name, "sysctl", "-qw", "net.ipv4.vs.conntrack=1")
            for proto in ("tcp", "udp"):
                for port in ports["ipvs"] if self.kind == "ipvs" else []:
                    service = ("-t" if proto == "tcp" else "-u", f"{SERVICE}:{port}")
                    self.inside(name, "ipvsadm", "-A", *service, "-s", "rr")
                    self.inside(name, "ipvsadm", "-a", *service, "-r", f"{target}:{port}", "-m")
                for port in ports["iptables"]:
                    self.inside(name, "iptables", "-t", "nat", "-A", "PREROUTING", "-d", SERVICE, "-p", proto, "--dport", port, "-j",
                                "DNAT", "--to-destination", f"{target}:{port}")
                for port in ports["node"]:
                    self.inside(name, "iptables", "-t", "nat", "-A", "PREROUTING", "-d", address, "-p", proto, "--dport", port, "-j",
                                "DNAT", "--to-destination", f"{target}:{port}")
                    self.inside(name, "iptables", "-t", "nat", "-A", "POSTROUTING", "-d", target, "-p", proto, "--dport", port, "-j",
                                "MASQUERADE")
            numbers = ", ".join(map(str, ports["nft"]))
            self.inside(name, "nft", "-f", "-", input=f"""table ip services {{ chain pre {{ type nat hook prerouting priority -100;
                ip daddr {SERVICE} meta l4proto {{ tcp, udp }} th dport {{ {numbers} }} dnat to {target}; }}
                }}""")

    def network(self, node):
        """The configuration of the CNI network."""
        number = NODES[node][1]
        base = {"cniVersion": "0.4.0", "name": "pods"}
        ipam = {"type": "host-local", "dataDir": str(self.folder / f"ipam-{node}"), "routes": [{"dst": "0.0.0.0/0"}],
                "ranges": [[{"subnet": f"10.244.{number}.0/24"}]]}
        if self.kind in ("ptp", "ipvs"):
            return {**base, "type": "ptp", "mtu": 1500, "ipam": ipam}
        if self.kind in SHARED:
            start = 64 * number
            ipam["ranges"] = [[{"subnet": "10.250.0.0/24", "rangeStart": f"10.250.0.{start}", "rangeEnd": f"10.250.0.{start + 40}",
                                "gateway": COLLECTOR}]]
            return {**base, "type": self.kind, "master": "eth0", "mode": "bridge" if self.kind == "macvlan" else "l2", "ipam": ipam}
        del ipam["routes"]
        return {**base, "type": "bridge", "bridge": "cni0", "isDefaultGateway": True, "hairpinMode": True,
                "ipMasq": self.kind == "bridge-masq", "mtu": self.mtu(), "ipam": ipam}

    def cni(self, command, pod):
        network = self.network(pod.node)
        with inside(self.ns(pod.node)):
            done = subprocess.run([f"{PLUGINS}/{network['type']}"], input=json.dumps(network), text=True, capture_output=True, env={
                "CNI_COMMAND": command, "CNI_CONTAINERID": f"{self.prefix}{pod.name}", "CNI_NETNS": f"/run/netns/{pod.netns}",
                "CNI_IFNAME": "eth0", "CNI_PATH": PLUGINS, "PATH": os.environ["PATH"]})
        if done.returncode:
            raise RuntimeError(f"{network['type']} {command}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def add_pod(self, name, node):
        pod = Pod(name, node, self.ns(name))
        self.add(name)
        if self.kind == "netkit":
            self.add_netkit(pod)
        else:
            pod.address = self.cni("ADD", pod)["ips"][0]["address"].split("/")[0]
        self.pods[name] = pod
        return pod

    def add_netkit(self, pod):
        """As Cilium makes it, which has no plugin here: a pair in layer 3, and the pod's route to it."""
        number = NODES[pod.node][1]
        pod.address = f"10.244.{number}.{10 + len(self.pods)}"
        self.ip(pod.node, "link", "add", f"lxc-{pod.name}", "type", "netkit")
        peer = next(link for link in json.loads(self.ip(pod.node, "-j", "link", "show", "type", "netkit"))
                    if link["ifname"] != f"lxc-{pod.name}" and not link["ifname"].startswith("lxc-"))["ifname"]
        self.ip(pod.node, "link", "set", peer, "netns", pod.netns, "name", "eth0")
        self.ip(pod.node, "link", "set", f"lxc-{pod.name}", "up")
        self.ip(pod.node, "route", "add", f"{pod.address}/32", "dev", f"lxc-{pod.name}")
        self.ip(pod.name, "addr", "add", f"{pod.address}/32", "dev", "eth0")
        self.ip(pod.name, "link", "set", "eth0", "up")
        self.ip(pod.name, "route", "add", "default", "dev", "eth0")

    def remove_pod(self, pod):
        if self.kind != "netkit":
            self.cni("DEL", pod)
        run("ip", "netns", "del", pod.netns)
        self.names.remove(pod.name)
        del self.pods[pod.name]

    def links(self, name):
        return sorted(link["ifname"] for link in json.loads(self.ip(name, "-j", "link", "show")))

    def close(self):
        for one in list(self.hostints):
            one.stop()
        for pod in list(self.pods.values()):
            try:
                self.remove_pod(pod)
            except (RuntimeError, OSError):
                pass
        for name in self.names:
            subprocess.run(["ip", "netns", "del", self.ns(name)], stderr=subprocess.DEVNULL)
        subprocess.run(["umount", self.bpffs])
        subprocess.run(["rm", "-rf", self.folder])


class Hostint:
    """hostint run in a namespace."""

    def __init__(self, lab, binary, name, config):
        self.lab, self.binary, self.name = lab, binary, name
        self.file = lab.folder / f"{name}.toml"
        self.log = lab.folder / f"{name}.log"
        self.file.write_text(config)
        with self.log.open("w") as log:
            self.process = subprocess.Popen(["ip", "netns", "exec", lab.ns(name), binary, "run", "--bpffs", lab.bpffs, "--config",
                                             self.file], stdout=log, stderr=log, start_new_session=True)
        lab.hostints.append(self)

    def says(self, words):
        if self.process.poll() is not None:
            raise RuntimeError(f"hostint run on {self.name} ended: {self.log.read_text()}")
        return words in self.log.read_text()

    def command(self, *words):
        return self.lab.inside(self.name, self.binary, *words, "--bpffs", self.lab.bpffs)

    def status(self):
        return json.loads(self.command("status", "--json", "--all", "--flows", "100000"))

    def counts(self):
        """The counters of source and sink that are not 0."""
        status = self.status()
        return {role: {one["name"]: one["packets"] for one in (status.get(role) or {}).get("counters", []) if one["packets"]}
                for role in ("source", "sink")}

    def stop(self):
        """Ends it and takes all off."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        for role in ("source", "sink"):
            try:
                self.command(role, "detach")
            except RuntimeError:
                pass
        self.lab.hostints.remove(self)


class BpfAttr(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 152)]


def bpf(command, data):
    attr = BpfAttr()
    ctypes.memmove(ctypes.byref(attr), data, len(data))
    found = LIBC.syscall(321, command, ctypes.byref(attr), len(data))
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


def foreign_program(netns, dev, egress, verdict, first):
    """Attaches another tool's tcx program, which returns this verdict at once, and returns its link."""
    code = struct.pack("<BBhi", 0xb7, 0, 0, verdict) + struct.pack("<BBhi", 0x95, 0, 0, 0)
    licence = ctypes.create_string_buffer(b"GPL")
    text = ctypes.create_string_buffer(code, len(code))
    program = bpf(5, struct.pack("<IIQQIIQII", 3, 2, ctypes.addressof(text), ctypes.addressof(licence), 0, 0, 0, 0, 0))
    with inside(netns):
        index = int(next(iter(json.loads(run("ip", "-n", netns, "-j", "link", "show", "dev", dev))))["ifindex"])
        # BPF_LINK_CREATE; BPF_F_BEFORE without another program is the front.
        return bpf(28, struct.pack("<IIIIIIQ", program, index, 47 if egress else 46, 8 if first else 0, 0, 0, 0)), program
