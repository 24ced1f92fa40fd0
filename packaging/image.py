#!/usr/bin/env python3
"""Packs binaries as an OCI image: image.py OUT.tar ARCH=BINARY...     (ARCH as Go names it: amd64, arm64)

OUT.tar is an OCI layout in an archive, with one image for each architecture. Nothing is executed or fetched, and equal
binaries of one commit make equal archives; gzip's bytes are those of Python's zlib.
"""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"

# hostint run makes its collector this user where it has CAP_SETUID, CAP_SETGID and CAP_KILL.
COLLECTOR = 65532
PASSWD = f"root:x:0:0::/:/nonexistent\nhostint-collector:x:{COLLECTOR}:{COLLECTOR}::/var/lib/hostint:/nonexistent\n"
GROUP = f"root:x:0:\nhostint-collector:x:{COLLECTOR}:\n"

# Mode, user and group of the folders. Those of state are places for mounts; root without capabilities writes by its group.
FOLDERS = {
    "etc/hostint": (0o755, 0, 0),
    "run/hostint": (0o755, 0, 0),
    "run/hostint-postcards": (0o755, 0, 0),
    "run/hostint-tcp": (0o755, 0, 0),
    "tmp": (0o1777, 0, 0),
    "var/lib/hostint": (0o770, COLLECTOR, 0),
    "var/lib/hostint-node": (0o755, 0, 0),
}


def version():
    lines = (ROOT / "Cargo.toml").read_text().splitlines()
    return next(line.split('"')[1] for line in lines if line.startswith("version = "))


def release_time():
    """SOURCE_DATE_EPOCH, else the time of the last commit."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return int(epoch)


def entry(name, size, mode, user, group, epoch):
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.uid, info.gid, info.mtime = size, mode, user, group, epoch
    return info


def archive(files, folders, epoch):
    """A tar of files ({name: (bytes, mode)}) and folders ({name: (mode, user, group)}), sorted, in USTAR."""
    above = {str(parent): (0o755, 0, 0) for name in [*files, *folders] for parent in Path(name).parents if parent.name}
    folders = {**above, **folders}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted([*files, *folders]):
            if name in folders:
                info = entry(name, 0, *folders[name], epoch)
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            else:
                data, mode = files[name]
                tar.addfile(entry(name, len(data), mode, 0, 0, epoch), io.BytesIO(data))
    return out.getvalue()


def packed(data):
    """gzip without a name and a time, which gzip.compress writes differently from one Python to the next."""
    out = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=9, mtime=0) as gz:
        gz.write(data)
    return out.getvalue()


def digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


class Layout:
    """The blobs of an image by their digests."""

    def __init__(self):
        self.files = {"oci-layout": (b'{"imageLayoutVersion":"1.0.0"}', 0o644)}

    def add(self, media_type, content, **more):
        """Takes bytes, or a value as JSON, and returns its descriptor."""
        data = content if isinstance(content, bytes) else json.dumps(content, separators=(",", ":")).encode()
        self.files[f"blobs/sha256/{digest(data)[7:]}"] = (data, 0o644)
        return {"mediaType": media_type, "digest": digest(data), "size": len(data), **more}

    def add_image(self, arch, binary, labels, epoch):
        created = labels["org.opencontainers.image.created"]
        tar = archive({"usr/bin/hostint": (binary, 0o755), "etc/passwd": (PASSWD.encode(), 0o644),
                       "etc/group": (GROUP.encode(), 0o644)}, FOLDERS, epoch)
        config = self.add(CONFIG, {
            "created": created, "architecture": arch, "os": "linux",
            "config": {"User": "0:0", "Entrypoint": ["/usr/bin/hostint"], "Env": ["container=oci"],
                       "Labels": labels},
            "rootfs": {"type": "layers", "diff_ids": [digest(tar)]},
            "history": [{"created": created, "created_by": "packaging/image.py"}],
        })
        layer = self.add(LAYER, packed(tar))
        return self.add(MANIFEST, {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer],
                                   "annotations": labels}, platform={"os": "linux", "architecture": arch})


def image(binaries, epoch):
    labels = {
        "org.opencontainers.image.title": "hostint",
        "org.opencontainers.image.description": "One-way latency and packet loss of production flows",
        "org.opencontainers.image.version": version(),
        "org.opencontainers.image.licenses": "BSD-2-Clause OR GPL-2.0-only",
        "org.opencontainers.image.created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
    }
    layout = Layout()
    manifests = [layout.add_image(arch, Path(path).read_bytes(), labels, epoch) for arch, path in sorted(binaries.items())]
    # skopeo calls the image by the first name, podman and containerd by the second.
    names = {"org.opencontainers.image.ref.name": f"hostint:{version()}",
             "io.containerd.image.name": f"docker.io/library/hostint:{version()}"}
    index = layout.add(INDEX, {"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests, "annotations": labels},
                       annotations=names)
    top = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [index]}
    return archive({**layout.files, "index.json": (json.dumps(top).encode(), 0o644)}, {}, epoch)


def main():
    binaries = dict(argument.split("=", 1) for argument in sys.argv[2:] if "=" in argument)
    if len(binaries) == 0 or len(binaries) != len(sys.argv) - 2:
        sys.exit("usage: image.py OUT.tar ARCH=BINARY...")
    try:
        data = image(binaries, release_time())
        Path(sys.argv[1]).write_bytes(data)
    except OSError as err:
        sys.exit(f"image.py: cannot make the image {sys.argv[1]}: {err}")
    print(f"{sys.argv[1]}: hostint:{version()} for {', '.join(sorted(binaries))}, {len(data):,} bytes")


main()
