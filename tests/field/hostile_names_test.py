"""Names and texts of others: they cannot ring, colour the terminal, move its cursor, turn a line around or add one of their
own, whatever command prints them."""
import json
import re
import shutil
import struct

import field
from small_runs import RunCase

ESCAPE, BELL, TURN, C1 = "\x1b]0;owned\x07\x1b[2J", "\x07", "\u202e", "\u009b31m"
FORGED = "\nconvoy: done: step 9 of 9; best test top-1 100.00 % in epoch 1\n"
HOSTILE = f"a{ESCAPE}{BELL}{TURN}{C1}{FORGED}z".replace("/", "")


class HostileNames(RunCase):
    def setUp(self):
        super().setUp()
        self.data = self.pictures("pictures")

    def check(self, answer):
        """Nothing but line ends and tabs of all control characters, no mark of direction, no line of somebody else."""
        self.assertNotRegex(answer.output, "[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
        self.assertNotRegex(answer.output, "(?m)^convoy: done")
        return answer

    def shown(self, *arguments, **how):
        return self.check(self.convoy(*arguments, **how))

    def bad_picture(self, folder):
        path = self.folder / folder / f"{HOSTILE}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"no picture")

    def test_names_of_files_that_are_imported_and_predicted(self):
        self.bad_picture("pictures/train/dark")
        answer = self.shown("import", "--import.source=pictures", "--import.output=again")
        self.expect(answer, 0, r"skipped 'train/dark/a\x1b]0;owned\x07\x1b[2J", r"\nconvoy: done")
        self.expect(self.check(self.train(self.data, "--train.max_steps=1")), 0)
        shutil.copytree(self.folder / "pictures/test/light", self.folder / "unknown")
        self.bad_picture("unknown")
        answer = self.shown("predict", "run/params.cfg", "--predict.data=unknown")
        self.expect(answer, 0, r"skipped 'a\x1b]0;owned\x07")
        self.bad_picture("one")
        self.expect(self.shown("predict", "run/params.cfg", f"--predict.data=one/{HOSTILE}.jpg"), 2)

    def test_a_class_folder_with_such_a_name_is_refused(self):
        shutil.copytree(self.folder / "pictures/train/dark", self.folder / "pictures/train" / HOSTILE)
        answer = self.shown("import", "--import.source=pictures", "--import.output=again")
        self.expect(answer, 2, "the name of a class folder contains control characters", "Rename it")

    def test_names_of_tensors(self):
        header = json.dumps({HOSTILE: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        weights = self.write("weights.safetensors", struct.pack("<Q", len(header)) + header + b"\0" * 4)
        refusal = "a name in its header contains control characters"
        self.expect(self.check(self.train(self.data, f"--init.weights={weights}")), 2, refusal)
        for command in (["info", weights], ["check", weights], ["compare", weights, weights]):
            answer = self.shown(*command)
            self.assertNotEqual(answer.status, 0)
            self.assertIn(refusal, answer.output)

    def test_the_tables_of_a_run(self):
        self.expect(self.train(self.data, "--train.max_steps=4"), 0)
        rows = self.log()
        rows[0].update(command=HOSTILE, machine=HOSTILE, version=HOSTILE, metric=HOSTILE)
        rows.append({"kind": "warning", "time": rows[-1]["time"], "step": 4, "text": HOSTILE})
        rows.append({"kind": "rank", "time": rows[-1]["time"], "step": 4, "rank": 0, "host": HOSTILE, "step_seconds": 1})
        rows.append({"kind": "end", "time": rows[-1]["time"], "step": 4, "how": HOSTILE})
        self.write("run/log.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        quoted = '"' + HOSTILE.replace("\n", " ") + '"'
        starts = self.folder / "run/starts.csv"
        starts.write_text(starts.read_text().splitlines()[0] + f"\n0,{quoted},{quoted},{quoted}\n")
        shutil.copytree(self.folder / "run", self.folder / "other")
        steps = self.folder / "other/steps.csv"
        steps.write_text(re.sub(r"(?m)^(2,\d+),[^,]*,", r"\g<1>,0.5,", steps.read_text()))
        self.expect(self.shown("watch", "run", "--watch.once=true"), 0)
        self.assertNotEqual(self.shown("compare", "run", "other").status, 2)
        self.expect(self.shown("replay", "run/params.cfg", "--replay.steps=1-2"), 0)
        self.shown("info", "run")
        self.shown("check", "run/params.cfg")
        self.shown("train", "run/params.cfg")
        self.expect(self.shown("evaluate", "run/params.cfg"), 0)
        self.expect(self.shown("export", "--run.directory=run", "--export.output=weights.safetensors"), 0)

    def test_the_table_of_a_sweep(self):
        sweep = ("sweep", *self.data, "--run.directory=sweep", "--sweep.micro=4", "--sweep.steps=2", "--sweep.warm_steps=1",
                 "--sweep.rounds=1")
        self.expect(self.shown(*sweep), 0)
        table = self.folder / "sweep/sweep.csv"
        table.write_text(re.sub("(?m)^([^,\n]*),([^,\n]*)", lambda row: f'{row[1]},"{HOSTILE}"', table.read_text()))
        self.shown(*sweep)

    def test_the_name_of_a_host(self):
        tool = ["unshare", "--uts", "python3", "-c",
                "import os, socket, sys; socket.sethostname(os.fsencode(sys.argv[1])[:60]); os.execvp(sys.argv[2], sys.argv[2:])", HOSTILE]
        if self.start([*tool, "true"]).status != 0:
            self.skipTest("this user may not name a host")
        self.expect(self.shown("info", tool=tool), 0, r"a\x1b]0;owned")

    def test_cells_that_a_spreadsheet_would_compute(self):
        self.expect(self.train(self.data, "--train.max_steps=1"), 0)
        shutil.copytree(self.folder / "pictures/test/light", self.folder / "unknown")
        (self.folder / "unknown/0.png").rename(self.folder / "unknown/=HYPERLINK(1).png")
        (self.folder / "unknown/1.png").rename(self.folder / "unknown/-5")
        self.expect(self.convoy("predict", "run/params.cfg", "--predict.data=unknown"), 0)
        names = [line.split(",")[0] for line in (self.folder / "run/predictions.csv").read_text().splitlines()]
        self.assertIn("'=HYPERLINK(1).png", names)
        self.assertIn("-5", names)


if __name__ == "__main__":
    field.main()
