"""What the tests of this folder share: a folder of their own, the program as a user starts it, and what it answered.

A case is a method `test_...` of a class derived from Case, in a file NAME_test.py that ends with `field.main()`. It writes its
input itself, runs the program, and compares the answer with the right one, which is written next to the input.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["CONVOY_PROGRAM"]
SOURCE = pathlib.Path(os.environ["CONVOY_SOURCE"])
MPIRUN = os.environ["CONVOY_MPIRUN"]
MPI_ENVIRONMENT = dict(variable.split("=", 1) for variable in os.environ["CONVOY_MPI_ENVIRONMENT"].split())


class Answer:
    """How a process ended: `status` (negative: minus the signal that killed it), and `output`, both streams together."""

    def __init__(self, status, output):
        self.status = status
        self.output = output


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="convoy-field-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, content):
        """Writes text (as UTF-8) or bytes to a file of the case's folder; returns its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def convoy(self, *arguments, ranks=0, environment=None, timeout=120, tool=()):
        """Runs `convoy ARGUMENTS` in the case's folder, under mpirun where ranks > 0; never waits for ever."""
        command = [*tool, PROGRAM, *map(str, arguments)]
        if ranks > 0:
            command = [MPIRUN, "-n", str(ranks), *command]
        return self.start(command, environment=MPI_ENVIRONMENT | (environment or {}), timeout=timeout)

    def start(self, command, environment=None, timeout=120):
        """Runs any command in the case's folder, with these environment variables in addition."""
        process = subprocess.run(
            list(map(str, command)), cwd=self.folder, env=os.environ | (environment or {}), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
        return Answer(process.returncode, process.stdout.decode(errors="backslashreplace"))

    def expect(self, answer, status, *parts):
        """The process must have ended with this status, and its output must hold all parts."""
        self.assertEqual(answer.status, status, answer.output)
        for part in parts:
            self.assertIn(part, answer.output)


def main():
    """Runs all cases of the script, or only `--case NAME`. Exit status 77: the case was skipped."""
    pattern = sys.argv[2] if len(sys.argv) == 3 and sys.argv[1] == "--case" else None
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    cases = [case for group in suite for case in group if pattern in (None, case._testMethodName)]
    if not cases:
        sys.exit(f"there is no case '{pattern}'")
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(cases))
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if len(result.skipped) == len(cases) else 0)
