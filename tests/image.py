#!/usr/bin/env python3
"""What packaging/image.py makes of two small binaries: the same bytes twice, right digests, and nothing but what it should hold."""

import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "packaging" / "image.py"
EPOCH = 1_700_000_000
BINARIES = {"amd64": b"a binary of one architecture" * 5000, "arm64": b"and of another" * 9000}

# Name, mode, user and group of all that is in the layer.
LAYER = """
etc 755 0 0
etc/group 644 0 0
etc/hostint 755 0 0
etc/passwd 644 0 0
run 755 0 0
run/hostint 755 0 0
run/hostint-postcards 755 0 0
run/hostint-tcp 755 0 0
tmp 1777 0 0
usr 755 0 0
usr/bin 755 0 0
usr/bin/hostint 755 0 0
var 755 0 0
var/lib 755 0 0
var/lib/hostint 770 65532 0
var/lib/hostint-node 755 0 0
"""


def make(folder, name, order):
    for arch, data in BINARIES.items():
        (folder / arch).write_bytes(data)
    out = folder / name
    subprocess.run([SCRIPT, out, *(f"{arch}={folder / arch}" for arch in order)], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})
    return out.read_bytes()


def read_tar(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return [(info, tar.extractfile(info).read() if info.isfile() else b"") for info in tar]


def check_tar(data, what):
    found = read_tar(data)
    names = [info.name for info, _ in found]
    assert names == sorted(set(names)), f"{what}: names are not sorted, or occur twice: {names}"
    for info, _ in found:
        assert info.mtime == EPOCH, f"{what}: {info.name} is of another time"
        assert not info.uname and not info.gname, f"{what}: {info.name} has the names of users"
        assert info.isfile() or info.isdir(), f"{what}: {info.name} is neither a file nor a folder"
    return found


def check_layer(data, binary):
    found = check_tar(data, "layer")
    listed = "".join(f"{info.name} {info.mode:o} {info.uid} {info.gid}\n" for info, _ in found)
    assert listed == LAYER.lstrip(), f"another layer:\n{listed}"
    assert {info.name: content for info, content in found}["usr/bin/hostint"] == binary


def check(data, architectures):
    files = {info.name: content for info, content in check_tar(data, "image") if info.isfile()}
    seen = {"oci-layout", "index.json"}

    def blob(descriptor):
        name = "blobs/" + descriptor["digest"].replace(":", "/")
        content = files[name]
        seen.add(name)
        assert hashlib.sha256(content).hexdigest() == descriptor["digest"].split(":")[1], f"{name} has another digest"
        assert len(content) == descriptor["size"], f"{name} has another size"
        return content

    (top,) = json.loads(files["index.json"])["manifests"]
    name = top["annotations"]["org.opencontainers.image.ref.name"]
    assert name.startswith("hostint:") and top["annotations"]["io.containerd.image.name"] == f"docker.io/library/{name}"
    index = json.loads(blob(top))
    assert [one["platform"]["architecture"] for one in index["manifests"]] == architectures
    for entry in index["manifests"]:
        manifest = json.loads(blob(entry))
        config = json.loads(blob(manifest["config"]))
        assert (config["architecture"], config["os"]) == (entry["platform"]["architecture"], "linux")
        assert config["config"]["Entrypoint"] == ["/usr/bin/hostint"]
        assert config["config"]["Env"] == ["container=oci"], "by which hostint knows what to advise"
        (descriptor,) = manifest["layers"]
        layer = gzip.decompress(blob(descriptor))
        assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
        check_layer(layer, BINARIES[entry["platform"]["architecture"]])
    assert seen == set(files), f"nothing names {set(files) - seen}"


with tempfile.TemporaryDirectory() as place:
    folder = Path(place)
    first = make(folder, "first", ["amd64", "arm64"])
    assert first == make(folder, "second", ["arm64", "amd64"]), "two runs make two images"
    check(first, ["amd64", "arm64"])
    check(make(folder, "one", ["amd64"]), ["amd64"])
    mistaken = subprocess.run([SCRIPT, folder / "none"], capture_output=True, text=True)
    assert mistaken.returncode and "usage: image.py" in mistaken.stderr and not (folder / "none").exists()
print("image.py: all passed")
