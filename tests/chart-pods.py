#!/usr/bin/env python3
"""Runs the pods of the chart by podman, with the privileges, folders and arguments that it renders: chart-pods.py HOSTINT

Two nodes are network namespaces with an agent each, the collector is a third. No kubelet: what podman is given here is
read from the rendered DaemonSet and StatefulSet. Needs root, podman, runc and the tools of make charts.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from charts import CHART, ROOT, load, yaml

PREFIX = f"hchart{os.getpid()}-"
ADDRESSES = {"a": "10.97.1.1", "b": "10.97.1.2", "collector": "10.97.1.3"}
CONFIG = """
[sink]
dev = "default-route"
lease-key = "/etc/hostint/lease.key"
[source]
dev = "default-route"
lease-key = "/etc/hostint/lease.key"
[postcards]
drops = "all"
[tcp]
[[watch]]
to = ["10.97.1.1", "10.97.1.2"]
"""


def run(*command, **how):
    return subprocess.run([str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE, **how).stdout


def pods(switch=""):
    values = {"config": CONFIG, "leaseKey": {"existingSecret": "lease"}, "switch": switch, "image": {"repository": "localhost/hostint"}}
    texts = load(CHART).render(values, name="hostint", namespace="tests")
    objects = [found for path, text in texts.items() if path.endswith(".yaml") for found in yaml.safe_load_all(text) if found]
    specs = {found["kind"]: found["spec"]["template"]["spec"] for found in objects if "template" in found.get("spec", {})}
    files = {found["metadata"]["name"]: found["data"] for found in objects if found["kind"] == "ConfigMap"}
    return specs["DaemonSet"], specs["StatefulSet"], files


class Node:
    """A network namespace, and the folders that a node has."""

    def __init__(self, name, folder, files):
        self.name, self.folder, self.files = name, folder / name, files
        self.netns = PREFIX + name

    def path_of(self, volume, pod):
        """The folder of a volume, as a kubelet makes it."""
        path = self.folder / volume["name"]
        if "hostPath" in volume:
            return path
        path.mkdir(exist_ok=True)
        sources = volume.get("projected", {}).get("sources", [volume])
        for source in sources:
            if "configMap" in source:
                (path / "hostint.toml").write_text(self.files[source["configMap"]["name"]]["hostint.toml"])
            for item in source.get("secret", {}).get("items", []):
                file = path / item["path"]
                file.write_text("00112233445566778899aabbccddeeff\n")
                file.chmod(item["mode"])
        if group := pod.get("securityContext", {}).get("fsGroup"):
            os.chown(path, 0, group)
            path.chmod(0o2775)
        return path

    def arguments(self, pod, container):
        """What podman is given for a container of a pod."""
        context = {**pod.get("securityContext", {}), **container["securityContext"]}
        words = [f"--user={context['runAsUser']}:{context['runAsGroup']}", f"--network=ns:/run/netns/{self.netns}"]
        words += [f"--cap-drop={name}" for name in context["capabilities"]["drop"]]
        words += [f"--cap-add={name}" for name in context["capabilities"].get("add", [])]
        words += ["--read-only", "--read-only-tmpfs=false"] if context["readOnlyRootFilesystem"] else []
        words += ["--security-opt=no-new-privileges"] if not context["allowPrivilegeEscalation"] else []
        words += ["--security-opt=seccomp=unconfined"] if context["seccompProfile"]["type"] == "Unconfined" else []
        words += [f"--group-add={context['fsGroup']}"] if "fsGroup" in context else []
        volumes = {volume["name"]: volume for volume in pod["volumes"]} | {"history": {"name": "history"}}
        for mount in container["volumeMounts"]:
            volume = volumes.get(mount["name"], {"name": mount["name"]})
            mode = "ro" if mount.get("readOnly") else "rw"
            words.append(f"--volume={self.path_of(volume, pod)}:{mount['mountPath']}:{mode}")
        for variable in container.get("env", []):
            words.append(f"--env={variable['name']}={variable.get('value', 'node-' + self.name)}")
        words.append(f"--add-host=hostint-collector.tests.svc:{ADDRESSES['collector']}")
        return [*words, container["image"], *container["args"]]

    def inside(self, *command):
        return run("ip", "netns", "exec", self.netns, *command)

    def asks(self, url):
        """The status and the text of an answer."""
        text, _, status = self.inside("curl", "-s", "-w", "\n%{http_code}", "--max-time", "5", url).rpartition("\n")
        return int(status), text


def await_that(sentence, is_true):
    for _ in range(300):
        try:
            if is_true():
                print(f"  {sentence}")
                return
        except subprocess.CalledProcessError:
            pass
        time.sleep(0.1)
    sys.exit(f"chart-pods: it is not so within 30 s that {sentence}")


def main(binary):
    for program in ("podman", "runc", "curl"):
        if not shutil.which(program):
            sys.exit(f"chart-pods: no {program} (apt-get install {program})")
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        folder = Path(folder)
        podman = ["podman", "--root", folder / "root", "--runroot", folder / "run", "--storage-driver", "vfs", "--cgroup-manager",
                  "cgroupfs", "--events-backend", "none", "--runtime", shutil.which("runc")]
        agent, collector, files = pods()
        nodes = {name: Node(name, folder, files) for name in ADDRESSES}
        try:
            play(podman, nodes, agent, collector, binary, folder)
        finally:
            subprocess.run([*map(str, podman), "rm", "-a", "-f", "-t", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for node in nodes.values():
                subprocess.run(["ip", "netns", "del", node.netns], stderr=subprocess.DEVNULL)
                subprocess.run(["umount", node.folder / "bpffs"], stderr=subprocess.DEVNULL)
            subprocess.run(["ip", "netns", "del", PREFIX + "switch"], stderr=subprocess.DEVNULL)


def prepare(nodes, podman, binary, folder):
    """A switch between the nodes, their folders, and an image of the binary alone."""
    switch = PREFIX + "switch"
    run("ip", "netns", "add", switch)
    run("ip", "-n", switch, "link", "add", "br0", "type", "bridge")
    run("ip", "-n", switch, "link", "set", "br0", "up")
    for number, node in enumerate(nodes.values()):
        run("ip", "netns", "add", node.netns)
        run("ip", "-n", node.netns, "link", "add", "eth0", "type", "veth", "peer", "name", f"p{number}", "netns", switch)
        run("ip", "-n", switch, "link", "set", f"p{number}", "master", "br0", "up")
        run("ip", "-n", node.netns, "addr", "add", f"{ADDRESSES[node.name]}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            run("ip", "-n", node.netns, "link", "set", device, "up")
        run("ip", "-n", node.netns, "route", "add", "default", "via", "10.97.1.254")
        for name in ("bpffs", "state"):
            (node.folder / name).mkdir(parents=True)
        run("mount", "-t", "bpf", "bpf", node.folder / "bpffs")
        (node.folder / "machine-id").write_text(f"{number + 1:032x}\n")
    image = folder / "image"
    for name in ("usr/bin", "etc/hostint", "sys/fs/bpf", "var/lib/hostint-node", "var/lib/hostint", "run", "tmp"):
        (image / name).mkdir(parents=True)
    run("strip", "-o", image / "usr/bin/hostint", binary)
    (image / "etc/machine-id").touch()
    run("tar", "-C", image, "-cf", folder / "image.tar", ".")
    version = yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]
    run(*podman, "import", "--change", 'ENTRYPOINT ["/usr/bin/hostint"]', folder / "image.tar", f"localhost/hostint:{version}",
        stderr=subprocess.DEVNULL)


def play(podman, nodes, agent, collector, binary, folder):
    prepare(nodes, podman, binary, folder)
    limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"]

    def start(name, node, pod):
        run(*podman, "run", "-d", "--name", name, *limits, *node.arguments(pod, pod["containers"][0]))

    start("collector", nodes["collector"], collector)
    for name in "ab":
        start(f"agent-{name}", nodes[name], agent)
    a, b = nodes["a"], nodes["b"]
    ready, page = "http://127.0.0.1:13275/readyz", "http://127.0.0.1:13277"
    await_that("both agents are ready: sink, source, postcards and tcp", lambda: all(node.asks(ready)[0] == 200 for node in (a, b)))

    def are_measured():
        a.inside("python3", "-c", "import socket, time\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nfor _ in range(100):\n"
                 f" s.sendto(bytes(500), ('{ADDRESSES['b']}', 7000)); time.sleep(.002)")
        status = json.loads(run(*podman, "exec", "collector", "/usr/bin/hostint", "history", "pairs", "--json"))
        return any(pair["packets"] > 0 for pair in status["pairs"])

    await_that("packets from node a to node b are measured, and in the collector's history", are_measured)
    await_that("the collector's page knows the nodes by their names",
               lambda: {"node-a", "node-b"} <= set(nodes["collector"].asks(page + "/metrics")[1].split('"')))
    run(*podman, "stop", "-t", "15", "agent-a")
    code = run(*podman, "inspect", "--format", "{{.State.ExitCode}}", "agent-a").strip()
    await_that("an agent ends with 0, and its programs stay", lambda: code == "0" and any((a.folder / "bpffs/hostint").glob("*/links/*")))
    off, _, _ = pods("off")
    run(*podman, "run", "--rm", *limits, *a.arguments(off, off["initContainers"][0]))
    await_that("switch=off takes them off", lambda: not any((a.folder / "bpffs/hostint").glob("*/links/*")))
    run(*podman, "rm", "agent-a")
    start("agent-a", a, off)
    health = "http://127.0.0.1:13275" + off["containers"][0]["readinessProbe"]["httpGet"]["path"]
    await_that("an agent that is off is healthy, says so, and is not ready",
               lambda: a.asks(health)[0] == 200 and a.asks(ready)[0] == 503 and "off" in a.asks(ready)[1])
    on, _, _ = pods("on")
    run(*podman, "run", "--rm", *limits, *a.arguments(on, on["initContainers"][0]))
    await_that("switch=on lets it begin again", lambda: a.asks(ready)[0] == 200)
    print("chart-pods: passed")


main(Path(sys.argv[1]).resolve())
