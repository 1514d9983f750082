"""Trainings that cannot learn or are asked for in a contradictory way, and what uses a trained network afterwards."""
import math
import os
import shutil
import subprocess

import field
from small_runs import RunCase


class BatchNorm(RunCase):
    """Three halvings and a pooling: of a 32 x 32 picture the last stage of resnet18 sees one pixel."""

    def setUp(self):
        super().setUp()
        self.data = self.pictures("pictures", train=8, test=3, size=32) + [
            "--model.name=resnet18", "--batch.global=4", "--train.max_steps=1"]

    ONE = ("batch.micro = 1", "layer4.0.bn1", "32x32x3", "from 1 value per channel", "1 x 1 x 1",
           "batch.micro = 4 or more")

    def test_over_one_value_is_refused_wherever_a_training_is_planned(self):
        one = ["--batch.micro=1"]
        self.expect(self.train(self.data, *one), 2, *self.ONE)
        self.assertFalse((self.folder / "run").exists())
        self.expect(self.train(self.data, *one, "--grid.stages=auto", ranks=2), 2, *self.ONE)
        self.expect(self.train(self.data, *one, "--dry-run"), 2, *self.ONE)
        self.expect(self.convoy("check", *self.data, *one), 2, *self.ONE)
        self.expect(self.convoy("check", *self.data, *one, "--grid.stages=auto", ranks=2), 2, *self.ONE)
        self.expect(self.convoy("plan", *self.data, *one), 2, *self.ONE)
        table = self.convoy("plan", *self.data, "--plan.ranks=2", "--plan.micro=1,2", "--plan.measure=false")
        self.expect(table, 0, "batch.micro")
        self.convoy("sweep", *self.data, "--run.directory=sweep", "--sweep.micro=1,2", "--sweep.steps=1")
        rows = (self.folder / "sweep/sweep.csv").read_text().splitlines()[1:]
        self.assertEqual([self.ONE[3] in row for row in rows], [True, False], rows)

    def test_over_two_values_is_warned_of(self):
        two = "mean and variance from 2 values per channel (batch.micro x rows x columns = 2 x 1 x 1): these are mostly noise"
        self.expect(self.train(self.data, "--batch.micro=2"), 0, "warning: with batch.micro = 2", two)
        self.assertTrue(any(two in row.get("text", "") for row in self.log() if row["kind"] == "warning"))
        self.expect(self.convoy("check", *self.data, "--batch.micro=2"), 0, two)
        self.expect(self.convoy("plan", *self.data, "--batch.micro=2"), 0, two)
        self.assertNotIn("noise", self.convoy("plan", *self.data, "--batch.micro=4").output)

    def test_over_one_value_matters_neither_frozen_nor_in_evaluations(self):
        self.expect(self.train(self.data, "--batch.micro=4"), 0)
        for command in (["evaluate"], ["predict"]):
            self.expect(self.convoy(*command, "run/params.cfg", "--batch.micro=1"), 0)
        frozen = self.train(self.data, "--batch.micro=1", "--train.freeze=layer4.*", run="frozen")
        self.expect(frozen, 0)
        self.assertNotIn("noise", frozen.output)
        # One of the cell's layers is still trained: the cell averages over micro-batches.
        part = self.train(self.data, "--batch.micro=1", "--train.freeze=layer4.*.bn*", run="part")
        self.expect(part, 2, "from 1 value per channel")


class Best(RunCase):
    """The best checkpoint is of another step than the newest: the learning rate of the second half destroys the network."""

    def setUp(self):
        super().setUp()
        self.data = self.pictures("pictures")
        self.expect(self.train(self.data, "--train.max_steps=8", "--lr.schedule=constant"), 0)
        answer = self.train(self.data, "--train.max_steps=12", "--lr.schedule=constant", "--optimizer.lr=1")
        self.expect(answer, 0)
        self.best_step = int(self.info("best.h5"))
        self.assertLess(self.best_step, 12, "the test needs a run that gets worse")
        self.end = answer.output

    def info(self, name):
        """The step of a checkpoint of the run."""
        output = self.convoy("info", f"run/checkpoints/{name}").output
        return output.split("step ")[1].split()[0].rstrip(",")

    def test_is_what_evaluate_predict_export_and_the_runs_end_take(self):
        named = f"checkpoint: run/checkpoints/best.h5 (the best, of step {self.best_step}; " \
                "the newest, run/checkpoints/step-00000012.h5, is of step 12)"
        self.expect(self.convoy("evaluate", "run/params.cfg"), 0, named)
        self.expect(self.convoy("predict", "run/params.cfg"), 0, named)
        self.expect(self.convoy("export", "run/params.cfg", "--export.output=best.safetensors"), 0, named)
        self.assertIn("checkpoint: run/checkpoints/step-00000012.h5; evaluate, predict and export take the best, "
                      "run/checkpoints/best.h5", self.end)
        # Others are there by name, and what continues or repeats a run takes the newest.
        newest = "--checkpoint.resume=run/checkpoints/step-00000012.h5"
        self.expect(self.convoy("evaluate", "run/params.cfg", newest), 0,
                    "checkpoint: run/checkpoints/step-00000012.h5\n")
        replay = self.convoy("replay", "run/params.cfg", "--replay.steps=12-12")
        self.assertIn("run/checkpoints/step-00000008.h5", replay.output)
        resumed = self.train(self.data, "--train.max_steps=13", "--lr.schedule=constant")
        self.expect(resumed, 0, "resumed: run/checkpoints/step-00000012.h5")

    def test_gives_the_test_result_of_the_runs_end(self):
        # data.val chooses, data.test is measured once: an evaluation says the same.
        shutil.rmtree(self.folder / "run")
        val = ["--data.val=pictures-data/train", "--train.max_steps=12", "--lr.schedule=constant"]
        self.expect(self.train(self.data, *val[:1], "--train.max_steps=8", *val[2:]), 0)
        end = self.train(self.data, *val, "--optimizer.lr=1")
        self.expect(end, 0)
        result = self.rows("test.csv")[0]
        evaluation = self.convoy("evaluate", "run/params.cfg")
        self.expect(evaluation, 0, "(the best, of step " + result["step"],
                    f"loss {float(result['loss']):.4f}  top-1 {100 * float(result['top1']):.2f} %")
        self.assertLess(int(result["step"]), 12)

    def test_that_is_not_there_or_damaged_is_said(self):
        best = self.folder / "run/checkpoints/best.h5"
        best.write_bytes(b"damaged")
        self.expect(self.convoy("evaluate", "run/params.cfg"), 0, "warning: run/checkpoints/best.h5 is not used",
                    "checkpoint: run/checkpoints/step-00000012.h5 (the newest, of step 12; there is no best one)")
        best.unlink()
        self.expect(self.convoy("evaluate", "run/params.cfg"), 0,
                    "checkpoint: run/checkpoints/step-00000012.h5 (the newest, of step 12; there is no best one)")


class Requests(RunCase):
    def setUp(self):
        super().setUp()
        self.data = self.pictures("pictures", test=3)

    def test_a_dry_run_that_fails_does_not_say_what_it_would_do(self):
        good = self.train(self.data, "--dry-run")
        self.expect(good, 0, "convoy train would begin and train to step 16")
        bad = self.train(self.data, "--dry-run", "--checkpoint.keep=0", "--init.weights=absent.h5")
        self.expect(bad, 2, "first correct what failed in the table above")
        self.assertNotIn("would begin", bad.output)

    def test_parameters_are_not_called_good_and_bad(self):
        answer = self.convoy("check", *self.data, "--grid.stages=3")
        self.expect(answer, 2, "grid.stages = 3")
        verdicts = [line.split("  ")[0] for line in answer.output.splitlines() if "  parameters  " in line]
        self.assertEqual(len(verdicts), 1, answer.output)
        self.assertNotEqual(verdicts[0], "ok")

    def test_a_table_of_micro_batches_does_not_ask_for_batch_micro(self):
        table = ["--plan.measure=false", "--plan.ranks=4", "--plan.micro=2,4"]
        # batch.micro = 5 does not divide 8, and is not to be planned.
        self.expect(self.convoy("plan", *self.data, "--batch.micro=5", *table), 0, "micro-batches of 2", "4 ranks: ")
        # batch.micro = 8 gives fewer micro-batches than replicas; a micro-batch of the list fits.
        fits = self.convoy("plan", *self.data, "--batch.micro=8", *table)
        self.expect(fits, 0, "4 micro-batches of 2")
        self.assertNotIn("is not possible", fits.output)
        # None of the list does: that is about the list.
        none = self.convoy("plan", *self.data, "--batch.micro=1", "--plan.measure=false", "--plan.ranks=4", "--plan.micro=4,8")
        self.expect(none, 0, "the layout of the parameters is not possible with any of plan.micro = 4, 8: ")
        # The list itself must divide.
        self.expect(self.convoy("plan", *self.data, "--plan.measure=false", "--plan.ranks=4", "--plan.micro=3"), 2,
                    "plan.micro = 3 does not divide batch.global = 8")

    def test_plan_refuses_what_train_refuses(self):
        for keys, complaint in (
                (["--run.device=cpu", "--train.precision=fp16"], "train.precision = fp16 needs a GPU"),
                (["--run.device=cpu", "--train.precision=tf32"], "train.precision = tf32 needs a GPU"),
                (["--batch.global=64", "--batch.micro=4"], "batch.global = 64 is more than the 32 samples"),
                (["--train.class_weights=1,2,3"], "train.class_weights has 3 factors"),
                (["--augment.crop_padding=40", "--augment.border=reflect"], "pixels allow at most"),
        ):
            for command in (["plan"], ["train"], ["check"]):
                self.expect(self.convoy(*command, *self.data, *keys), 2, complaint)

    def test_paths_that_cannot_be_followed_are_named(self):
        os.symlink("circle", self.folder / "circle")
        self.write("file", "a file, and no folder")
        for path in ("circle", "file/below", "a" * 300):
            for command in (["watch", path], ["compare", path, path], ["info", path], ["check", path],
                            ["sweep", *self.data, "--sweep.micro=4", f"--run.directory={path}"],
                            ["train", *self.data, f"--run.directory={path}"],
                            ["evaluate", f"--init.weights={path}"]):
                answer = self.convoy(*command)
                self.assertIn(answer.status, (1, 2), answer.output)
                self.assertIn(path[:40], answer.output)
                self.assertNotIn("filesystem error", answer.output)

    def test_a_run_directory_is_all_that_a_measurement_needs(self):
        self.expect(self.train(self.data, "--train.max_steps=2"), 0)
        for command in ("evaluate", "predict"):
            alone = self.convoy(command, "--run.directory=run", "--run.device=cpu")
            self.expect(alone, 0, "data.test = pictures-data/test: as in the training of", "pictures-data/test: 6 samples")
        best = self.convoy("evaluate", "--init.weights=run/checkpoints/best.h5", "--run.device=cpu")
        self.expect(best, 0, "pictures-data/test: 6 samples")
        self.expect(self.convoy("evaluate", "--run.directory=none"), 2, "run.directory = none holds no checkpoint")
        # Weights alone do not tell.
        self.expect(self.convoy("export", "--run.directory=run", "--export.output=w.safetensors"), 0)
        weights = self.convoy("evaluate", "--init.weights=w.safetensors", "--data.train=pictures-data/train",
                              "--model.name=resnet20", "--run.device=cpu")
        self.expect(weights, 2, "convoy evaluate needs data", "data.test")

    def test_more_ranks_than_micro_batches_evaluate_too(self):
        self.expect(self.train(self.data, "--train.max_steps=2"), 0)
        # batch.global = 8 in micro-batches of 4: two, for three replicas.
        def line(answer):
            self.expect(answer, 0)
            return [text.split("  (")[0] for text in answer.output.splitlines() if "6 samples" in text]
        one = line(self.convoy("evaluate", "run/params.cfg"))
        self.assertEqual(line(self.convoy("evaluate", "run/params.cfg", ranks=3)), one)
        self.expect(self.convoy("predict", "run/params.cfg", "--predict.output=one.csv"), 0)
        self.expect(self.convoy("predict", "run/params.cfg", "--predict.output=three.csv", ranks=3), 0)
        self.assertEqual((self.folder / "three.csv").read_bytes(), (self.folder / "one.csv").read_bytes())


class StaysRight(RunCase):
    """What was right already, each with the right answer computed here."""

    def test_any_number_of_samples_is_measured_on_any_number_of_ranks(self):
        data = self.pictures("pictures", test=33)
        self.expect(self.train(data, "--train.max_steps=2", "--train.evaluate_every_epochs=0"), 0)
        test = self.folder / "pictures/test"
        for number in (1, 7, 65):
            # The first `number` of both classes in turn.
            subset = self.folder / f"some{number}"
            for i in range(number):
                name = ("dark", "light")[i % 2]
                (subset / name).mkdir(parents=True, exist_ok=True)
                shutil.copy(test / name / f"{i // 2}.png", subset / name)
            counts = set()
            for ranks in (0, 2, 3):
                answer = self.convoy("predict", "run/params.cfg", f"--predict.data={subset}",
                                     f"--predict.output={number}-{ranks}.csv", ranks=ranks)
                self.expect(answer, 0, "1 sample " if number == 1 else f"{number} samples ")
                counts.add((self.folder / f"{number}-{ranks}.csv").read_bytes())
            self.assertEqual(len(counts), 1, "the ranks change the predictions")
            rows = counts.pop().decode().splitlines()[1:]
            self.assertEqual(len(rows), number)
            right = sum(row.split(",")[1] == row.split(",")[2] for row in rows)
            self.assertIn(f"top-1 {100 * right / number:.2f} %", answer.output)

    def test_uneven_last_batches_count_each_sample_once(self):
        data = self.pictures("pictures", test=7)  # 14 samples in steps of 8
        self.expect(self.train(data, "--train.max_steps=2"), 0)
        self.expect(self.convoy("predict", "run/params.cfg", "--predict.output=p.csv"), 0)
        rows = [line.split(",") for line in (self.folder / "p.csv").read_text().splitlines()[1:]]
        loss = -sum(math.log(float(row[3] if row[1] == row[2] else row[5])) for row in rows) / len(rows)
        right = sum(row[1] == row[2] for row in rows)
        for ranks in (0, 2, 3):
            answer = self.convoy("evaluate", "run/params.cfg", ranks=ranks)
            self.expect(answer, 0, f"14 samples  loss {loss:.3f}"[:-1], f"top-1 {100 * right / 14:.2f} %")
            self.assertNotRegex(answer.output, r"top-5 \d")  # of two classes every guess would be among them

    def test_a_resumed_run_has_the_rates_the_average_and_the_best_of_one_that_was_not_stopped(self):
        data = self.pictures("pictures") + ["--train.ema_decay=0.9", "--lr.warmup_epochs=1.5", "--lr.schedule=cosine"]
        self.expect(self.train(data, "--train.max_steps=10", run="whole"), 0)
        for steps in (4, 7, 10):
            self.expect(self.train(data, f"--train.max_steps={steps}", run="parts"), 0)
        rates = [float(row["lr"]) for row in self.rows("steps.csv", "whole")]
        self.assertEqual([row["lr"] for row in self.rows("steps.csv", "parts")],
                         [row["lr"] for row in self.rows("steps.csv", "whole")])
        # Four steps are an epoch: six of warm-up, the first of them a sixth of the rate.
        for step in range(6):
            self.assertAlmostEqual(rates[step], 0.05 * (step + 1) / 6, places=12)
        self.assertAlmostEqual(rates[6], 0.05, places=12)
        self.assertLess(rates[7], 0.05)
        self.expect(self.convoy("compare", "whole", "parts"), 0)
        def measured(run, *keys):
            answer = self.convoy("evaluate", f"{run}/params.cfg", *keys)
            self.expect(answer, 0, "(moving average)")
            return answer.output.splitlines()[-2:]
        for keys in ([], ["--checkpoint.resume=RUN/checkpoints/step-00000010.h5"]):
            whole = measured("whole", *[key.replace("RUN", "whole") for key in keys])
            parts = measured("parts", *[key.replace("RUN", "parts") for key in keys])
            self.assertEqual([line.split("  (")[0] for line in parts], [line.split("  (")[0] for line in whole])

    def test_a_locale_with_decimal_commas_changes_no_number(self):
        locale = self.folder / "locales"
        locale.mkdir()
        made = shutil.which("localedef") and subprocess.run(
            ["localedef", "-i", "de_DE", "-f", "UTF-8", str(locale / "de_DE.UTF-8")], capture_output=True).returncode == 0
        if not made:
            self.skipTest("no localedef, or no definition of de_DE")
        german = {"LC_ALL": "de_DE.UTF-8", "LOCPATH": str(locale)}
        data = self.pictures("pictures")
        self.expect(self.train(data, "--train.max_steps=4"), 0)
        self.expect(self.train(data, "--train.max_steps=4", run="german", environment=german), 0)
        for table in ("steps.csv",):
            self.assertEqual((self.folder / "german" / table).read_bytes(), (self.folder / "run" / table).read_bytes())
        self.expect(self.train(data, "--train.max_steps=6", run="german", environment=german), 0,
                    "resumed: german/checkpoints/step-00000004.h5")

    def test_locks_that_the_file_system_does_not_have_are_a_warning(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("no C compiler")
        source = self.write("no_locks.c", """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <fcntl.h>
            #include <stdarg.h>
            static int refuse(const char* name, int file, int command, void* argument) {
              if (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK) return errno = ENOLCK, -1;
              int (*next)(int, int, void*) = (int (*)(int, int, void*))dlsym(RTLD_NEXT, name);
              return next(file, command, argument);
            }
            int fcntl(int file, int command, ...) {
              va_list rest;
              va_start(rest, command);
              void* argument = va_arg(rest, void*);
              va_end(rest);
              return refuse("fcntl", file, command, argument);
            }
            int fcntl64(int file, int command, ...) {
              va_list rest;
              va_start(rest, command);
              void* argument = va_arg(rest, void*);
              va_end(rest);
              return refuse("fcntl64", file, command, argument);
            }
        """)
        library = self.folder / "no_locks.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        data = self.pictures("pictures")
        answer = self.train(data, "--train.max_steps=2", tool=["env", f"LD_PRELOAD={library}"])
        self.expect(answer, 0, "run/lock cannot be locked", "make sure that no other run uses it", "done: step 2 of 2")


if __name__ == "__main__":
    field.main()
