"""What happens to hostint on a node while pods come and go, and beside programs of other tools."""

import os
import threading
import time
from pathlib import Path

from lab import foreign_program
from traffic import udp_way


class Steady:
    """Traffic from a pod that was there before, which has to stay whole."""

    def __init__(self, run):
        self.run, self.ends, self.wrong, self.rounds = run, False, None, 0
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        while not self.ends and not self.wrong:
            self.wrong = self.run.go("pod to pod", "udp", count=50) or self.run.go("host to pod", "tcp", length=300_000)
            self.rounds += 1

    def end(self):
        self.ends = True
        self.thread.join()
        return self.wrong


def descriptors(process):
    """The open files of a process and of those that it started."""
    tasks = [process.pid]
    for task in tasks:
        tasks += map(int, Path(f"/proc/{task}/task/{task}/children").read_text().split())
    return sum(len(os.listdir(f"/proc/{task}/fd")) for task in tasks)


def pins(lab):
    found = (str(path.relative_to(lab.bpffs)) for path in lab.bpffs.rglob("*") if path.is_file())
    # These come as more flows are measured, whoever sends them.
    return sorted(path for path in found if "sink_fine_slots_" not in path)


def pods_come_and_go(run, seconds):
    """Makes pods one after the other while traffic runs; each has to be measured before it goes, and leaves nothing."""
    run.start("uplink")
    lab, broken, number, waits = run.lab, [], 0, []
    steady = Steady(run)
    time.sleep(3)
    before = lab.links("a"), pins(lab), descriptors(run.hosts["a"].process)
    end = time.monotonic() + seconds
    missed = 0
    while time.monotonic() < end:
        number += 1
        pod = lab.add_pod(f"c{number}", "a")
        begun = time.monotonic()
        while time.monotonic() < begun + 10:
            if wrong := udp_way(pod.netns, run.address("b1"), 8001, count=5, mtu=600):
                broken.append(f"pod {number}: {wrong}")
            flows = run.hosts["b"].status()["sink"]["flows"]
            if any(pod.address == flow["flow"]["src"] for flow in flows):
                waits.append(time.monotonic() - begun)
                break
        else:
            missed += 1
        lab.remove_pod(pod)
    if missed:
        broken.append(f"{missed} of {number} pods were not measured within 10 s")
    if wrong := steady.end():
        broken.append(f"traffic beside pods that come and go: {wrong}")
    time.sleep(1.5)
    after = lab.links("a"), pins(lab), descriptors(run.hosts["a"].process)
    if after[0] != before[0] or after[1] != before[1] or after[2] > before[2] + 8:
        broken.append(f"left of pods: {[set(new) ^ set(old) for old, new in zip(before[:2], after)]}, {before[2]} files became {after[2]}")
    run.stop()
    if left := [pin for pin in pins(lab) if "links/" in pin]:
        broken.append(f"left after detaching: {left}")
    waits.sort()
    middle = f"measured after {waits[len(waits) // 2]:.1f} s (the median), {waits[-1]:.1f} s at most" if waits else "none was measured"
    return f"{number} pods came and went in {seconds} s: {missed} were missed; {middle}; {steady.rounds} rounds beside them", broken


# Who was there first, where, and whether the other tool's program lets later ones run.
FOREIGN = [("before hostint", "egress", "next"), ("before hostint", "egress", "ends the chain"),
           ("in front, later", "egress", "next"), ("in front, later", "egress", "ends the chain"), ("behind, later", "egress", "ends the chain"),
           ("in front, later", "ingress", "next"), ("in front, later", "ingress", "ends the chain")]


def beside_programs(run):
    """Attaches another tool's program at the uplink of node a; traffic has to stay whole."""
    broken = []
    for when, hook, verdict in FOREIGN:
        def attach():
            return foreign_program(run.lab.ns("a"), "eth0", hook == "egress", 0 if verdict == "ends the chain" else -1, "front" in when)
        held = attach() if when == "before hostint" else ()
        run.start("uplink")
        steady = Steady(run)
        time.sleep(3)
        if not held:
            held = attach()
            time.sleep(2.5)
        counts = [run.hosts[name].counts()["sink"].get("received", 0) for name in ("a", "b")]
        if wrong := steady.end():
            broken.append(f"a program {when} at {hook}, {verdict}: {wrong}")
        wrong = run.go("pod to pod", "udp") or run.go("host to pod", "tcp")
        if wrong:
            broken.append(f"a program {when} at {hook}, {verdict}: {wrong}")
        grew = [run.hosts[name].counts()["sink"].get("received", 0) - count for name, count in zip(("a", "b"), counts)]
        sent, received = (count > 100 for count in reversed(grew))
        words = f"a program {when}, {hook}, {verdict}: {'measured' if sent else 'not measured'} there, " \
                f"{'measured' if received else 'not measured'} back"
        print(f"  {words}", flush=True)
        if (sent, received) != (hook == "ingress" or verdict == "next" or "behind" in when, True):
            broken.append(f"not as expected: {words}")
        for held_one in held:
            os.close(held_one)
        run.stop()
    return broken
