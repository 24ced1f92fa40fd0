#!/usr/bin/env python3
"""Writes what the release binary consists of: sbom.py DIR

DIR/hostint.cdx.json (CycloneDX 1.5): crates that are linked in, and the C libraries where it is static.
DIR/third-party-licences.txt: their licence texts, each once.
cargo-cyclonedx builds for minutes and knows nothing of the C libraries.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# By packaging/architecture.sh.
TARGET = os.environ.get("CARGO_BUILD_TARGET") or f"{os.uname().machine}-unknown-linux-gnu"
ARCH = os.environ.get("ARCH")
C_LIBRARIES = ["libc6-dev", "libelf-dev", "zlib1g-dev", "libzstd-dev"]
LICENCE_FILES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def tree():
    """Name and version of each crate that is linked in, as cargo resolves features for this target."""
    lines = output("cargo", "tree", "--locked", "--target", TARGET, "--edges", "normal,no-proc-macro", "--prefix", "none",
                   "--format", "{p}").splitlines()
    return {tuple(line.replace(" v", " ", 1).split()[:2]) for line in lines}


def linked_crates():
    """The crates that are linked in, hostint first, with those that each needs."""
    metadata = json.loads(output("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", TARGET))
    wanted = tree()
    packages = {package["id"]: package for package in metadata["packages"]
                if (package["name"], package["version"]) in wanted}
    needs = {node["id"]: [dep["pkg"] for dep in node["deps"]
                          if dep["pkg"] in packages and any(kind["kind"] is None for kind in dep["dep_kinds"])]
             for node in metadata["resolve"]["nodes"]}
    root = metadata["resolve"]["root"]
    order = sorted(packages, key=lambda key: (key != root, packages[key]["name"], packages[key]["version"]))
    return [(packages[key], [packages[dep] for dep in needs[key]]) for key in order]


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def checksums():
    """Of the crates' archives, from Cargo.lock."""
    found, entry = {}, {}
    for line in (ROOT / "Cargo.lock").read_text().splitlines():
        key, _, value = line.partition(" = ")
        entry = {} if line == "[[package]]" else {**entry, key: value.strip('"')}
        if key == "checksum":
            found[entry["name"], entry["version"]] = entry["checksum"]
    return found


def component(package, sums):
    result = {"type": "library", "bom-ref": purl(package), "name": package["name"], "version": package["version"],
              "purl": purl(package)}
    if package["license"]:
        result["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if checksum := sums.get((package["name"], package["version"])):
        result["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return result


def c_libraries():
    """Source package and version of each C library in the static binary; none in a dynamic one."""
    built = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    binary = Path(os.environ.get("BINARY") or built / TARGET / "release" / "hostint")
    if binary.exists() and "(NEEDED)" in output("readelf", "-d", str(binary)):
        return []
    found = []
    for package in C_LIBRARIES:
        query = subprocess.run(["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}",
                                f"{package}:{ARCH}" if ARCH else package], capture_output=True, text=True)
        if query.returncode == 0:
            found.append((package, *query.stdout.split()))
    return found


def release_time():
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(epoch)
    if (ROOT / ".git").exists():
        return int(output("git", "log", "-1", "--format=%ct"))
    # A source archive's files are as old as the commit that it was made of.
    return int((ROOT / "Cargo.lock").stat().st_mtime)


def sbom(crates, libraries):
    sums = checksums()
    (root, _), rest = crates[0], crates[1:]
    native = [{"type": "library", "bom-ref": f"pkg:deb/debian/{source}@{version}?arch=source", "name": source,
               "version": version, "purl": f"pkg:deb/debian/{source}@{version}?arch=source"}
              for _, source, version in libraries]
    rust = output("rustc", "--version").split()[1]
    native.append({"type": "library", "bom-ref": f"pkg:generic/rust-std@{rust}", "name": "rust-std", "version": rust,
                   "purl": f"pkg:generic/rust-std@{rust}", "licenses": [{"expression": "MIT OR Apache-2.0"}]})
    dependencies = [{"ref": purl(package), "dependsOn": sorted(purl(dep) for dep in deps)} for package, deps in crates]
    dependencies[0]["dependsOn"] += [library["bom-ref"] for library in native]
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(release_time())),
                     "component": {**component(root, sums), "type": "application"}},
        "components": [component(package, sums) for package, _ in rest] + native,
        "dependencies": dependencies,
    }


def licence_texts(crates, libraries):
    texts = {}
    for package, _ in crates[1:]:
        folder = Path(package["manifest_path"]).parent
        files = sorted(path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(LICENCE_FILES))
        name = f"{package['name']} {package['version']} ({package['license']})"
        if not files:
            texts.setdefault("(The crate has no licence file; its Cargo.toml names the licence.)\n", []).append(name)
        for path in files:
            texts.setdefault(path.read_text(errors="replace").strip() + "\n", []).append(name)
    for package, source, version in libraries:
        path = Path("/usr/share/doc") / package / "copyright"
        if path.exists():
            texts.setdefault(path.read_text(errors="replace").strip() + "\n", []).append(f"{source} {version}")
    rule = "=" * 79 + "\n"
    return "".join(f"{rule}{chr(10).join(names)}\n{rule}\n{text}\n" for text, names in texts.items())


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: sbom.py DIR")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    crates, libraries = linked_crates(), c_libraries()
    bom = json.dumps(sbom(crates, libraries), indent=1)
    (folder / "hostint.cdx.json").write_text(bom + "\n")
    (folder / "third-party-licences.txt").write_text(licence_texts(crates, libraries))
    print(f"{folder}/hostint.cdx.json: {len(crates)} crates, {len(libraries)} C libraries")


main()
