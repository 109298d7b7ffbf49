#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""images.py DIRECTORY PORT LOG: a web server of images, on the loopback. The first part of a path says how it
serves the rest: plain, cut (half of it, then the connection ends, unless a range is asked for), ranges (as a
server that knows them), old (as one that does not), redirect, or slow (a block each tenth of a second)."""
import http.server
import os
import sys
import time

directory, port, log = sys.argv[1], int(sys.argv[2]), sys.argv[3]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        _, way, name = self.path.split("/", 2)
        wanted = self.headers.get("Range")
        with open(log, "a", encoding="ascii") as file:
            print(self.path, wanted or "whole", file=file)
        if way == "redirect":
            self.send_response(302)
            self.send_header("Location", "/plain/" + name)
            self.end_headers()
            return
        try:
            with open(os.path.join(directory, name), "rb") as file:
                content = file.read()
        except OSError:
            self.send_error(404)
            return
        begin = 0
        if wanted and way in ("cut", "ranges"):
            begin = int(wanted.removeprefix("bytes=").split("-")[0])
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        is_image = name.endswith(".qcow2")
        if way == "cut" and is_image and not wanted:
            self.wfile.write(content[:len(content) // 2])
        elif way == "slow" and is_image:
            for at in range(0, len(content), 1024):
                self.wfile.write(content[at:at + 1024])
                time.sleep(0.1)
        else:
            self.wfile.write(content[begin:])


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass


Server(("127.0.0.1", port), Handler).serve_forever()
