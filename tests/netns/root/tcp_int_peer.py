# A host with TCP-INT 0.4: a small TCP of its own, and option 114 byte for byte as TCP-INT's program writes and reads it.
# Nothing of it is negotiated, no SYN has it, the newest values overwrite others, and an echo is repeated until the next one.
#
#	tcp_int_peer.py echo OWN-ADDRESS PORT SIZE HOW	accepts a connection, and answers each SIZE bytes with "ok"
#	tcp_int_peer.py ask OWN-ADDRESS PORT SERVER COUNT	connects, and sends COUNT times 100 bytes, each after an answer
#
# HOW is "enabled" (the option in each segment) or "echo-only" (in segments with a new echo). At its end it prints what it saw.
import json
import socket
import struct
import sys

FIN, SYN, ACK = 1, 2, 16


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def options_in(data):
    found, at = {}, 0
    while at < len(data) and data[at] != 0:
        if data[at] == 1:
            at += 1
            continue
        found[data[at]] = data[at : at + data[at + 1]]
        at += data[at + 1]
    return found


class TcpInt:
    def __init__(self, enabled):
        self.enabled, self.echo, self.pending = enabled, bytes(4), False
        self.tags, self.events, self.written = 0, [], 0

    def read(self, option):
        hop, latency = option[4], int.from_bytes(option[5:8], "big")
        if hop:
            self.tags += 1
            low = latency if latency < 0x8000 else latency >> 8 | 0x8000
            self.echo = bytes([option[3], (64 - hop & 15) << 4 | option[2] & 15]) + (low & 0xFFFF).to_bytes(2, "little")
            self.pending = True
        if option[9] >> 4:
            self.events.append(option[8:12].hex())

    def write(self):
        if not self.enabled and not self.pending:
            return b""
        self.pending = False
        self.written += 1
        return bytes([114, 12, 0xF0, 0, 0, 0, 0, 0]) + self.echo


class Connection:
    def __init__(self, own, port, enabled):
        self.out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self.inlet = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
        self.inlet.settimeout(30)
        self.own, self.port, self.option = socket.inet_aton(own), port, TcpInt(enabled)
        self.peer, self.peer_port, self.next, self.expected, self.stamp = None, 0, 1000, 0, 0

    def send(self, flags, data=b""):
        if flags & SYN:
            options = struct.pack("!BBHBBBBII", 2, 4, 1460, 1, 1, 8, 10, 1, self.stamp)
        else:
            options = struct.pack("!BBBBII", 1, 1, 8, 10, 1, self.stamp) + self.option.write()
        words = 5 + len(options) // 4
        head = struct.pack("!HHIIBBHHH", self.port, self.peer_port, self.next, self.expected, words << 4, flags, 65535, 0, 0)
        segment = head + options + data
        pseudo = self.own + self.peer + struct.pack("!HH", 6, len(segment))
        segment = segment[:16] + struct.pack("!H", checksum(pseudo + segment)) + segment[18:]
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(segment), 0, 0x4000, 64, 6, 0, self.own, self.peer)
        self.out.sendto(ip + segment, (socket.inet_ntoa(self.peer), 0))
        self.next = self.next + len(data) + (1 if flags & (SYN | FIN) else 0) & 0xFFFFFFFF

    # The next segment with anything new: its flags and its data.
    def receive(self):
        while True:
            packet = self.inlet.recv(65536)
            tcp = packet[(packet[0] & 15) * 4 :]
            source, dest, sequence, ack, words, flags = struct.unpack("!HHIIBB", tcp[:14])
            if dest != self.port or self.peer_port not in (0, source):
                continue
            head = (words >> 4) * 4
            options, data = options_in(tcp[20:head]), tcp[head:]
            if flags & SYN:
                self.peer, self.peer_port, self.expected = packet[12:16], source, sequence + 1
            elif sequence != self.expected:
                continue
            if 8 in options:
                self.stamp = int.from_bytes(options[8][2:6], "big")
            if 114 in options:
                self.option.read(options[114])
            if not flags & SYN:
                self.expected = self.expected + len(data) + (flags & FIN) & 0xFFFFFFFF
            return flags, data

    def tell(self):
        option = self.option
        print(json.dumps({"tags": option.tags, "events": option.events, "written": option.written}), flush=True)


def echo(own, port, size, how):
    connection = Connection(own, int(port), how == "enabled")
    print("ready", flush=True)
    connection.receive()
    connection.send(SYN | ACK)
    taken = 0
    while True:
        flags, data = connection.receive()
        taken += len(data)
        if flags & FIN:
            break
        if data:
            connection.send(ACK)
        if data and taken % int(size) == 0:
            connection.send(ACK, b"ok")
    connection.send(FIN | ACK)
    connection.tell()


def ask(own, port, server, count):
    connection = Connection(own, int(port), True)
    address, server_port = server.split(":")
    connection.peer, connection.peer_port = socket.inet_aton(address), int(server_port)
    connection.send(SYN)
    connection.receive()
    connection.send(ACK)
    for _ in range(int(count)):
        connection.send(ACK, b"?" * 100)
        while not connection.receive()[1]:
            pass
        connection.send(ACK)
    connection.send(FIN | ACK)
    while not connection.receive()[0] & FIN:
        pass
    connection.send(ACK)
    connection.tell()


{"echo": echo, "ask": ask}[sys.argv[1]](*sys.argv[2:])
