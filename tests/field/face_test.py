"""What everybody sees: the first lines of a run, words of the help, counts and numbers, pictures."""
import os
import re
import subprocess
import sys

from PIL import Image

import field

RANKS = ("step,time,rank,host,replica,stage,steps,step_seconds,busy,bubble,straggler,communication,data,resident_bytes,"
         "device_bytes\n")


class Face(field.Case):
    def import_images(self, num_train=24, num_test=8):
        for split, num in [("train", num_train), ("test", num_test)]:
            for i in range(num):
                folder = self.folder / "photos" / split / ("ant" if i % 2 else "bee")
                folder.mkdir(parents=True, exist_ok=True)
                Image.new("RGB", (16, 16), (200 * (i % 2), 9 * i % 256, 50)).save(folder / f"{i}.png")
        self.expect(self.convoy("import", "--import.source=photos", "--import.output=data"), 0)

    def train(self, *more, ranks=0):
        return self.convoy("train", "--model.name=resnet20", "--data.train=data/train", "--data.test=data/test",
                           "--batch.global=8", "--batch.micro=4", "--run.directory=run", "--run.threads=1", *more,
                           ranks=ranks)

    def test_a_run_says_first_what_it_is_then_what_it_measures_once(self):
        self.import_images()
        first = self.train("--train.max_steps=2", ranks=2)
        self.expect(first, 0)
        lines = [r"^convoy [0-9]", r"^resnet20: .*24 training samples 16x16x3, 2 classes$", r"^epoch: 3 steps$",
                 r"^1 node, 2 ranks on it; ",
                 r"^measuring the speed of cells, messages and memory on these ranks, only at the first start in this run directory: .*costs.txt$",
                 r"^measured in [0-9]+ s", r"^grid: 1 stage x 2 replicas = 2 ranks; 1 micro-batch per step on each"]
        places = [re.search(line, first.output, re.MULTILINE) for line in lines]
        for line, place in zip(lines, places):
            self.assertTrue(place, f"{line}\n{first.output}")
        self.assertEqual([place.start() for place in places], sorted(place.start() for place in places), first.output)
        self.assertTrue(first.output.startswith("convoy "), first.output)
        self.expect(self.train("--train.max_steps=3", ranks=2), 0)
        self.assertNotIn("measuring", self.train("--train.max_steps=4", ranks=2).output)

    def test_a_word_of_the_help_that_is_no_name_is_searched_in_all_texts(self):
        self.expect(self.convoy("help", "early"), 0, "\n  train.patience_epochs ")
        over = self.convoy("help", "over")
        self.expect(over, 0, "\n  train.clip_norm ")
        self.assertNotIn("import.val_fraction", over.output)  # sets that overlap
        self.expect(self.convoy("help", "optimizer.lrr"), 2, "Nearest: optimizer.lr.")
        self.expect(self.convoy("help", "xyzzyxyzzy"), 2, "there is no such key, section or command.")

    def test_join_without_paths_asks_for_checkpoints_only(self):
        self.expect(self.convoy("join"), 2, "convoy join needs sharded checkpoints, as in convoy join runs/a/checkpoints/*.h5")

    def test_several_values_of_a_key_are_refused_with_where_to_try_them(self):
        several = "To try several, start a run for each (jobs/parameter_files.sh)."
        for key in ("--optimizer.lr=0.1,0.02", "--train.max_steps=1,2"):
            self.expect(self.convoy("train", key), 2, several)
        self.expect(self.convoy("sweep", "--sweep.lr=0.1,0.02"), 2, "convoy sweep measures the speed of layouts", "jobs/parameter_files.sh")

    def test_sentences_that_are_joined_are_ended(self):
        self.expect(self.convoy("plan", "--model.name=resnet20", "--data.train=absent"), 2,
                    "Make a data set with 'convoy import'. To plan without")

    def test_job_scripts_say_that_they_are_jobs_of_slurm(self):
        scripts = [script for script in sorted(field.SOURCE.glob("jobs/*.sh")) if script.name != "common.sh"]
        self.assertGreater(len(scripts), 8)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
        for script in scripts:
            started = subprocess.run(["bash", script, "my.cfg"], env=environment, capture_output=True, text=True)
            self.assertNotEqual(started.returncode, 0, script)
            self.assertIn(f"this is a job of Slurm, started by: sbatch {script} ...", started.stderr)

    def test_a_table_of_checks_counts_what_has_failed(self):
        self.import_images()
        failed = self.convoy("check", "--model.name=resnet20", "--data.train=data/train", "--data.test=absent",
                             "--batch.global=8", "--batch.micro=4", "--run.directory=run")
        self.expect(failed, 2, ", 1 failed, ")
        self.assertNotRegex(failed.output, r"\bfails\b")

    def test_a_loss_that_is_no_number_is_nan_without_a_sign(self):
        self.import_images()
        run = self.train("--train.epochs=1", "--train.loss_limit=1e-6", "--train.on_bad_step=skip",
                         "--train.max_bad_steps=100")  # all steps are skipped: the epoch's loss is 0 / 0
        self.expect(run, 0, "no loss: all steps were skipped")
        files = "".join((self.folder / "run" / name).read_text() for name in ["log.csv", "steps.csv"])
        self.assertIn("nan", files, run.output)
        self.assertNotIn("-nan", files)
        self.assertNotIn("-nan", run.output)

    def test_a_key_that_was_emptied_between_two_starts_is_called_empty(self):
        self.import_images()
        self.expect(self.train("--train.max_steps=1", "--train.class_weights=balanced"), 0)
        again = self.train("--train.max_steps=2")
        self.expect(again, 0, "train.class_weights balanced -> (empty)")

    def plot(self, *runs):
        plotted = self.start([field.SOURCE / "tools" / "plot_run", *runs, "--output=plot.svg"])
        if "has no matplotlib" in plotted.output:
            self.skipTest(plotted.output)
        self.expect(plotted, 0)

    def write_run(self, name, grids):
        """A run of 8 epochs with test.csv; `grids`: its grid (stages, replicas) from a step on."""
        epochs = "".join(f"{e},{10 * e},{2 / e},{1 - 0.7 / e},,,{2.1 / e},{1 - 0.75 / e}\n" for e in range(1, 9))
        self.write(f"{name}/log.csv", "epoch,step,train_loss,train_top1,test_loss,test_top1,val_loss,val_top1\n" + epochs)
        self.write(f"{name}/test.csv", "step,loss,top1,checkpoint\n70,0.31,0.88,best.h5\n")
        rows = ""
        for step in range(5, 81, 5):
            stages, replicas = [grid for first, grid in grids.items() if step >= first][-1]
            for rank in range(stages * replicas):
                rows += (f"{step},{step}.000,{rank},node{rank},{rank // stages},{rank % stages},5,0.2,0.7000,0.2000,0.0500,"
                         "0.0300,0.0200,1000,0\n")
        self.write(f"{name}/ranks.csv", RANKS + rows)

    def texts_of(self, picture):
        return re.findall(r"<!-- (.*?) -->", (self.folder / picture).read_text())  # matplotlib's letters are paths

    def test_ranks_are_plotted_grid_by_grid_where_a_restart_changed_it(self):
        self.write_run("run", {0: (2, 1), 45: (1, 4)})
        self.plot("run")
        texts = self.texts_of("plot-ranks.svg")
        for text in ["2 stages x 1 replica", "1 stage x 4 replicas", "Share of its time, %, from step 45 on (1 stage x 4 replicas)"]:
            self.assertIn(text, texts)

    def test_several_runs_have_a_picture_of_their_own(self):
        for name in ["one", "two"]:
            self.write_run(name, {0: (1, 1)})
        plotted = self.start([field.SOURCE / "tools" / "plot_run", "one", "two"])
        if "has no matplotlib" in plotted.output:
            self.skipTest(plotted.output)
        self.expect(plotted, 0, "runs.png\n")
        self.assertEqual([path.name for path in self.folder.rglob("*.png")], ["runs.png"])

    def test_fields_are_drawn_with_their_errors(self):
        try:
            import h5py
            import matplotlib  # noqa: F401
            import numpy
        except ImportError as error:
            self.skipTest(str(error))
        true = numpy.arange(4 * 2 * 5 * 6, dtype="f4").reshape(4, 2, 5, 6)
        error = numpy.where(numpy.arange(2) == 0, 0.5, -2.0).reshape(1, 2, 1, 1).astype("f4")
        texts = {"output_names": [b"u", b"v"], "names": [b"a", b"b", b"c", b"d"], "target_channel_axis": [b"first"]}
        for axis in ["first", "last"]:
            texts["target_channel_axis"] = [axis.encode()]
            with h5py.File(self.folder / "p.h5", "w") as file:
                for name, values in {"targets": true, "outputs": true + error}.items():
                    file[name] = values if axis == "first" else numpy.moveaxis(values, 1, -1)
                for name, values in texts.items():
                    file[name] = numpy.array(values)
            numpy.save(self.folder / "x.npy", true[:, :1])
            plotted = self.start([sys.executable, field.SOURCE / "tools/plot_predictions", "p.h5", "--output=p.svg",
                                  "--input=x.npy", "--samples=2"])
            self.expect(plotted, 0, "p.svg\n")
            drawn = self.texts_of("p.svg")
            for text in ["u: RMSE 0.5, MAE 0.5, mean error 0.5", "v: RMSE 2, MAE 2, mean error -2", "a: input, first channel",
                         "c: true", "a: predicted", "c: predicted - true", "predicted - true, in the unit of u"]:
                self.assertIn(text, drawn)
        numpy.save(self.folder / "x.npy", true[:3])
        refused = self.start([sys.executable, field.SOURCE / "tools/plot_predictions", "p.h5", "--input=x.npy"])
        self.expect(refused, 1, "--input=x.npy has 3 samples, but 4 were predicted")

    def test_the_diamond_of_the_test_set_has_a_legend(self):
        for name in ["one", "two"]:
            self.write_run(name, {0: (1, 1)})
        self.plot("one", "two")
        self.assertIn("test, of the weights that val has chosen", self.texts_of("plot.svg"))


field.main()
