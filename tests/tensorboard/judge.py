#!/usr/bin/env python3
"""Whether TensorBoard itself reads what run.tensorboard writes, also after a restart from an older checkpoint."""

import csv
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    print(f"skipped: {sys.executable} has no tensorboard")
    sys.exit(77)


def write_idx(path, magic, dimensions, values):
    path.write_bytes(struct.pack(f">I{len(dimensions)}I", magic, *dimensions) + bytes(values))


def write_data(folder):
    """MNIST's four files: grey images of 8 x 8 of four classes, each of one brightness."""
    folder.mkdir()
    for split, count in [("train", 256), ("t10k", 64)]:
        labels = [i % 4 for i in range(count)]
        pixels = [60 * label + pixel % 7 for label in labels for pixel in range(64)]
        write_idx(folder / f"{split}-images-idx3-ubyte", 0x803, [count, 8, 8], pixels)
        write_idx(folder / f"{split}-labels-idx1-ubyte", 0x801, [count], labels)


def scalars(directory, tag):
    accumulator = EventAccumulator(str(directory), size_guidance={"scalars": 0})
    accumulator.Reload()
    assert tag in accumulator.Tags()["scalars"], accumulator.Tags()
    return [(event.step, event.value) for event in accumulator.Scalars(tag)]


def as_float(text):
    return struct.unpack("f", struct.pack("f", float(text)))[0]


def main():
    convoy = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        write_data(root / "source")
        run = root / "run"

        def call(*arguments):
            subprocess.run([convoy, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=root)

        def train(steps):
            call("train", "--data.train=data/train", "--data.test=data/test", "--model.name=resnet20", "--batch.global=32",
                 "--batch.micro=16", "--run.threads=1", "--run.device=cpu", "--run.tensorboard=true", f"--run.directory={run}",
                 f"--train.max_steps={steps}")

        call("import", "--import.source=source", "--import.output=data")
        train(12)
        train(20)
        for newest in ["step-00000020.h5", "best.h5"]:
            (run / "checkpoints" / newest).unlink(missing_ok=True)
        train(18)  # resumes from step 16: the earlier steps 17 to 20 no longer count

        with open(run / "steps.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        for tag, column in [("loss/train", "loss"), ("learning_rate", "lr")]:
            expected = [(int(row["step"]), as_float(row[column])) for row in rows]
            assert scalars(run, tag) == expected, (tag, scalars(run, tag), expected)
        assert [step for step, _ in scalars(run, "top1/test")] == [8, 12, 16, 18], scalars(run, "top1/test")
        print(f"TensorBoard has all {len(rows)} steps")


if __name__ == "__main__":
    main()
