"""A flow that must not notice anything: steady.py receive ADDRESS PORT FILE | steady.py send ADDRESS PORT

Numbered datagrams, some 100 a second. The receiver checks each byte and writes to FILE how many came and how many are
missing, until it gets "end".
"""

import os
import socket
import sys
import time


def payload(number):
    return b"%08d" % number + bytes((number + i) % 256 for i in range(200))


def receive(address, port, file):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # The emulator may leave this process no time for seconds: that is no loss on the way.
    sock.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_RCVBUFFORCE", 33), 16 << 20)
    sock.bind((address, port))
    seen, newest, bad = 0, -1, 0
    while True:
        data = sock.recv(65536)
        if data == b"end":
            break
        try:
            number = int(data[:8])
        except ValueError:
            number = None
        if number is None or data != payload(number):
            bad += 1
        else:
            seen, newest = seen + 1, max(newest, number)
        with open(file + ".new", "w") as out:
            out.write(f"{seen} {newest + 1 - seen} {bad}\n")
        os.rename(file + ".new", file)


def send(address, port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect((address, port))
    number = 0
    while True:
        sock.send(payload(number))
        number += 1
        time.sleep(0.01)


{"receive": lambda args: receive(args[0], int(args[1]), args[2]),
 "send": lambda args: send(args[0], int(args[1]))}[sys.argv[1]](sys.argv[2:])
