#!/usr/bin/env python3
"""Renders the chart with Helm's own engine, by a table of values, and checks what comes out: make charts

Each object is valid by the strict schemas of the four newest versions of Kubernetes that kubernetes-validate has, what
refers to something finds it, values.schema.json refuses what is wrong, and packaging/kustomize is what the chart renders
by default (HOSTINT_BLESS=1 writes it). Objects of the Prometheus operator have no schema there: what must be in them is
checked here. No API server or scheduler is asked. What packaging/operators.md names has to exist, too.
"""

import copy
import functools
import json
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHART = ROOT / "packaging/helm/hostint"
BASE = ROOT / "packaging/kustomize/hostint.yaml"
OWN_PYTHON = ROOT / "target/charts-venv/bin/python"

if Path(sys.prefix) != OWN_PYTHON.parent.parent:
    if not OWN_PYTHON.exists():
        print("charts: the chart is not checked, for its tools are missing (try: sudo packaging/install-build-deps.sh --lint)",
              file=sys.stderr)
        sys.exit(1 if os.environ.get("CI") else 0)
    os.execv(OWN_PYTHON, [OWN_PYTHON, *sys.argv])

import helm_python  # noqa: E402
import jsonschema  # noqa: E402
import yaml  # noqa: E402
from kubernetes_validate.utils import all_versions, schema_contents  # noqa: E402
from referencing import Registry, Resource  # noqa: E402

VERSIONS = sorted(set(all_versions()), key=lambda version: [int(part) for part in version.split(".")])[-4:]

MONITORED = {"http": {"address": "0.0.0.0"}}
KEY_FILE = '[sink]\ndev = "eth1"\nlease-key = "/etc/hostint/lease.key"\n'
ODD_FILE = '\n  [sink]\ndev = "{{ .Values.image.tag }}"   # \'quotes\' "and" tabs\t: | >\n\n\n'
DIGEST = "sha256:" + "a1" * 32


def spec(kind, objects):
    return next(found for found in objects if found["kind"] == kind)["spec"]


def agent(objects):
    return spec("DaemonSet", objects)["template"]["spec"]


def kinds(objects):
    return sorted(found["kind"] for found in objects)


def files(objects):
    """The config files by the name of their ConfigMap."""
    maps = {found["metadata"]["name"]: found["data"] for found in objects if found["kind"] == "ConfigMap"}
    return {name: data["hostint.toml"] for name, data in maps.items() if "hostint.toml" in data}


# A sentence, values, and what is true of the objects.
CASES = [
    ("by default each node has an agent with five capabilities and no token, and one collector has none", {}, lambda all: (
        kinds(all) == ["ConfigMap", "ConfigMap", "DaemonSet", "Service", "Service", "ServiceAccount", "StatefulSet"]
        and agent(all)["containers"][0]["securityContext"]["capabilities"]
        == {"drop": ["ALL"], "add": ["BPF", "NET_ADMIN", "PERFMON", "NET_RAW", "SYSLOG"]}
        and spec("StatefulSet", all)["template"]["spec"]["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        and "initContainers" not in agent(all) and "hostPID" not in agent(all))),
    ("a file with anything in it arrives as it is", {"config": ODD_FILE}, lambda all: files(all)["test-hostint"] == ODD_FILE),
    ("a lease key is readable by its owner alone, and no value has it",
     {"config": KEY_FILE, "leaseKey": {"existingSecret": "lease", "key": "k"}}, lambda all: (
         agent(all)["volumes"][0]["projected"]["sources"][1]
         == {"secret": {"name": "lease", "items": [{"key": "k", "path": "lease.key", "mode": 0o400}]}})),
    ("legacy adds capabilities of older kernels and runtimes", {"legacy": True}, lambda all: (
        agent(all)["containers"][0]["securityContext"]["capabilities"]["add"][-2:] == ["SYS_ADMIN", "SYS_RESOURCE"])),
    ("tcp alone needs two capabilities, and a profile of the node's",
     {"capabilities": ["BPF", "PERFMON"], "appArmorProfile": None,
      "seccompProfile": {"type": "Localhost", "localhostProfile": "hostint.json"}}, lambda all: (
          agent(all)["containers"][0]["securityContext"]["capabilities"]["add"] == ["BPF", "PERFMON"]
          and agent(all)["containers"][0]["securityContext"]["seccompProfile"]["localhostProfile"] == "hostint.json"
          and "appArmorProfile" not in agent(all)["containers"][0]["securityContext"])),
    ("everything that Prometheus and Grafana need, by services",
     {**MONITORED, "metrics": {"serviceMonitor": {"enabled": True, "namespace": "monitoring", "additionalLabels": {"release": "p"},
                                                  "relabelings": [{"action": "labeldrop", "regex": "endpoint"}]}},
      "prometheusRule": {"enabled": True}, "grafanaDashboards": {"enabled": True, "namespace": "grafana"}}, lambda all: (
          kinds(all).count("ConfigMap") == 5 and "ServiceMonitor" in kinds(all) and "PrometheusRule" in kinds(all))),
    ("by pods, and IPv6",
     {"http": {"address": "[::]", "port": 9100}, "metrics": {"podMonitor": {"enabled": True}}}, lambda all: (
         agent(all)["containers"][0]["args"][-1] == "[::]:9100"
         and agent(all)["containers"][0]["readinessProbe"]["httpGet"]["host"] == "::1" and "PodMonitor" in kinds(all))),
    ("off: all nodes at once take it off first, and those that are off count as ready", {"switch": "off"}, lambda all: (
        agent(all)["initContainers"][0]["args"] == ["off"]
        and agent(all)["containers"][0]["readinessProbe"]["httpGet"]["path"] == "/healthz"
        and spec("DaemonSet", all)["updateStrategy"]["rollingUpdate"]["maxUnavailable"] == "100%")),
    ("on is another word for YAML's true", {"switch": True}, lambda all: (
        agent(all)["initContainers"][0]["args"] == ["on"]
        and agent(all)["containers"][0]["readinessProbe"]["httpGet"]["path"] == "/readyz")),
    ("a Job takes it off all nodes before the chart is removed", {"removal": {"kubectlImage": "kubectl:1.37"}},
     lambda all: removal_is_off(all)),
    ("the collector alone, without a disk, with a password and reachable from outside",
     {"agent": {"enabled": False}, "collector": {
         "persistence": {"enabled": False}, "podSecurityContext": {"runAsUser": 0},
         "extraVolumes": [{"name": "password", "secret": {"secretName": "kafka", "defaultMode": 0o400}}],
         "extraVolumeMounts": [{"name": "password", "mountPath": "/run/password"}],
         "service": {"type": "LoadBalancer", "loadBalancerSourceRanges": ["192.0.2.0/24"]}}}, lambda all: (
             "DaemonSet" not in kinds(all) and any(found["spec"].get("externalTrafficPolicy") == "Local"
                                                   for found in all if found["kind"] == "Service"))),
    ("a collector that names pods asks by an account of its own, which may read pods and nothing else, and has the only token",
     {"collector": {"podNames": True}}, lambda all: names_pods(all, "test-hostint-collector")),
    ("the same with an account that is there", {"collector": {"podNames": True}, "serviceAccount": {"create": False, "name": "own"}},
     lambda all: names_pods(all, "own") and "ServiceAccount" not in kinds(all)),
    ("the same with rights that are there", {"collector": {"podNames": True}, "rbac": {"create": False}}, lambda all: (
        kinds(all).count("ServiceAccount") == 2 and "ClusterRole" not in kinds(all))),
    ("agents alone, whose file names collectors",
     {"collector": {"enabled": False}, "config": '[sink]\ndev = "eth1"\ncollector = "192.0.2.9"\n'}, lambda all: (
         kinds(all) == ["ConfigMap", "DaemonSet", "ServiceAccount"]
         and [found["name"] for found in agent(all)["containers"][0]["env"]] == ["NODE_NAME"])),
    ("the other keys that users of charts know",
     {"image": {"repository": "registry.example/hostint", "digest": DIGEST}, "imagePullSecrets": [{"name": "registry"}],
      "nameOverride": "int", "fullnameOverride": "int-" + "x" * 50, "hostPID": True, "priorityClassName": "system-node-critical",
      "serviceAccount": {"create": False, "name": "own"}, "nodeSelector": {"pool": "a"}, "affinity": {"nodeAffinity": {}},
      "tolerations": [{"key": "a", "operator": "Exists"}], "updateStrategy": {"type": "OnDelete", "rollingUpdate": None},
      "podAnnotations": {"a": "1"}, "podLabels": {"b": "2"}, "extraEnv": [{"name": "HOSTINT_LOG_LEVEL", "value": "debug"}],
      "extraVolumes": [{"name": "logs", "hostPath": {"path": "/var/log/hostint"}}],
      "extraVolumeMounts": [{"name": "logs", "mountPath": "/var/log/hostint"}],
      "collector": {"priorityClassName": "high", "affinity": {"podAffinity": {}}, "tolerations": [{"operator": "Exists"}],
                    "persistence": {"storageClassName": "fast", "annotations": {"a": "b"}},
                    "service": {"type": "NodePort", "nodePort": 30766}}}, lambda all: (
          agent(all)["containers"][0]["image"] == f"registry.example/hostint@{DIGEST}" and agent(all)["hostPID"])),
]


def names_pods(objects, account):
    role, bound = (next(found for found in objects if found["kind"] == kind) for kind in ("ClusterRole", "ClusterRoleBinding"))
    pod = spec("StatefulSet", objects)["template"]["spec"]
    return (role["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
            and bound["roleRef"]["name"] == role["metadata"]["name"] == "tests-test-hostint-collector"
            and bound["subjects"] == [{"kind": "ServiceAccount", "name": account, "namespace": "tests"}]
            and pod["serviceAccountName"] == account and pod["automountServiceAccountToken"] is True
            and {"name": "HOSTINT_KUBERNETES", "value": "in-cluster"} in pod["containers"][0]["env"]
            and agent(objects)["automountServiceAccountToken"] is False)


# A sentence, values, and what the refusal says.
REFUSED = [
    ("a key that does not exist", {"imagee": {}}, "imagee"),
    ("one further down", {"collector": {"persistence": {"sise": "8Gi"}}}, "sise"),
    ("a text where a number belongs", {"http": {"port": "http"}}, "/http/port"),
    ("a port that does not exist", {"http": {"port": 70000}}, "/http/port"),
    ("a name as address", {"http": {"address": "localhost"}}, "/http/address"),
    ("no file", {"config": ""}, "/config"),
    ("a pull policy in small letters", {"image": {"pullPolicy": "always"}}, "/image/pullPolicy"),
    ("a digest without its kind", {"image": {"digest": "a1b2"}}, "/image/digest"),
    ("a capability by its name in the kernel", {"capabilities": ["CAP_BPF"]}, "/capabilities/0"),
    ("no capability", {"capabilities": []}, "/capabilities"),
    ("another order", {"switch": "maybe"}, "/switch"),
    ("a profile of the node without its file", {"seccompProfile": {"type": "Localhost"}}, "localhostProfile"),
    ("a disk without a size", {"collector": {"persistence": {"size": "big"}}}, "/collector/persistence/size"),
    ("Prometheus cannot reach 127.0.0.1", {"metrics": {"podMonitor": {"enabled": True}}}, "--set http.address=0.0.0.0"),
    ("each agent would be scraped twice", {**MONITORED, "metrics": {"podMonitor": {"enabled": True}, "serviceMonitor": {"enabled": True}}},
     "enable one of them"),
    ("a lease key that the file does not name", {"leaseKey": {"existingSecret": "lease"}}, "lease-key ="),
    ("nothing to install", {"agent": {"enabled": False}, "collector": {"enabled": False}}, "nothing to install"),
]


@functools.cache
def validator(version, kind, group_version):
    folder = f"kubernetes-json-schema/v{version}-local-strict"
    schema = schema_contents(f"{folder}/{kind.lower()}-{group_version}.json", version)
    registry = Resource.from_contents(definitions(version)) @ (Resource.from_contents(schema) @ Registry())
    return jsonschema.Draft202012Validator(schema, registry=registry)


@functools.cache
def definitions(version):
    return schema_contents(f"kubernetes-json-schema/v{version}-local-strict/_definitions.json", version)


@functools.cache
def mistakes_in(text):
    """What the schemas say of an object."""
    found = json.loads(text)
    group_version = re.sub(r"^([^./]*)(?:\.[^/]*)?/", r"\1-", found["apiVersion"])
    return [f"{'.'.join(map(str, mistake.absolute_path))}: {mistake.message} (Kubernetes {version})"
            for version in VERSIONS for mistake in validator(version, found["kind"], group_version).iter_errors(found)]


def render(chart, values, name="test"):
    texts = chart.render(values, name=name, namespace="tests")
    texts = {path: text for path, text in texts.items() if path.endswith(".yaml")}
    return [found for text in texts.values() for found in yaml.safe_load_all(text) if found]


def pods(objects):
    """Labels and specification of the pods of each object that makes some."""
    templates = [found["spec"]["template"] for found in objects if found["kind"] in ("DaemonSet", "StatefulSet", "Job")]
    return [(template["metadata"]["labels"], template["spec"]) for template in templates]


def selects(selector, labels):
    ok = all(labels.get(key) == value for key, value in selector.get("matchLabels", selector).items() if key != "matchExpressions")
    return ok and all(labels.get(term["key"]) in term["values"] for term in selector.get("matchExpressions", []))


def ports_of(pod):
    return {port["name"] for container in pod["containers"] for port in container.get("ports", [])}


def references(objects, values):
    """What is named and is nowhere."""
    named = {(found["kind"], found["metadata"]["name"]) for found in objects}
    if len(named) != len(objects):
        yield "two objects have one name"
    yield from (f"{name} is too long" for _, name in named if len(name) > 63)
    services = [found for found in objects if found["kind"] == "Service"]
    account = values.get("serviceAccount", {}).get("create", True)
    for labels, pod in pods(objects):
        if account and ("ServiceAccount", pod["serviceAccountName"]) not in named:
            yield f"no account {pod['serviceAccountName']}"
        volumes = {volume["name"]: volume for volume in pod.get("volumes", [])} | {"history": {}}
        for container in pod["containers"] + pod.get("initContainers", []):
            yield from (f"no volume {mount['name']}" for mount in container.get("volumeMounts", []) if mount["name"] not in volumes)
            probes = [container[key]["httpGet"]["port"] for key in ("livenessProbe", "readinessProbe") if key in container]
            yield from (f"no port {port}" for port in probes if port not in ports_of(pod))
            for variable in container.get("env", []):
                collectors = [f"{found['metadata']['name']}.tests.svc" for found in services
                              if found["spec"]["ports"][0]["port"] == 32766 and found["spec"]["ports"][0]["protocol"] == "UDP"]
                if variable["name"] == "HOSTINT_COLLECTOR" and variable["value"] not in collectors:
                    yield f"no service {variable['value']}"
        sources = [source for volume in volumes.values() for source in volume.get("projected", {}).get("sources", [volume])]
        for source in sources:
            if "configMap" in source and ("ConfigMap", source["configMap"]["name"]) not in named:
                yield f"no ConfigMap {source['configMap']['name']}"
        if pod["restartPolicy"] != "Never" if "restartPolicy" in pod else pod.get("enableServiceLinks") is not False:
            yield "variables of services would be settings"
    for service in services:
        found = [pod for labels, pod in pods(objects) if selects(service["spec"]["selector"], labels)]
        if len(found) != 1 or any(port["targetPort"] not in ports_of(found[0]) for port in service["spec"]["ports"]):
            yield f"{service['metadata']['name']} is the service of no pod"


def operator_objects(objects):
    """What is missing in the objects of the Prometheus operator."""
    rules = yaml.safe_load((ROOT / "packaging/prometheus/hostint.rules.yml").read_text())
    for found in objects:
        kind, inside = found["kind"], found["spec"] if "spec" in found else {}
        if kind == "PrometheusRule":
            if inside != rules:
                yield "the rules are not those of packaging/prometheus"
        elif kind in ("ServiceMonitor", "PodMonitor"):
            service = kind == "ServiceMonitor"
            targets = [item["metadata"]["labels"] for item in objects if item["kind"] == "Service"] if service else \
                [labels for labels, _ in pods(objects)]
            if sum(selects(inside["selector"], labels) for labels in targets) != 2:
                yield f"{kind} selects others than agents and collector"
            endpoints = inside["endpoints" if service else "podMetricsEndpoints"]
            if set(inside) != {"namespaceSelector", "selector", "endpoints" if service else "podMetricsEndpoints"}:
                yield f"{kind} has other fields"
            if endpoints[0]["port"] != "http" or {"targetLabel": "job", "replacement": "hostint"} not in endpoints[0]["relabelings"]:
                yield f"{kind} does not make the job that alerts look for"
        elif kind == "ConfigMap" and "hostint.toml" not in found["data"]:
            for name, text in found["data"].items():
                if text != (ROOT / "packaging/grafana" / name).read_text():
                    yield f"{name} is not the dashboard of packaging/grafana"


def merged(old, patch):
    """As kubectl patch merges: lists of things with names by their names, other lists as a whole."""
    if isinstance(old, dict) and isinstance(patch, dict):
        return {**old, **{key: merged(old.get(key), value) for key, value in patch.items()}}
    if isinstance(old, list) and isinstance(patch, list) and all("name" in item for item in patch):
        others = {item["name"]: item for item in patch}
        return [merged(item, others.pop(item["name"], {})) for item in old] + list(others.values())
    return copy.deepcopy(patch)


def removal_is_off(objects):
    """The Job makes of the DaemonSet what switch=off makes of it, and is there for the removal alone."""
    order = spec("Job", objects)["template"]["spec"]["initContainers"][0]["args"][-1]
    patch = json.loads(order.removeprefix("--patch="))
    off = spec("DaemonSet", render(load(CHART), {"switch": "off"}))
    hooks = [found for found in objects if found["metadata"].get("annotations", {}).get("helm.sh/hook") == "pre-delete"]
    return merged(spec("DaemonSet", objects), patch["spec"]) == off and kinds(hooks) == ["Job", "Role", "RoleBinding", "ServiceAccount"]


def keys_without_line(schema, values, path=()):
    """Keys that the schema knows and values.yaml does not show, but for those of Helm and of Kubernetes."""
    for key, below in schema.get("properties", {}).items():
        if key not in values and key != "global":
            yield ".".join((*path, key))
        elif isinstance(values.get(key), dict):
            yield from keys_without_line(below, values[key], (*path, key))


def missing_of_operators():
    """What packaging/operators.md names and hostint does not have: metrics, alerts, commands and their flags."""
    text = (ROOT / "packaging/operators.md").read_text()
    metrics = (ROOT / "tests/golden/metrics.txt").read_text()
    rules = (ROOT / "packaging/prometheus/hostint.rules.yml").read_text()
    manuals = {page.stem: page.read_text().replace("\\-", "-") for page in (ROOT / "man").glob("*.8")}
    for name in re.findall(r"`(hostint_[a-z_]+)", text):
        if f"# TYPE {name} " not in metrics:
            yield f"the metric {name}"
    for name in re.findall(r"\bHostint[A-Z][A-Za-z]+", text):
        if f"alert: {name}\n" not in rules:
            yield f"the alert {name}"
    for command, words in re.findall(r"`hostint ([a-z]+)([^`]*)`", text):
        page = manuals.get(f"hostint-{command}", "")
        named = re.findall(r"--[a-z-]+", words) + (words.split()[:1] if command == "history" else [])
        if not page or any(word not in page for word in named):
            yield f"the command hostint {command}{words}"


def load(folder):
    """Without Helm's remarks on each symbolic link that it follows: rules and dashboards are those of packaging."""
    out = os.dup(2)
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 2)
        chart = helm_python.Chart.load(folder)
    os.dup2(out, 2)
    os.close(out)
    return chart


def kustomize_base(chart):
    """What the chart renders by default, without the labels of Helm. kustomization.yaml names the namespace."""
    texts = chart.render({}, name="hostint", namespace="hostint")
    text = "---\n".join(texts[path].strip("\n") + "\n" for path in sorted(texts) if path.endswith(".yaml") and texts[path].strip())
    text = re.sub(r"^ +(helm\.sh/chart|app\.kubernetes\.io/managed-by): .*\n", "", text, flags=re.M)
    return "# Made by tests/charts.py: what packaging/helm/hostint renders by default.\n" + re.sub(r" +$", "", text, flags=re.M)


def main():
    wrong = []
    chart = load(CHART)
    with tempfile.TemporaryDirectory() as folder:
        archive = chart.save(folder)
        packed = helm_python.Chart.load(archive)
        for sentence, values, is_true in CASES:
            objects = render(chart, values)
            mistakes = [*references(objects, values), *operator_objects(objects)]
            for found in objects:
                if not found["apiVersion"].startswith("monitoring.coreos.com/"):
                    mistakes += [f"{found['kind']}: {mistake}" for mistake in mistakes_in(json.dumps(found, sort_keys=True))]
            mistakes += helm_python.lint(archive, values, strict=True)["errors"]
            mistakes += [] if is_true(objects) else ["is not so"]
            mistakes += [] if render(packed, values) == objects else ["the archive renders something else"]
            wrong += [f"{sentence}: {mistake}" for mistake in mistakes]
    for sentence, values, says in REFUSED:
        try:
            render(chart, values)
            wrong.append(f"{sentence}: is not refused")
        except helm_python.HelmError as refusal:
            wrong += [] if says in str(refusal) else [f"{sentence}: is refused by other words: {refusal}"]

    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    if {chart.version, chart.metadata["appVersion"]} != {version}:
        wrong.append(f"Chart.yaml is not of the version {version}")
    wrong += [f"packaging/operators.md: {missing} does not exist" for missing in missing_of_operators()]
    wrong += [f"values.yaml does not show {key}" for key in keys_without_line(chart.schema, chart.values)]
    namespace = yaml.safe_load((BASE.parent / "namespace.yaml").read_text())
    wrong += [f"packaging/kustomize/namespace.yaml: {mistake}" for mistake in mistakes_in(json.dumps(namespace))]
    if os.environ.get("HOSTINT_BLESS"):
        BASE.write_text(kustomize_base(chart))
    if BASE.read_text() != kustomize_base(chart):
        wrong.append("packaging/kustomize is not what the chart renders (HOSTINT_BLESS=1 make charts)")

    for sentence in wrong:
        print(f"charts: {sentence}", file=sys.stderr)
    if wrong:
        sys.exit(1)
    print(f"charts: {len(CASES)} sets of values hold on Kubernetes {', '.join(VERSIONS)}; {len(REFUSED)} are refused")


if __name__ == "__main__":
    main()
