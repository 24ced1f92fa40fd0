"""Traffic between network namespaces from one process: echoes, checked transfers, and what arrives with INT."""

import ctypes
import hashlib
import os
import random
import socket
import struct
import threading
import time
from contextlib import contextmanager
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3
PACKET_OUTGOING = 4
INT_OPTION = b"\xfd\x18HI"
TCP_BYTES = 2_000_000
TIMEOUT = 8


@contextmanager
def inside(netns):
    """This thread is in the namespace; sockets that it makes stay there."""
    here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{netns}", os.O_RDONLY)
    try:
        if LIBC.setns(there, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter the namespace {netns}")
        yield
    finally:
        LIBC.setns(here, CLONE_NEWNET)
        os.close(here)
        os.close(there)


def socket_in(netns, kind, family=socket.AF_INET, protocol=0):
    with inside(netns):
        return socket.socket(family, kind, protocol)


def content(seed, length):
    return random.Random(seed).randbytes(length)


def read_all(stream, length):
    data = bytearray()
    while len(data) < length and (more := stream.recv(min(1 << 16, length - len(data)))):
        data += more
    return bytes(data)


class Echo:
    """A server in a namespace: TCP at a port answers with the bytes that it got, UDP at the next port with the datagram."""

    def __init__(self, netns, port, address):
        self.tcp, self.udp = socket_in(netns, socket.SOCK_STREAM), socket_in(netns, socket.SOCK_DGRAM)
        self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for number, server in enumerate((self.tcp, self.udp)):
            server.bind((address, port + number))
        self.tcp.listen(16)
        for work in (self.serve_tcp, self.serve_udp):
            threading.Thread(target=work, daemon=True).start()

    def serve_tcp(self):
        while True:
            try:
                stream, _ = self.tcp.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(stream,), daemon=True).start()

    @staticmethod
    def answer(stream):
        try:
            with stream:
                stream.settimeout(TIMEOUT)
                length, = struct.unpack("!I", read_all(stream, 4))
                stream.sendall(read_all(stream, length))
        except (OSError, struct.error):
            pass

    def serve_udp(self):
        while True:
            try:
                data, sender = self.udp.recvfrom(1 << 16)
                self.udp.sendto(data, sender)
            except OSError:
                return

    def close(self):
        for server in (self.tcp, self.udp):
            try:
                server.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            server.close()


def tcp_way(netns, address, port, length=TCP_BYTES, seed=1):
    """Sends bytes there and back in small and large pieces. Returns None, or what was wrong."""
    data = content(seed, length)
    try:
        with socket_in(netns, socket.SOCK_STREAM) as stream:
            stream.settimeout(TIMEOUT)
            stream.connect((address, port))
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream.sendall(struct.pack("!I", length))
            for at in range(0, 20_000, 200):
                stream.sendall(data[at:at + 200])
            sender = threading.Thread(target=stream.sendall, args=(data[20_000:],))
            sender.start()
            got = read_all(stream, length)
            sender.join()
    except OSError as err:
        return f"TCP: {err}"
    if hashlib.sha256(got).digest() != hashlib.sha256(data).digest():
        return f"TCP: {len(got)} of {length} bytes came back, or other bytes"
    return None


def udp_way(netns, address, port, mtu=1500, count=300, seed=1):
    """Sends datagrams of all sizes up to the MTU, each of which has to come back as it was. Returns None, or what was wrong."""
    longest, lost = mtu - 28, []
    try:
        with socket_in(netns, socket.SOCK_DGRAM) as client:
            client.settimeout(2)
            client.connect((address, port))
            for number in range(count):
                data = content(seed + number, longest if number % 10 == 9 else 4 + number * 37 % (longest - 60))
                client.send(data)
                try:
                    if client.recv(1 << 16) != data:
                        return f"UDP: datagram {number} of {len(data)} bytes came back changed"
                except TimeoutError:
                    lost.append(f"{number} of {len(data)} bytes")
                    if len(lost) == 3:
                        break
    except OSError as err:
        return f"UDP: {err}"
    return f"UDP: no answer to datagram {', '.join(lost)}" if lost else None


def repeated_syns(*namespaces):
    """How often sockets of these namespaces had to repeat a SYN or its answer."""
    total = 0
    for netns in namespaces:
        with inside(netns):
            names, values = Path("/proc/thread-self/net/netstat").read_text().splitlines()[:2]
            total += int(dict(zip(names.split(), values.split()))["TCPSynRetrans"])
    return total


def int_in(packet):
    """What of INT an IPv4 packet has: "tunnel", "option", "empty" (room that no source filled in), or None."""
    if len(packet) < 28 or packet[0] >> 4 != 4:
        return None
    header, total, protocol = (packet[0] & 15) * 4, int.from_bytes(packet[2:4], "big"), packet[9]
    if int.from_bytes(packet[6:8], "big") & 0x3fff:
        return None
    if protocol == socket.IPPROTO_UDP:
        port, length = struct.unpack("!2xHH", packet[header:header + 6])
        marked = packet[1] & 4
        return "tunnel" if port in (4790, 33122) or marked else "option" if 8 <= length < total - header else None
    if protocol == socket.IPPROTO_TCP:
        at = packet.find(INT_OPTION, header + 20, header + (packet[header + 12] >> 4) * 4)
        return None if at < 0 else "option" if packet[at + 4] & 0x80 else "empty"
    return None


class Sniffer:
    """Counts packets with INT that arrive at a namespace's interface for the namespace itself, before any program sees them."""

    def __init__(self, netns, dev, addresses):
        self.socket = socket_in(netns, socket.SOCK_RAW, socket.AF_PACKET, socket.htons(ETH_P_ALL))
        with inside(netns):
            self.socket.bind((dev, ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        self.addresses = {socket.inet_aton(address) for address in addresses}
        self.counts = {"tunnel": 0, "option": 0, "empty": 0, "all": 0}
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            try:
                frame, (_, _, kind, *_) = self.socket.recvfrom(160)
            except OSError:
                return
            packet = frame[14:]
            if kind == PACKET_OUTGOING or packet[16:20] not in self.addresses:
                continue
            self.counts["all"] += 1
            if found := int_in(packet):
                self.counts[found] += 1

    def settle(self):
        """Returns when all that arrived is counted."""
        seen = -1
        while seen != self.counts["all"]:
            seen = self.counts["all"]
            time.sleep(0.03)

    def close(self):
        self.socket.close()
