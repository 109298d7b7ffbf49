#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Speaks to the metadata server as no HTTP library would.

raw.py send PORT [SECONDS]      standard input as it is, then prints what comes back until the end
raw.py idle PORT COUNT [PATH]   that many connections that say nothing, or ask and do not read, until
                                standard input ends
raw.py drip PORT SECONDS        a request, a byte each half second; prints how it ended
raw.py slow-read PORT PATH [SECONDS]
                                reads a document a little at a time, for so long; prints its SHA-256
raw.py stall PORT PATH          asks, prints "answered" when there is something, and reads the rest when
                                standard input ends; prints "reset", or "end" and how much it was
raw.py activate PORT ADDRESS COMMAND...
                                runs COMMAND as systemd would that listens there ("::": for IPv4, too),
                                again each time that it has ended, until standard input ends; prints
                                each one's process once it is ready, and fails where one does not say
                                that it is, or that it ends
raw.py listen PORT ADDRESS      listens there (0: on any port), whether an interface has the address or
                                not, prints the port, and takes no connection until standard input ends
raw.py begin PORT ADDRESS OWN OWN-PORT
                                begins to connect with the IPv6 ADDRESS from OWN, of another machine, and
                                prints a line; until standard input ends
raw.py storm PORT PATH COUNT SECONDS
                                fetches it that often, one after the other with pauses; prints each
                                status that came, and how often
"""
import collections
import hashlib
import os
import resource
import signal
import socket
import sys
import threading
import time

# The module has the first from Python 3.14 on.
IP_FREEBIND = 15
IPV6_FREEBIND = 78


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def receive(connection):
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except (ConnectionResetError, TimeoutError):
        # The end of what was not read to its end, or of patience.
        pass
    return b"".join(parts)


def send(port, seconds="30"):
    connection = connect(port)
    connection.settimeout(float(seconds))
    try:
        connection.sendall(sys.stdin.buffer.read())
    except (BrokenPipeError, ConnectionResetError):
        pass
    sys.stdout.buffer.write(receive(connection))


def idle(port, count, path=None):
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(count) + 64,) * 2)
    connections = []
    for _ in range(int(count)):
        connection = socket.socket()
        if path:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", port))
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        else:
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", port))
        connections.append(connection)
    print("open", flush=True)
    sys.stdin.read()


def drip(port, seconds):
    connection = connect(port)
    end = time.monotonic() + float(seconds)
    connection.settimeout(0.5)
    for byte in b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X" * 10000:
        try:
            connection.send(bytes([byte]))
            answer = connection.recv(100)
            print("answered" if answer else "closed")
            return
        except (BrokenPipeError, ConnectionResetError):
            print("closed")
            return
        except TimeoutError:
            pass
        if time.monotonic() > end:
            break
    print("open")


def slow_read(port, path, seconds="0.5"):
    connection = connect(port)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    whole = bytearray()
    length = None
    start = time.monotonic()
    while part := connection.recv(65536):
        whole += part
        if length is None:
            length = int(whole.lower().partition(b"content-length: ")[2].split()[0])
        # By the clock: what a busy machine oversleeps is caught up.
        time.sleep(max(0, start + float(seconds) * len(whole) / length - time.monotonic()))
    print(hashlib.sha256(whole.partition(b"\r\n\r\n")[2]).hexdigest())


def stall(port, path):
    connection = connect(port)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    size = len(connection.recv(100))
    print("answered", flush=True)
    sys.stdin.read()
    try:
        while part := connection.recv(65536):
            size += len(part)
        print("end", size)
    except ConnectionResetError:
        print("reset")


def activate(port, address, *command):
    ipv6 = ":" in address
    listener = socket.create_server((address, port), backlog=1024, dualstack_ipv6=ipv6,
                                    family=socket.AF_INET6 if ipv6 else socket.AF_INET)
    name = f"virt-seed-imds-{os.getpid()}"
    notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notices.bind("\0" + name)
    child = None
    ended = False

    def end_child():
        try:
            os.kill(child, signal.SIGTERM)
        except ProcessLookupError:
            pass

    def watch():
        nonlocal ended
        os.read(0, 1)
        ended = True
        end_child()

    def expect_notice(text, seconds):
        notices.settimeout(seconds)
        try:
            found = notices.recv(1000).decode()
        except (BlockingIOError, TimeoutError):
            found = "nothing"
        if found != text:
            end_child()
            sys.exit(f"expected {text} from the server, found {found}")

    threading.Thread(target=watch, daemon=True).start()
    while not ended:
        child = os.fork()
        if child == 0:
            # Where it is that one already, it would be closed.
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()),
                              NOTIFY_SOCKET="@" + name)
            os.execv(command[0], command)
        expect_notice("READY=1", 30)
        if ended:
            end_child()
        else:
            print(child, flush=True)
        os.waitpid(child, 0)
        expect_notice("STOPPING=1", 0)


def listen(port, address):
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
        listener.bind((address, port))
        listener.listen()
        print(listener.getsockname()[1], flush=True)
        sys.stdin.read()


def begin(port, address, own, own_port):
    with socket.socket(socket.AF_INET6) as connection:
        connection.setsockopt(socket.IPPROTO_IPV6, IPV6_FREEBIND, 1)
        connection.bind((own, int(own_port)))
        connection.setblocking(False)
        connection.connect_ex((address, port))
        print("begun", flush=True)
        sys.stdin.read()


def storm(port, path, count, pause):
    statuses = collections.Counter()
    for _ in range(int(count)):
        try:
            connection = connect(port)
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            answer = receive(connection)
            header, _, body = answer.partition(b"\r\n\r\n")
            length = int(header.lower().partition(b"content-length: ")[2].split()[0])
            status = header.split()[1].decode() if len(body) == length else "short"
            if not body:
                status += " empty"
            if b"\r\nretry-after: 1\r\n" in header.lower() + b"\r\n":
                status += " with Retry-After"
        except (OSError, IndexError) as error:
            status = type(error).__name__
        statuses[status] += 1
        time.sleep(float(pause))
    for status, number in sorted(statuses.items()):
        print(status, number)


COMMANDS = {
    "send": send,
    "idle": idle,
    "drip": drip,
    "slow-read": slow_read,
    "stall": stall,
    "activate": activate,
    "listen": listen,
    "begin": begin,
    "storm": storm,
}
COMMANDS[sys.argv[1]](int(sys.argv[2]), *sys.argv[3:])
