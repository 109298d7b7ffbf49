# SPDX-License-Identifier: GPL-2.0-or-later
"""transcript.py FILE...: types what Markdown files show, one after the other, and compares what is printed.

In each block of the kind "console", a line that begins with "$ " or "# " is a command, and the lines
up to the next one are what it prints. They run in one directory, in order. "..." stands for any
number of lines. UUIDs, times and durations may differ. A command fails if and only if the file
shows an error. A block of another kind is saved as NAME first if the text before it ends in "`NAME`:".

transcript.py --commands FILE...: saves those files, and prints the commands instead, one a line.
"""

import os
import re
import subprocess
import sys

PROMPT = re.compile(r"[$#] (.*)")
FILE = re.compile(r"`([\w.-]+)`:\n\n```(?!console\n)\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARIABLE = [
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ| \d\d:\d\d:\d\d [+-]\d{4})"), "TIME"),
    (re.compile(r"\d+(\.\d+)? s\b"), "N s"),
    (re.compile(r"\b\d+ bytes(, then \d+)?\b"), "N bytes"),
    (re.compile(r"ssh-ed25519 AAAA\S+"), "ssh-ed25519 KEY"),
]
SECONDS = int(os.environ.get("TRANSCRIPT_SECONDS", "120"))


def commands(lines):
    """Yields (line number, command, lines that it prints)."""
    block = False
    command = None
    number = 0
    for position, line in enumerate(lines, 1):
        if line.startswith("```"):
            if command is not None:
                yield number, command, printed
            block, command = line == "```console", None
            continue
        if not block:
            continue
        prompt = PROMPT.match(line)
        if command is not None and command.endswith("\\"):
            command += "\n" + line
        elif prompt:
            if command is not None:
                yield number, command, printed
            number, command, printed = position, prompt[1], []
        elif command is not None:
            printed.append(line)


def plain(lines):
    """The lines without what differs between two runs, and without empty ones at the end."""
    text = "\n".join(line.rstrip() for line in lines).rstrip("\n")
    for pattern, word in VARIABLE:
        text = pattern.sub(word, text)
    # The columns of a table depend on what is in them.
    return [re.sub(r"  +", "  ", line) for line in text.split("\n")] if text else []


def matches(shown, printed):
    """Whether the lines are those that are shown."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(matches(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and matches(shown[1:], printed[1:])


def run(command, shown):
    """Returns what the command printed, and whether that is as shown."""
    result = subprocess.run(
        ["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS, check=False)
    printed = plain(result.stdout.split("\n"))
    fails = any("error:" in line for line in shown)
    return result, matches(plain(shown), printed) and fails == (result.returncode != 0)


def main(arguments):
    prints = arguments[0] == "--commands"
    found = []
    for path in arguments[1:] if prints else arguments:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        there = [(path, *one) for one in commands(text.split("\n"))]
        if not there:
            sys.exit(f"{path}: no commands")
        found += there
        for name, content in FILE.findall(text):
            with open(name, "w", encoding="utf-8") as file:
                file.write(content)
    wrong = 0
    for path, number, command, shown in found:
        if prints:
            print(command.replace("\\\n", ""))
            continue
        result, right = run(command, shown)
        print(f"{path}:{number}: {command}", flush=True)
        if not right:
            wrong += 1
            print(f"exit status {result.returncode}; printed:\n{result.stdout}"
                  "shown:\n" + "\n".join(shown), flush=True)
    sys.exit(1 if wrong else 0)


main(sys.argv[1:])
