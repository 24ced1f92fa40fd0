#!/usr/bin/env python3
"""Each role in a container with the least that it needs, and with less, by podman: container_roles.py IMAGE.tar [WORDS]

As root, with podman and runc; nothing is fetched. Every container has a read-only root, hostint's seccomp profile, no new
privileges, and only the capabilities of its row; without one of them it says which, and what gives a container that. WORDS chooses
cases by their names.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
PROFILE = f"seccomp={TREE}/packaging/seccomp.json"
IMAGE = "docker.io/library/hostint"
BPFFS = "--volume={bpf}:/sys/fs/bpf"
RUN = ["--tmpfs=/run/hostint", "--tmpfs=/run/hostint-postcards", "--tmpfs=/run/hostint-tcp"]
UNIFIED = next(line.split()[1] for line in Path("/proc/mounts").read_text().splitlines() if line.split()[2] == "cgroup2")
FILE = """
[sink]
dev = "v0"
node-id = 2
[source]
dev = "v0"
[collect]
listen = "127.0.0.1"
[[watch]]
to = "10.79.0.2"
"""

# The role: its command, the capabilities without which it ends, those without which it does less (and what it says then), mounts,
# and the words by which it is ready.
ROLES = {
    "sink": ("sink --dev v0 --node-id 2", "BPF NET_ADMIN PERFMON", {"NET_RAW": "no leases are kept"}, [BPFFS, *RUN], "sink attached"),
    "source": ("source attach --foreground --force --dev v0 --node-id 2", "BPF NET_ADMIN PERFMON NET_RAW", {}, [BPFFS, *RUN],
               "source attached"),
    "transit": ("transit --dev v0 --node-id 2", "BPF NET_ADMIN PERFMON", {}, [BPFFS], "transit hop attached"),
    "drops": ("postcards --drops", "BPF PERFMON", {"SYSLOG": ""}, RUN, "are reported"),
    "hops": ("postcards --hops --dev v0", "BPF NET_ADMIN PERFMON", {"SYSLOG": ""}, RUN, "are reported"),
    "tcp": ("tcp", "BPF PERFMON", {}, RUN, "connections are watched"),
    "option": ("tcp --option all", "BPF NET_ADMIN PERFMON", {}, [*RUN, f"--volume={UNIFIED}:/sys/fs/cgroup"],
               "connections are watched"),
    "collect": ("collect --listen 127.0.0.1 --http 127.0.0.1", "", {}, ["--user=65532:65532", "--volume={state}:/var/lib/hostint"],
                "collecting on"),
    "run": ("run", "BPF NET_ADMIN PERFMON NET_RAW SETUID SETGID KILL", {},
            [BPFFS, *RUN, "--volume={file}:/etc/hostint/hostint.toml:ro", "--volume={state}:/var/lib/hostint"], "source is attached"),
}


class Lab:
    """podman's folders, and a namespace with an interface."""

    def __init__(self, image):
        self.place = Path(tempfile.mkdtemp(prefix="hostint-containers-"))
        self.netns = f"hostint-containers-{os.getpid()}"
        self.count = 0
        try:
            self.prepare(image)
        except BaseException:
            self.end()
            raise

    def prepare(self, image):
        for command in [f"ip netns add {self.netns}", f"ip -n {self.netns} link set lo up",
                        f"ip -n {self.netns} link add v0 type veth peer name v1",
                        f"ip -n {self.netns} addr add 10.79.0.1/24 dev v0", f"ip -n {self.netns} link set v1 up",
                        f"ip -n {self.netns} link set v0 up"]:
            subprocess.run(command.split(), check=True)
        (self.place / "hostint.toml").write_text(FILE)
        named = self.podman("pull", "--quiet", f"oci-archive:{image}").stdout.split()[-1]
        names = json.loads(self.podman("image", "inspect", named).stdout)[0]["RepoTags"]
        assert [name.rsplit(":", 1)[0] for name in names] == [IMAGE], f"podman calls the image {names}"
        self.image = names[0].removeprefix("docker.io/library/")

    def engine(self):
        runtime = shutil.which("runc") or shutil.which("crun")
        return ["podman", "--root", self.place / "root", "--runroot", self.place / "run", "--storage-driver", "vfs",
                "--cgroup-manager", "cgroupfs", "--events-backend", "none", "--runtime", runtime]

    def podman(self, *args):
        done = subprocess.run([*self.engine(), *args], capture_output=True, text=True)
        assert done.returncode == 0, f"podman {args[0]}: {done.stderr}"
        return done

    def end(self):
        subprocess.run([*self.engine(), "rm", "-a", "-f", "-t", "0"], capture_output=True)
        subprocess.run(["ip", "netns", "del", self.netns], capture_output=True)
        for mounted in self.place.glob("*/bpf"):
            subprocess.run(["umount", mounted], capture_output=True)
        for cgroup in Path(UNIFIED).glob(f"{self.netns}*"):
            cgroup.rmdir()
        shutil.rmtree(self.place, ignore_errors=True)


class Container:
    """A container that runs, and what it says."""

    def __init__(self, lab, command, caps, options, profile=PROFILE):
        lab.count += 1
        self.lab, self.name = lab, f"hostint-{os.getpid()}-{lab.count}"
        self.folder = lab.place / str(lab.count)
        for name in ["bpf", "state"]:
            (self.folder / name).mkdir(parents=True)
        os.chown(self.folder / "state", 65532, 65532)
        subprocess.run(["mount", "-t", "bpf", "-o", "mode=700", "bpf", self.folder / "bpf"], check=True)
        paths = {"bpf": self.folder / "bpf", "state": self.folder / "state", "file": lab.place / "hostint.toml"}
        options = [str(option).format(**paths) for option in options]
        caps = [f"--cap-add={cap}" for cap in caps]
        self.said = open(self.folder / "said", "w+")
        self.process = subprocess.Popen(
            [*lab.engine(), "run", "--rm", "--name", self.name, "--network", f"ns:/run/netns/{lab.netns}", "--read-only",
             "--read-only-tmpfs=false", "--cap-drop=all", *caps, "--security-opt=no-new-privileges",
             *([f"--security-opt={profile}"] if profile else []), "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", *options,
             lab.image, *command.split()],
            stdin=subprocess.DEVNULL, stdout=self.said, stderr=subprocess.STDOUT)

    def text(self):
        return (self.folder / "said").read_text()

    def await_words(self, words):
        for _ in range(600):
            if words in self.text():
                return
            assert self.process.poll() is None, f"ended without \"{words}\":\n{self.text()}"
            time.sleep(0.05)
        raise AssertionError(f"did not say \"{words}\" within 30 seconds:\n{self.text()}")

    def execute(self, *command):
        return self.lab.podman("exec", self.name, "/usr/bin/hostint", *command).stdout

    def end(self):
        subprocess.run([*self.lab.engine(), "stop", "-t", "20", self.name], capture_output=True)
        return self.wait()

    def wait(self):
        code = self.process.wait(timeout=60)
        subprocess.run(["umount", self.folder / "bpf"], check=True)
        return code


def runs(lab, role, without="", words=None, more=(), caps=None, command=None):
    """The role becomes ready, says these words, and ends cleanly."""
    line, needed, optional, options, ready = ROLES[role]
    caps = set(needed.split()) | set(optional) if caps is None else caps
    container = Container(lab, command or line, caps - {without}, [*options, *more])
    try:
        container.await_words(ready)
        if words:
            container.await_words(words)
        if role in ["sink", "run"]:
            assert "node id" in container.execute("status")
        if role == "run":
            (collector,) = [pid for pid in Path("/proc").glob("[0-9]*/cmdline")
                            if pid.read_bytes().startswith(b"hostint\0collect\0--config\0/etc/hostint/hostint.toml")]
            status = (collector.parent / "status").read_text()
            assert "Uid:\t65532" in status and "CapEff:\t0000000000000000" in status, status
    finally:
        code = container.end()
    assert code == 0, f"ended with {code}:\n{container.text()}"
    assert "refuses" not in container.text().lower() or role == "hops", container.text()


def refuses(lab, role, words, without="", options=None, more=(), command=None, profile=PROFILE, caps=None):
    """The role ends at once, or says these words and goes on."""
    line, needed, optional, own, _ = ROLES[role]
    caps = set(needed.split()) | set(optional) if caps is None else caps
    container = Container(lab, command or line, caps - {without}, [*(own if options is None else options), *more], profile)
    try:
        code = container.process.wait(timeout=60)
    finally:
        container.end()
    said = container.text()
    assert code != 0 and words in said, f"ended with {code}, without \"{words}\":\n{said}"
    assert "sudo" not in said, f"nobody has sudo in a container:\n{said}"


def cases():
    for role, (_, needed, optional, _, _) in ROLES.items():
        yield f"{role}: runs", lambda lab, role=role: runs(lab, role)
        for cap, words in optional.items():
            yield f"{role}: without {cap}", lambda lab, role=role, cap=cap, words=words: runs(lab, role, cap, words)
        for cap in needed.split() if role not in ["run", "source"] else []:
            yield f"{role}: without {cap}", lambda lab, role=role, cap=cap: refuses(lab, role, f"--cap-add {cap})", cap)
    yield "source: without NET_RAW", lambda lab: refuses(lab, "source", "--cap-add NET_RAW", "NET_RAW")
    pod = ["--env=KUBERNETES_SERVICE_HOST=10.0.0.1"]
    yield "a pod: without BPF", lambda lab: refuses(lab, "sink", "securityContext.capabilities.add: [BPF]", "BPF", more=pod)
    yield "another user", lambda lab: refuses(lab, "sink", "--user 0 --cap-add", more=["--user=65532"], caps=set())
    yield "no bpffs", lambda lab: refuses(lab, "sink", "(try --volume /sys/fs/bpf:/sys/fs/bpf)", options=RUN)
    yield "no machine id", lambda lab: refuses(
        lab, "sink", "(try --node-id 2, or NODE_NAME in the environment, or --volume /etc/machine-id:/etc/machine-id)",
        command="sink --dev v0")
    yield "a name instead", lambda lab: runs(lab, "sink", command="sink --dev v0", more=["--env=NODE_NAME=worker-1"])
    yield "no folder for the socket", lambda lab: goes_on(
        lab, "sink", [BPFFS], "(try --volume /run/hostint:/run/hostint, or --tmpfs /run/hostint)")
    yield "no folder for the history", lambda lab: goes_on(
        lab, "collect", [], "(try --volume /var/lib/hostint:/var/lib/hostint, or --tmpfs /var/lib/hostint)")
    yield "a control group of its own", own_cgroup
    yield "the recorded demo", recorded_demo
    for role in ["sink", "drops", "tcp"]:
        yield f"{role}: the engine's own seccomp profile", lambda lab, role=role: refuses(
            lab, role, "the seccomp profile of this process refuses bpf(), which loads programs "
            "(try --security-opt seccomp=/usr/share/hostint/seccomp.json)", profile=None)
    yield "doctor", doctor


def goes_on(lab, role, options, words, command=None):
    """The role says these words and is ready all the same."""
    line, needed, optional, _, ready = ROLES[role]
    container = Container(lab, command or line, set(needed.split()) | set(optional), options)
    try:
        container.await_words(words)
        container.await_words(ready)
    finally:
        container.end()


def recorded_demo(lab):
    container = Container(lab, "demo --recorded", set(), ["--tmpfs=/tmp"])
    try:
        container.await_words("30 pairs from")
    finally:
        container.end()


def doctor(lab):
    """All that is withheld at once."""
    container = Container(lab, "doctor --json --dev v0", set(), [], profile=None)
    code = container.wait()
    text = container.text()
    found = {one["check"]: one for one in json.loads(text[text.index("{"):])["findings"]}
    assert code == 1 and found["capabilities"]["advice"].startswith("--cap-add BPF --cap-add NET_ADMIN"), text
    assert found["bpffs"]["advice"] == "--volume /sys/fs/bpf:/sys/fs/bpf", text
    everything = {"BPF", "NET_ADMIN", "PERFMON", "NET_RAW", "SYSLOG"}
    container = Container(lab, "doctor --json --dev v0", everything, [BPFFS], profile=None)
    assert container.wait() == 1
    text = container.text()
    found = {one["check"]: one for one in json.loads(text[text.index("{"):])["findings"]}
    assert found["seccomp"]["verdict"] == "fail" and "seccomp.json" in found["seccomp"]["advice"], text
    assert "kernel-part" not in found and "programs" not in found, text
    container = Container(lab, "doctor --json --dev v0", everything, [BPFFS])
    container.wait()
    text = container.text()
    found = {one["check"]: one for one in json.loads(text[text.index("{"):])["findings"]}
    assert "seccomp" not in found and found["programs"]["verdict"] == "ok", text


def own_cgroup(lab):
    """As containers see it that have a cgroup namespace of their own."""
    own = Path(UNIFIED) / lab.netns
    own.mkdir(exist_ok=True)
    goes_on(lab, "option", [*RUN, f"--volume={own}:/sys/fs/cgroup"],
            "so sockets outside of it are not reached (try --volume /sys/fs/cgroup:/sys/fs/cgroup)")


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: container_roles.py IMAGE.tar [WORDS]")
    lab = Lab(Path(sys.argv[1]).resolve())
    failed, began = [], time.monotonic()
    try:
        for name, case in cases():
            if not all(word in name for word in sys.argv[2:]):
                continue
            try:
                case(lab)
                print(f"ok: {name}", flush=True)
            except (AssertionError, subprocess.SubprocessError) as err:
                failed.append(name)
                print(f"FAILED: {name}: {err}", flush=True)
    finally:
        lab.end()
    if failed:
        sys.exit(f"container_roles.py: failed: {', '.join(failed)}")
    print(f"container_roles.py: all passed in {time.monotonic() - began:.0f} s")


main()
