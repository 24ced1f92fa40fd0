#!/usr/bin/env python3
"""ClickHouse's HTTP interface in front of chdb, which is a recent ClickHouse as a library: as much as inserts need.

usage: shim.py FOLDER
Data is kept in FOLDER; the first line on standard output is the URL. Inserts reach chdb as the bytes that came.
"""

import http.server
import os
import re
import sys
import threading
import urllib.parse

from chdb import session

folder = sys.argv[1]
os.chdir(folder)
engine = session.Session(os.path.join(folder, "data"))
parcel = os.path.join(folder, "parcel")
one_query = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        params = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            with one_query:
                answer = self.run(params, body)
        except Exception as error:
            self.answer(500, str(error).encode())
        else:
            self.answer(200, answer)

    def run(self, params, body):
        query = params.pop("query", None)
        output = params.pop("default_format", "TabSeparated")
        if query is None:
            return bytes(engine.query(body.decode(), output).bytes())
        for name, value in params.items():
            engine.query(f"SET {name} = '{value}'")
        with open(parcel, "wb") as file:
            file.write(body)
        encoding = self.headers.get("Content-Encoding", "none")
        source = f"FROM INFILE '{parcel}' COMPRESSION '{encoding}' FORMAT"
        engine.query(re.sub(r"FORMAT(?= \w+$)", lambda _: source, query))
        return b""

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


# Many connections, for clients keep theirs; chdb takes one query after another.
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
