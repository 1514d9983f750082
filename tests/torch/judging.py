"""What the judges share: a test that is skipped where a package is missing, commands that must succeed, comparisons."""

import importlib
import subprocess
import sys


def require(*names):
    """The modules; without one of them the test ends with 77 (skipped)."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)


def run(*command):
    command = [str(word) for word in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}")


def compare(what, got, want, most):
    """Relative, of whole tensors."""
    deviation = ((got.double() - want.double()).norm() / want.double().norm()).item()
    print(f"{what}: {deviation:.1e}, allowed {most:.0e}")
    if not deviation <= most:  # NaN too
        sys.exit(f"{what} differ by {deviation}")
