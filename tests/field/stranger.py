"""A process that is no rank at the port of a job: stranger.py HOST PORT PACKETS RANKS. PACKETS is a file with bytes that a
rank has sent to this port. Prints figures in JSON."""
import json
import os
import select
import socket
import sys
import threading
import time

HOST, PORT, PACKETS, RANKS = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
SILENT = 1100  # connections, more than the open files that a process often may have


def connect():
    return socket.create_connection((HOST, PORT), timeout=10)


def seconds_until_closed(connection, limit=20):
    start = time.monotonic()
    poll = select.poll()  # select() takes no more than 1,024 open files
    poll.register(connection, select.POLLIN)
    while time.monotonic() - start < limit:
        if not poll.poll(50):
            continue
        try:
            if not connection.recv(4096):
                return time.monotonic() - start
        except OSError:
            return time.monotonic() - start
    return limit


def silent():
    """The longest time that one of many silent connections is kept."""
    connections = []
    for _ in range(SILENT):
        connections.append((time.monotonic(), connect()))
    longest = 0
    for begin, connection in connections:
        seconds_until_closed(connection)
        longest = max(longest, time.monotonic() - begin)
    return longest


def send(content):
    """The time until a connection that sends this is closed."""
    connection = connect()
    try:
        connection.sendall(content)
    except OSError:
        pass  # closed while it was sent
    return seconds_until_closed(connection)


def garbage():
    """Megabytes at a time, from four senders for five seconds: the longest time that one of them is heard."""
    times = []
    end = time.monotonic() + 5

    def flood():
        while time.monotonic() < end:
            times.append(send(os.urandom(1 << 20)))

    senders = [threading.Thread(target=flood) for _ in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    return {"connections": len(times), "longest_seconds": max(times)}


def slowly():
    connection = connect()
    start = time.monotonic()
    while time.monotonic() - start < 20:
        try:
            connection.send(b"\0")
        except OSError:
            break
        if seconds_until_closed(connection, 0.1) < 0.1:
            break
    return time.monotonic() - start


def main():
    with open(PACKETS, "rb") as file:
        packets = file.read()
    # Of the first packet: from whom, to whom, who has opened the connection (4 bytes each, and 4 empty ones), and its
    # number (8). With a number that is larger than any so far, only its hash is wrong.
    forged = bytearray(packets)
    forged[16 + 5] ^= 1
    # The system may let the other wait for a processor: the shortest of some times counts.
    shortest = lambda content: min(send(content) for _ in range(5))
    print(json.dumps({"silent_seconds": silent(), "garbage": garbage(), "slow_seconds": slowly(),
                      "replayed_seconds": shortest(packets), "forged_seconds": shortest(bytes(forged))}))


if __name__ == "__main__":
    import resource
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, SILENT + 100), hard))
    main()
