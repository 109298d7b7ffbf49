# SPDX-License-Identifier: GPL-2.0-or-later
"""terminal-svg.py SVG COMMAND...: runs each COMMAND, for bash, in a terminal, and draws what it shows.

The picture is text in SVG, which appears as it did in the terminal, but ten times as fast; what stays
at the end is what a viewer shows that knows no animation. COMMAND_PREFIX, words, is put before bash.
"""

import os
import pty
import re
import shlex
import sys
import time
from xml.sax.saxutils import escape

COLUMNS, LINE, WIDTH = 84, 19, 8.2
SPEED = 10
# No change of the screen is shown shorter or longer than this.
SHORTEST, LONGEST = 0.25, 1.5
TOKEN = re.compile(r"\x1b\[(\d*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)")


class Screen:
    """As much of a terminal as the commands need."""

    def __init__(self):
        self.lines, self.row, self.column = [""], 0, 0

    def feed(self, text):
        for token in TOKEN.finditer(text):
            number, letter, home, feed, words = token.groups()
            if letter == "A":
                self.row = max(0, self.row - int(number or 1))
            elif letter in ("J", "K"):
                self.lines[self.row] = self.lines[self.row][: self.column]
                if letter == "J":
                    del self.lines[self.row + 1 :]
            elif home:
                self.column = 0
            elif feed:
                self.row += 1
                if self.row == len(self.lines):
                    self.lines.append("")
            elif words:
                line = self.lines[self.row].ljust(self.column)
                self.lines[self.row] = line[: self.column] + words + line[self.column + len(words) :]
                self.column += len(words)


class Recording:
    """Which text was in which line from when to when."""

    def __init__(self):
        self.screen, self.clock, self.last = Screen(), 0.0, time.monotonic()
        self.shown, self.spans = [], []

    def feed(self, text):
        self.screen.feed(text)
        now = time.monotonic()
        lines = [line.rstrip() for line in self.screen.lines]
        if lines == [line for line, _ in self.shown]:
            return
        self.clock += min(max((now - self.last) / SPEED, SHORTEST), LONGEST)
        self.last = now
        for row in range(max(len(lines), len(self.shown))):
            old = self.shown[row] if row < len(self.shown) else (None, 0)
            new = lines[row] if row < len(lines) else None
            if old[0] != new and old[0]:
                self.spans.append((row, old[0], old[1], self.clock))
        self.shown = [
            self.shown[row]
            if row < len(self.shown) and self.shown[row][0] == line
            else (line, self.clock)
            for row, line in enumerate(lines)
        ]

    def run(self, command):
        for piece in command + "\n":
            self.screen.feed(piece.replace("\n", "\r\n"))
        self.feed("")
        prefix = shlex.split(os.environ.get("COMMAND_PREFIX", ""))
        process, terminal = pty.fork()
        if process == 0:
            # What pty.fork() made has no size. It is not a controlling terminal, on which virsh would
            # look for somebody to ask for a password.
            os.execvp("sh", ["sh", "-c", f"stty cols {COLUMNS} rows 30; exec setsid --wait \"$@\"",
                             "sh", *prefix, "bash", "-c", command])
        while True:
            try:
                data = os.read(terminal, 4096)
            except OSError:
                break
            if not data:
                break
            self.feed(data.decode(errors="replace"))
        if os.waitpid(process, 0)[1] != 0:
            sys.exit(f"'{command}' failed:\n" + "\n".join(self.screen.lines))

    def svg(self):
        rows = 1 + max([row for row, *_ in self.spans] + [len(self.shown) - 1])
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * WIDTH + 24:.0f}'
            f' {rows * LINE + 24}" font-family="monospace" font-size="13.6" fill="#ddd">'
        )
        yield '<rect width="100%" height="100%" rx="6" fill="#222"/>'
        for row, (line, begin) in enumerate(self.shown):
            if line:
                yield self.text(row, line, f'hidden" begin="0s" dur="{begin:.2f}s', "")
        for row, line, begin, end in self.spans:
            yield self.text(
                row, line, f'visible" begin="{begin:.2f}s" end="{end:.2f}s', ' visibility="hidden"')
        yield "</svg>"

    @staticmethod
    def text(row, line, when, hidden):
        fill = ' fill="#9d9"' if line.startswith("# ") else ""
        return (
            f'<text x="12" y="{row * LINE + 26}"{fill} xml:space="preserve"{hidden}>{escape(line[:COLUMNS])}'
            f'<set attributeName="visibility" to="{when}"/></text>'
        )


def main(path, commands):
    recording = Recording()
    for command in commands:
        recording.feed("# ")
        recording.run(command)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(recording.svg()) + "\n")


main(sys.argv[1], sys.argv[2:])
