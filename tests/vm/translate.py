"""Makes QEMU translate all of a guest's code anew: translate.py MONITOR

Code for single instructions is kept apart from that for longer runs of them, so changing over forgets what was kept.
"""

import socket
import sys
import time

monitor = socket.socket(socket.AF_UNIX)
monitor.connect(sys.argv[1])
# The name changed with version 8.1.
for state, seconds in [("on", 5), ("off", 0.5)]:
    for command in ["singlestep", "one-insn-per-tb"]:
        monitor.send(f"{command} {state}\n".encode())
    time.sleep(seconds)
