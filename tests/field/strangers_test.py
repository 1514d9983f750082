"""Processes that are no ranks at the port of a job: on one host, and between two hosts (network namespaces)."""
import json
import os
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path

import field
from small_runs import RunCase

ROOT = field.SOURCE
sys.dont_write_bytecode = True
stuck_ranks = SourceFileLoader("stuck_ranks", str(ROOT / "tools/stuck_ranks")).load_module()
torture = stuck_ranks.torture
STRANGER = Path(__file__).with_name("stranger.py")
RANKS = 4


def listening(pid):
    """(address, port) of each socket on which this process listens."""
    sockets, found = set(), []
    for file in os.scandir(f"/proc/{pid}/fd"):
        try:
            sockets.add(os.readlink(file.path).removeprefix("socket:[").removesuffix("]"))
        except FileNotFoundError:
            pass  # closed meanwhile
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        columns = line.split()
        if columns[3] == "0A" and columns[9] in sockets:
            host, port = columns[1].split(":")
            found.append((socket.inet_ntoa(struct.pack("<I", int(host, 16))), int(port, 16)))
    return found


def resident_mebibytes(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def captured_payloads(packets):
    """By (host, port) that they go to: what was sent over TCP, of frames as AF_PACKET has them."""
    payloads = {}
    for frame in packets:
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        tcp = frame[14 + 4 * (frame[14] & 15):14 + struct.unpack(">H", frame[16:18])[0]]
        to = (socket.inet_ntoa(frame[30:34]), struct.unpack(">H", tcp[2:4])[0])
        payloads[to] = payloads.get(to, b"") + tcp[4 * (tcp[12] >> 4):]
    return payloads


class Strangers(RunCase):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("only root can hear what ranks say to each other")
        self.data = self.pictures("pictures")
        self.frames = []

    def capture(self, namespace, device):
        """Keeps the short frames that pass there, from now on until the job trains."""
        self.listener = listener = subprocess.Popen(
            [*namespace, sys.executable, "-c",
             "import socket, struct, sys\n"
             "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))\n"
             f"s.bind(('{device}', 0))\n"
             "print(flush=True)\n"
             "while True:\n"
             "  frame = s.recv(65536)\n"
             "  if len(frame) > 500: continue\n"
             "  sys.stdout.buffer.write(struct.pack('>I', len(frame)) + frame)\n"
             "  sys.stdout.buffer.flush()"], stdout=subprocess.PIPE)
        self.addCleanup(listener.wait)
        self.addCleanup(listener.kill)
        if not listener.stdout.readline():
            self.skipTest("this root may not hear what ranks say to each other")

        def read():
            while len(head := listener.stdout.read(4)) == 4:
                self.frames.append(listener.stdout.read(struct.unpack(">I", head)[0]))

        threading.Thread(target=read, daemon=True).start()

    def start_job(self, launcher, environment):
        command = [*launcher, field.PROGRAM, "train", *self.data, "--grid.stages=2", "--run.directory=run",
                   "--train.epochs=100000", "--train.evaluate_every_epochs=0", "--checkpoint.best=false",
                   "--checkpoint.every_epochs=20", "--checkpoint.keep=2"]
        job = subprocess.Popen(list(map(str, command)), cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=open(self.folder / "log.txt", "w"), stderr=subprocess.STDOUT)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        self.wait_for(lambda: (self.folder / "run/steps.csv").exists(), job)
        self.listener.kill()  # the ranks have greeted each other
        self.wait_for(lambda: list(self.folder.glob("run/checkpoints/step-*.h5")), job)
        return job

    def wait_for(self, condition, job):
        for _ in range(900):
            if condition():
                return
            self.assertIsNone(job.poll(), (self.folder / "log.txt").read_text())
            time.sleep(0.1)
        self.fail((self.folder / "log.txt").read_text())

    def attack(self, job, mark, namespace):
        """Returns what was measured of rank 0, and what the stranger says."""
        ranks = {}
        for pid in torture.processes_of(mark, Path(field.PROGRAM).name):
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            ranks[next(int(v.split(b"=")[1]) for v in variables if v.startswith(b"OMPI_COMM_WORLD_RANK="))] = pid
        root = ranks[0]
        host, port = next(pair for pair in listening(root) if pair[0] != "0.0.0.0")
        said = self.write("packets", captured_payloads(self.frames)[host, port][:400])
        before, most_files, most_memory = resident_mebibytes(root), 0, 0
        stranger = subprocess.Popen([*namespace, sys.executable, STRANGER, host, str(port), said, str(RANKS)],
                                    stdout=subprocess.PIPE, text=True)
        self.addCleanup(stranger.wait)
        self.addCleanup(stranger.kill)
        files = len(os.listdir(f"/proc/{root}/fd"))
        while stranger.poll() is None:
            most_files = max(most_files, len(os.listdir(f"/proc/{root}/fd")) - files)
            most_memory = max(most_memory, resident_mebibytes(root) - before)
            self.assertIsNone(job.poll(), (self.folder / "log.txt").read_text())
            time.sleep(0.02)
        figures = json.loads(stranger.communicate()[0]) | {"more_files": most_files, "more_mebibytes": most_memory}
        print(figures, file=sys.stderr)
        self.assertLess(figures["silent_seconds"], 10)
        self.assertLess(figures["garbage"]["longest_seconds"], 5)
        self.assertLess(figures["slow_seconds"], 4)
        self.assertLess(figures["replayed_seconds"], 1)
        self.assertLess(figures["forged_seconds"], 1)
        # Its checkpoints have files, too.
        self.assertLess(most_files, RANKS + 16 + 20)
        self.assertLess(most_memory, 32)
        return ranks

    def expect_healthy(self, job, ranks):
        """It saves again, is still watched, and stops when it is asked to."""
        newest = max(self.folder.glob("run/checkpoints/step-*.h5"))
        self.wait_for(lambda: max(self.folder.glob("run/checkpoints/step-*.h5")) > newest, job)
        os.kill(ranks[0], 10)  # USR1
        job.wait(timeout=60)
        log = (self.folder / "log.txt").read_text()
        self.assertEqual(job.returncode, 75, log)
        self.assertNotIn("warning", log)
        self.assertIn("stopped on request", log)

    def test_on_the_host_of_a_job(self):
        self.capture([], "lo")
        mark = self.folder / "job"
        environment = torture.environment(mark) | field.MPI_ENVIRONMENT
        self.addCleanup(torture.kill_all, mark)
        job = self.start_job([field.MPIRUN, "-n", str(RANKS)], environment)
        ranks = self.attack(job, mark, [])
        for rank, pid in ranks.items():
            self.assertEqual({host for host, _ in listening(pid)} - {"127.0.0.1", "0.0.0.0"}, set(), f"rank {rank}")
        self.expect_healthy(job, ranks)

    def test_between_two_hosts(self):
        trial_class = stuck_ranks.Unreachable
        if obstacle := trial_class.obstacle():
            self.skipTest(obstacle)
        trial = trial_class(self.folder / "trial", random.Random(1), None, field.PROGRAM)
        self.addCleanup(trial.clean_up)
        self.addCleanup(torture.kill_all, trial.directory)
        trial.prepare()
        other_host = ["ip", "netns", "exec", trial.names[1]]
        self.capture(other_host, "convoy-b")
        job = self.start_job(trial.launcher(), trial.environment)
        ranks = self.attack(job, trial.directory, other_host)
        self.expect_healthy(job, ranks)


if __name__ == "__main__":
    field.main()
