#!/usr/bin/env python3
"""answer.py FILE COMMAND...: runs the command on a terminal of its own and types what FILE says.

Each line of FILE is a text to wait for, a tab, and what to type then, with a newline or as "^C".
Prints what the terminal shows, which has an echo unless the command turns that off, and exits with
the command's status.
"""
import os
import pty
import select
import sys
import time

SECONDS = 60


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        answers = [line.rstrip("\n").split("\t") for line in file]
    process, terminal = pty.fork()
    if process == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    shown = b""
    begin = 0
    deadline = time.monotonic() + SECONDS
    while True:
        if not select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]:
            sys.exit(f"answer.py: nothing more after {SECONDS} s: {shown!r}")
        try:
            more = os.read(terminal, 4096)
        except OSError:
            more = b""
        if not more:
            break
        shown += more
        while answers and answers[0][0].encode() in shown[begin:]:
            begin = shown.index(answers[0][0].encode(), begin) + len(answers[0][0].encode())
            typed = answers.pop(0)[1]
            # The question comes before the echo is off; the command discards what comes in between.
            time.sleep(0.3)
            os.write(terminal, b"\x03" if typed == "^C" else typed.encode() + b"\n")
    sys.stdout.write(shown.decode().replace("\r\n", "\n"))
    sys.stdout.flush()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    sys.exit(128 - status if status < 0 else status)


main()
