#!/usr/bin/env python3
"""packaging/install.sh against an HTTP server: it installs a release whose checksums hold, and nothing of any other."""

import hashlib
import http.server
import io
import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
import threading
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "packaging" / "install.sh"
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
NAME = f"hostint-1.2.3-linux-{ARCH}"
ARCHIVE = f"{NAME}.tar.gz"
FILES = {"bin/hostint": "#!/bin/sh\necho hostint 1.2.3\n", "share/man/man8/hostint.8": "a page", "lib/systemd/system/hostint.service": "a unit",
         "share/hostint/install.sh": "", "etc/hostint/hostint.toml": "# as it came\n"}


def archive():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in FILES.items():
            info = tarfile.TarInfo(f"{NAME}/{name}")
            info.size, info.mode = len(text), 0o755
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


class Server(http.server.ThreadingHTTPServer):
    """Serves files from memory; those of `cut` end before their length."""

    files, cut = {}, set()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.removeprefix("/")
        if name not in self.server.files:
            self.send_error(404)
            return
        data = self.server.files[name]
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[:len(data) // 2] if name in self.server.cut else data)

    def log_message(self, *_):
        pass


def sums(data, name=ARCHIVE):
    return f"{hashlib.sha256(data).hexdigest()}  {name}\n".encode()


class Case:
    """A release that is served, and a root to install it into."""

    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        self.root = folder / "root"
        self.bytes = archive()
        server.files, server.cut = {ARCHIVE: self.bytes, "SHA256SUMS": sums(self.bytes)}, set()
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir()

    def sign(self, key):
        path = self.folder / "SHA256SUMS"
        path.write_bytes(self.server.files["SHA256SUMS"])
        subprocess.run(["minisign", "-Sm", path, "-s", self.folder / f"{key}.key"], check=True, capture_output=True, input=b"")
        self.server.files["SHA256SUMS.minisig"] = path.with_suffix(".minisig").read_bytes()

    def install(self, *options, shell=("sh", str(SCRIPT))):
        url = f"http://127.0.0.1:{self.server.server_port}/"
        environment = {**os.environ, "DESTDIR": str(self.root), "TMPDIR": str(self.folder / "tmp")}
        (self.folder / "tmp").mkdir(exist_ok=True)
        done = subprocess.run([*shell, *options, url], env=environment, capture_output=True, text=True)
        assert not list((self.folder / "tmp").iterdir()), "the temporary folder stays"
        return done

    def installed(self):
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file())

    def refuses(self, sentence, words, *options):
        done = self.install(*options)
        assert done.returncode == 1 and words in done.stderr, f"{sentence}: {done}"
        assert not self.installed(), f"{sentence}: wrote {self.installed()}"


def installs(case):
    done = case.install()
    assert done.returncode == 0 and "hostint 1.2.3" in done.stdout, done
    expected = sorted(name if name.startswith("etc") else f"usr/local/{name}" for name in FILES)
    assert case.installed() == expected, case.installed()
    assert os.stat(case.root / "usr/local/bin/hostint").st_mode & 0o777 == 0o755
    config = case.root / "etc/hostint/hostint.toml"
    config.write_text("# mine\n")
    assert case.install().returncode == 0 and config.read_text() == "# mine\n", "a second time"
    # All of it from a pipe, and a part of it.
    text = SCRIPT.read_text()
    for part, works in [(text, True), (text[:text.index("main()")], False), (text[:-len('main "$@"\n')], False)]:
        shutil.rmtree(case.root)
        case.root.mkdir()
        case.install(shell=("sh", "-c", part, "install.sh"))
        assert bool(case.installed()) == works, f"{len(part)} bytes of the script"


def refuses_what_cannot_be_checked(new):
    case = new()
    case.server.files[ARCHIVE] = case.bytes[:-1] + b"!"
    case.refuses("a changed archive", "is not the file that SHA256SUMS names")
    case = new()
    del case.server.files["SHA256SUMS"]
    case.refuses("no checksums", "cannot fetch")
    for sentence, listed in [("no checksum of the archive", sums(case.bytes, "hostint.deb")), ("empty checksums", b""),
                             ("two archives", sums(case.bytes) + sums(case.bytes, f"hostint-1.2.4-linux-{ARCH}.tar.gz")),
                             ("half a checksum", sums(case.bytes)[30:]),
                             ("a path", sums(case.bytes, f"../{ARCHIVE}"))]:
        case = new()
        case.server.files["SHA256SUMS"] = listed
        case.refuses(sentence, "does not name one archive")
    case = new()
    case.server.cut = {ARCHIVE}
    case.refuses("an archive that is cut off", "cannot fetch")
    case = new()
    del case.server.files[ARCHIVE]
    case.refuses("no archive", "cannot fetch")


def checks_signatures(new, folder):
    keys = {}
    for name in ["ours", "theirs"]:
        subprocess.run(["minisign", "-GWf", "-p", folder / f"{name}.pub", "-s", folder / f"{name}.key"], check=True,
                       capture_output=True)
        keys[name] = (folder / f"{name}.pub").read_text().splitlines()[1]
    case = new()
    case.sign("ours")
    for key in [keys["ours"], str(folder / "ours.pub")]:
        assert case.install("--key", key).returncode == 0, "signed"
    case = new()
    case.refuses("no signature", "is not signed, or the address is wrong", "--key", keys["ours"])
    case = new()
    case.sign("theirs")
    case.refuses("another's signature", "is not signed by this key", "--key", keys["ours"])
    case = new()
    case.sign("ours")
    case.server.files["SHA256SUMS"] = sums(case.bytes + b"!")
    case.refuses("checksums that were changed", "is not signed by this key", "--key", keys["ours"])


with tempfile.TemporaryDirectory() as place:
    folder = Path(place)
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def new():
        return Case(server, folder)

    installs(new())
    refuses_what_cannot_be_checked(new)
    checks_signatures(new, folder)
    mistaken = subprocess.run(["sh", SCRIPT], capture_output=True, text=True)
    assert mistaken.returncode == 1 and "usage: install.sh" in mistaken.stderr
print("install.py: all passed")
