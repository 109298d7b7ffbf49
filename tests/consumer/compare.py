#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what the cloud-inits of two releases made of the same seeds.

    compare.py KNOWN OLD NEW FOLDER...

In each FOLDER are the answers of read-seed.py, OLD.json and NEW.json. A difference is a line that only
one of them has: printed as FOLDER, key, and the line with "-" (old) or "+" (new) before it. KNOWN is
the table of those that are known; its rows for NEW are

    NEW  FOLDER  KEY  LINE

each of the last three a pattern. What no row knows is printed, and so is a row that knows nothing; both
fail. A renderer that one of the two does not have is not compared.
"""

import json
import os
import sys
from collections import Counter
from fnmatch import fnmatchcase

import yaml


def sections(text):
    """The lines of a file that a renderer wrote, by their section, without comments."""
    found, section = {}, ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("["):
            section = "/" + line.strip("[]")
        elif line[0] not in "#;":
            found.setdefault(section, []).append(line)
    return found


def network_lines(renderer, file, text):
    if file == "error":
        yield f"network/{renderer}/error", text
    elif renderer == "netplan":
        yield from lines(yaml.safe_load(text)["network"], "network/netplan")
    else:
        for section, found in sections(text).items():
            for line in found:
                yield f"network/{renderer}/{os.path.basename(file)}{section}", line


def lines(value, key=""):
    """Pairs of a key and a line, for all that is in a part of an answer."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from lines(member, f"{key}/{name}".lstrip("/"))
    elif isinstance(value, list):
        for member in value:
            yield key, json.dumps(member, sort_keys=True)
    else:
        yield key, json.dumps(value)


def answer_lines(answer, renderers):
    network = answer.pop("network", None) or {}
    # Of files that not every release keeps, and compared with the seed instead.
    answer.pop("taken", None)
    yield from lines(answer)
    for name, value in network.items():
        if name in ("source", "config", "error"):
            yield from lines(value, f"network/{name}")
        elif name in renderers:
            for file, text in value.items():
                yield from network_lines(name, file, text)


def load(folder, release):
    with open(os.path.join(folder, f"{release}.json"), encoding="utf-8") as file:
        return json.load(file)


def differences(folder, releases):
    answers = [load(folder, release) for release in releases]
    renderers = set.intersection(*(set(answer.get("network") or {}) for answer in answers))
    old, new = (Counter(answer_lines(answer, renderers)) for answer in answers)
    for sign, only in (("-", old - new), ("+", new - old)):
        for key, line in only:
            yield os.path.basename(folder), key, sign + line


def main():
    known, *releases = sys.argv[1:4]
    with open(known, encoding="utf-8") as file:
        rows = [line.split(None, 3) for line in file if line.strip() and line[0] != "#"]
    rows = [[text.strip() for text in row[1:]] for row in rows if row[0] == releases[1]]
    unused, failed = list(rows), False
    for folder in sys.argv[4:]:
        for difference in differences(folder, releases):
            row = next((row for row in rows if all(map(fnmatchcase, difference, row))), None)
            if row is None:
                print(*difference)
                failed = True
            elif row in unused:
                unused.remove(row)
    for row in unused:
        print("no such difference any more:", releases[1], *row)
    sys.exit(failed or bool(unused))


main()
