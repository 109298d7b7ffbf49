#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Types a line and a tabulator into an interactive zsh, and prints what the line is then.

usage: zsh-complete.py FOLDER LINE

FOLDER holds the completion functions."""
import os
import pty
import select
import signal
import sys
import tempfile
import time

LIMIT = 60  # seconds


def read_until(terminal, mark, deadline):
    text = b""
    while mark not in text:
        ready, _, _ = select.select([terminal], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            sys.exit(f"zsh did not answer: {text!r}")
        text += os.read(terminal, 4096)


folder, line = sys.argv[1:]
deadline = time.monotonic() + LIMIT
with tempfile.TemporaryDirectory() as home:
    result = os.path.join(home, "line")
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="dumb", HOME=home, ZDOTDIR=home)
        os.execvp("zsh", ["zsh", "-f", "-i"])
    # The mark that is printed differs from what is typed and echoed.
    os.write(terminal, f"""\
fpath=('{folder}' $fpath); autoload -Uz compinit; compinit -u -D
keep-line() {{ print -r -- "$BUFFER" >{result}; print -r -- FIN''ISHED }}
zle -N keep-line; bindkey '^X^K' keep-line; unsetopt prompt_cr; print REA''DY
""".encode())
    read_until(terminal, b"READY", deadline)
    os.write(terminal, line.encode() + b"\t\x18\x0b")
    read_until(terminal, b"FINISHED", deadline)
    with open(result, encoding="utf-8") as file:
        print(file.read().rstrip("\n"))
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
