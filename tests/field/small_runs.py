"""What the tests of trainings and restarts share: a few made-up pictures, and short runs on them."""
import json
import random
import shutil

from PIL import Image

import field


class RunCase(field.Case):
    def pictures(self, folder, train=16, test=6, size=16, classes=("dark", "light")):
        """Imports pictures whose brightness tells their class, `train` and `test` of each; returns the keys that train on them."""
        draw = random.Random(1)
        for split, number in (("train", train), ("test", test)):
            for c, name in enumerate(classes):
                mean = 40 + 180 * c // max(1, len(classes) - 1)
                for i in range(number):
                    path = self.folder / folder / split / name / f"{i}.png"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    values = bytes(min(255, max(0, round(draw.gauss(mean, 40)))) for _ in range(3 * size * size))
                    Image.frombytes("RGB", (size, size), values).save(path)
        data = f"{folder}-data"
        self.expect(self.convoy("import", f"--import.source={folder}", f"--import.output={data}"), 0)
        return [f"--data.train={data}/train", f"--data.test={data}/test", "--run.device=cpu", "--run.threads=1",
                "--model.name=resnet20", "--batch.global=8", "--batch.micro=4", "--train.epochs=4",
                "--optimizer.lr=0.05"]

    def train(self, data, *keys, run="run", **how):
        return self.convoy("train", *data, f"--run.directory={run}", *keys, **how)

    def rows(self, table, run="run"):
        """The rows of a table of the run's directory, each a dictionary."""
        lines = (self.folder / run / table).read_text().splitlines()
        names = lines[0].split(",")
        return [dict(zip(names, line.split(","))) for line in lines[1:]]

    def log(self, run="run"):
        """The rows of log.jsonl."""
        return [json.loads(line) for line in (self.folder / run / "log.jsonl").read_text().splitlines()]

    def keep_log(self, wanted, run="run"):
        """Leaves only the rows of log.jsonl that `wanted` accepts."""
        rows = [json.dumps(row, separators=(",", ":")) for row in self.log(run) if wanted(row)]
        self.write(f"{run}/log.jsonl", "".join(row + "\n" for row in rows))

    def purge(self, run="run"):
        """Removes the checkpoints, as the cleaning of a scratch file system does."""
        shutil.rmtree(self.folder / run / "checkpoints")
