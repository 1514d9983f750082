"""What a run's records and last lines say: later starts that changed parameters, data that are measured and trained on."""
import csv
import shutil

import field
from small_runs import RunCase


class Records(RunCase):
    def setUp(self):
        super().setUp()
        self.data = self.pictures("pictures")  # 4 steps per epoch

    def starts(self):
        with open(self.folder / "run/starts.csv", newline="") as file:
            return list(csv.DictReader(file))

    def replay(self, steps, *keys):
        return self.convoy("replay", "run/params.cfg", f"--replay.steps={steps}", *keys)

    def test_a_replay_of_steps_from_before_a_change_asks_for_the_old_values(self):
        keys = ("--checkpoint.every_steps=2", "--checkpoint.keep=0", "--lr.schedule=onecycle")
        self.expect(self.train(self.data, *keys, "--train.epochs=1"), 0)
        self.expect(self.replay("3-4"), 0, "losses: all 2 are")
        self.expect(self.train(self.data, *keys, "--train.epochs=2"), 0, "train.epochs 1 -> 2")
        changed = [start["changed"] for start in self.starts()]
        self.assertEqual(changed[0], "")
        self.assertTrue(changed[1].startswith("train.epochs 1 -> 2; learning rate of step 5: "), changed[1])
        head = (self.folder / "run/params.cfg").read_text().splitlines()[:2]
        self.assertIn("the last start", head[0])
        self.assertIn("starts.csv", " ".join(head))

        self.expect(self.replay("3-4"), 2, "replay.steps", "was started again at step 4", "train.epochs 1 -> 2",
                    "--train.epochs=1")
        self.expect(self.replay("3-4", "--train.epochs=1"), 0, "losses: all 2 are equal to the recorded ones")
        self.expect(self.replay("5-8"), 0, "losses: all 4 are equal to the recorded ones")
        # One set of values cannot give both parts.
        for epochs in (1, 2):
            self.expect(self.replay("3-6", f"--train.epochs={epochs}"), 2, "train.epochs 1 -> 2", "up to step 4", "separately")

    def test_a_start_from_an_earlier_step_replaces_those_after_it(self):
        keys = ("--checkpoint.every_steps=2", "--checkpoint.keep=0", "--checkpoint.best=false", "--lr.schedule=onecycle")
        self.expect(self.train(self.data, *keys, "--train.epochs=1"), 0)
        self.expect(self.train(self.data, *keys, "--train.epochs=2"), 0)
        for step in (4, 6, 8):
            (self.folder / f"run/checkpoints/step-0000000{step}.h5").unlink()
        self.expect(self.train(self.data, *keys, "--train.epochs=2"), 0, "resumed: run/checkpoints/step-00000002.h5")
        self.expect(self.replay("3-4"), 0, "losses: all 2 are equal to the recorded ones")

    def change_steps(self, change):
        """Rewrites the rows of run/steps.csv, without its header."""
        header, *rows = (self.folder / "run/steps.csv").read_text().splitlines(keepends=True)
        self.write("run/steps.csv", header + "".join(change(rows)))

    def test_rows_that_are_absent_or_doubled_or_renumbered_are_named(self):
        self.expect(self.train(self.data, "--train.epochs=2"), 0)
        shutil.copytree(self.folder / "run", self.folder / "whole")
        self.expect(self.convoy("compare", "run", "whole"), 0)

        def renumbered(rows):
            return [f"{int(row.split(',')[0]) + (2 if i >= 4 else 0)},{row.split(',', 1)[1]}" for i, row in enumerate(rows)]

        cases = {"no row of step 3 to 4": lambda rows: rows[:2] + rows[4:],
                 "no row of step 1:": lambda rows: rows[1:],
                 "no row of step 7 to 8": lambda rows: rows[:6],
                 "several rows of step 3": lambda rows: rows[:3] + rows[2:],
                 "no row of step 5 to 6": renumbered,
                 "no row of step 8 to 999999999999999": lambda rows: rows[:7] + ["1000000000000000," + rows[7].split(",", 1)[1]],
                 "rows in another order": lambda rows: rows[:2] + [rows[3], rows[2]] + rows[4:]}
        for fault, change in cases.items():
            with self.subTest(fault=fault):
                shutil.copy(self.folder / "whole/steps.csv", self.folder / "run/steps.csv")
                self.change_steps(change)
                for first, second in (("run", "whole"), ("whole", "run")):
                    self.expect(self.convoy("compare", first, second), 1, f"run/steps.csv: it has {fault}")
                if "8" not in fault and "step 1" not in fault:  # replay.steps are refused there
                    self.expect(self.replay("1-8"), 1, f"run/steps.csv: it has {fault}")

    def test_changes_that_no_start_can_have_written_are_passed_over(self):
        self.expect(self.train(self.data, "--train.max_steps=4"), 0)
        starts = self.folder / "run/starts.csv"
        starts.write_text(starts.read_text() + '2,"0.9.0","1 x 1","a machine","train.epochs ' + "x" * 2000000 + '"\n')
        self.expect(self.replay("1-2"), 0)

    def test_a_list_of_values_was_changed(self):
        self.expect(self.train(self.data, "--train.max_steps=2", "--train.class_weights=1, 2"), 0)
        self.expect(self.train(self.data, "--train.max_steps=4", "--train.class_weights=2, 1"), 0)
        self.expect(self.replay("1-2"), 2, "'--train.class_weights=1, 2'")

    def test_the_last_of_two_starts_from_one_checkpoint_counts(self):
        keys = ("--checkpoint.every_steps=2",)
        self.expect(self.train(self.data, *keys, "--train.max_steps=2"), 0)
        for rate in ("0.2", "0.05"):
            (self.folder / "run/checkpoints/step-00000004.h5").unlink(missing_ok=True)
            self.expect(self.train(self.data, *keys, "--train.max_steps=4", f"--optimizer.lr={rate}"), 0)
        self.expect(self.replay("1-4"), 0, "losses: all 4 are equal to the recorded ones")

    def test_starts_without_the_column_are_read(self):
        self.expect(self.train(self.data, "--train.max_steps=2"), 0)
        self.write("run/starts.csv", 'step,version,grid,machine\n0,"0.9.0","1 x 1","an older machine"\n')
        self.expect(self.replay("1-2"), 0)
        self.expect(self.convoy("compare", "run", "run"), 0, "convoy 0.9.0")
        self.expect(self.train(self.data, "--train.max_steps=4", "--optimizer.lr=0.04"), 0)
        self.assertEqual([start["changed"] for start in self.starts()],
                         ["", "optimizer.lr 0.05 -> 0.04; learning rate of step 3: 0.05 -> 0.04"])
        self.expect(self.convoy("compare", "run", "run"), 0, "started 2 times")
        self.expect(self.replay("1-2"), 2, "--optimizer.lr=0.05")

    def test_weights_that_a_resumed_run_does_not_read_are_named(self):
        self.expect(self.train(self.data, "--train.max_steps=2", run="first"), 0)
        self.expect(self.train(self.data, "--train.max_steps=1", run="second"), 0)
        weights = "--init.weights=first/checkpoints/step-00000002.h5"
        self.expect(self.train(self.data, weights, "--train.max_steps=2"), 0)
        # The same command resumes, as always.
        self.assertNotIn("is not used", self.train(self.data, weights, "--train.max_steps=3").output)
        said = ("init.weights = second/checkpoints/step-00000001.h5 is not used", "resumes from run/checkpoints/step-00000003.h5",
                "another run.directory")
        other = "--init.weights=second/checkpoints/step-00000001.h5"
        self.expect(self.convoy("check", *self.data, "--run.directory=run", "--train.max_steps=4", other), 0, *said)
        self.expect(self.train(self.data, "--train.max_steps=4", other), 0, *said)

    def test_a_run_that_has_trained_further_than_is_asked_for_says_so(self):
        self.expect(self.train(self.data, "--train.epochs=2"), 0, "done: step 8 of 8")
        again = self.train(self.data, "--train.epochs=1")
        self.expect(again, 0, "nothing to do: 8 steps are done, and train.epochs = 1 requests 4 steps\n",
                    "done: step 8 (train.epochs = 1 requests 4 steps) after")
        self.expect(self.train(self.data, "--train.max_steps=3"), 0, "8 steps are done, and train.max_steps = 3 requests 3 steps\n")
        self.expect(self.convoy("check", *self.data, "--run.directory=run", "--train.epochs=1"), 0,
                    "will resume from step 8 (train.epochs = 1 requests 4 steps)")

    def test_warnings_from_before_the_log_is_opened_are_in_it(self):
        self.expect(self.train(self.data, "--train.max_steps=2"), 0)
        answer = self.train(self.data, "--train.max_steps=4", "--optimizer.lr=0.04", "--init.weights=other.h5")
        self.expect(answer, 0)
        said = [line.removeprefix("convoy: warning: ") for line in answer.output.splitlines()
                if line.startswith("convoy: warning: ")]
        logged = [row["text"] for row in self.log() if row["kind"] == "warning"]
        for part in ("changed since run/checkpoints", "init.weights = other.h5 is not used"):
            self.assertTrue(any(text.startswith(part) for text in logged), logged)
        self.assertEqual(logged[-len(said):], said)
        self.assertEqual(len(set(logged)), len(logged), logged)

    def test_runs_that_differ_in_parameters_alone_are_equal(self):
        self.expect(self.train(self.data, "--train.max_steps=4"), 0)
        self.expect(self.train(self.data, "--train.epochs=2", "--train.metric=loss", run="longer"), 0)
        self.expect(self.convoy("compare", "run", "longer"), 0, "parameters that differ: ", "best: ")
        self.expect(self.train(self.data, "--train.max_steps=4", "--train.seed=2", run="other"), 0)
        self.expect(self.convoy("compare", "run", "other"), 1, "losses: first difference at step 1")

    def test_a_diverged_run_names_its_learning_rate_and_no_picture(self):
        answer = self.train(self.data, "--optimizer.lr=1000", "--optimizer.weight_decay=1", "--lr.schedule=constant", "--checkpoint.every_epochs=0",
                            "--train.evaluate_every_epochs=0")
        self.expect(answer, 1, " is bad: ", "The training has diverged; the likely cause is its learning rate, which was 1000",
                    "To begin at step 0, use a smaller optimizer.lr")
        self.assertNotRegex(answer.output, "dark/|light/|another run.directory")
        self.expect(self.train(self.data, "--train.max_steps=2"), 0, "training begins at step 0")


class Data(RunCase):
    """Splits that hold the same samples, and which of them a line is of."""

    def setUp(self):
        super().setUp()
        self.data = self.pictures("pictures")

    def test_a_split_that_holds_the_training_data_is_named(self):
        train, test, same = "pictures-data/train", "pictures-data/test", "hold the same images"
        for val, measured, keys in ((train, test, ["data.train and data.val"]), (test, train, ["data.train and data.test"]),
                                    (test, test, ["data.val and data.test"]), ("", train, ["data.train and data.test"]),
                                    (train, train, ["data.train and data.val", "data.train and data.test",
                                                    "data.val and data.test"])):
            splits = [f"--data.val={val}", f"--data.test={measured}", "--run.directory=run"]
            answers = [self.convoy("check", *self.data, *splits)]
            if measured == train:
                answers.append(self.convoy("train", *self.data, *splits, "--train.max_steps=0", "--train.epochs=0.25"))
                self.purge()
                (self.folder / "run/log.jsonl").unlink()
            for answer in answers:
                self.expect(answer, 0, *(f"{both} {same}" for both in keys))
                self.assertEqual(answer.output.count(same), len(keys), answer.output)
        self.assertNotIn(same, self.convoy("check", *self.data, "--run.directory=other").output)

    def test_an_evaluation_on_the_training_data_says_so(self):
        self.expect(self.train(self.data, "--train.max_steps=2"), 0)
        said = "these are the data that 'run/checkpoints/best.h5' was trained on"
        # Another name is the same data.
        self.write("elsewhere/test.h5", (self.folder / "pictures-data/train.h5").read_bytes())
        for data in ("pictures-data/train", "elsewhere/test"):
            self.expect(self.convoy("evaluate", "run/params.cfg", f"--data.test={data}"), 0, f"data.test = {data}: {said}")
        self.assertNotIn("trained on", self.convoy("evaluate", "run/params.cfg").output)

    def test_an_evaluation_names_the_split_of_a_folder(self):
        self.expect(self.train(self.data, "--train.max_steps=2"), 0)
        of_test = ["--data.test=pictures-data"]
        self.expect(self.convoy("evaluate", "run/params.cfg", *of_test), 0, "pictures-data (test): 12 samples")
        self.write("pictures-data/val.h5", (self.folder / "pictures-data/train.h5").read_bytes())
        self.expect(self.convoy("evaluate", "run/params.cfg", "--data.test=", "--data.val=pictures-data"), 0,
                    "pictures-data (val): 32 samples")

    def test_the_time_of_the_validation_set_is_called_so(self):
        data = self.pictures("many", train=4, test=400, size=32)
        answer = self.train(data, "--data.val=many-data/test", "--data.test=", "--train.epochs=2")
        self.expect(answer, 0, "for the validation set")
        self.assertNotIn("test set", answer.output)
        self.expect(self.train(data, "--train.epochs=2", run="tested"), 0, "for the test set")

    def test_texts_are_counted_in_words_that_can_be_read(self):
        rows = "".join(f"word{i} and some more words,{'pos' if i % 2 else 'neg'}\n" for i in range(40))
        self.write("train.csv", "text,label\n" + rows)
        self.expect(self.convoy("import", "--import.source=train.csv", "--import.output=texts"), 0)
        answer = self.convoy("plan", "--data.train=texts/train", "--model.name=transformer", "--model.length=16",
                             "--model.width=32", "--model.heads=2", "--model.layers=1", "--batch.global=16", "--batch.micro=4")
        self.expect(answer, 0)
        self.assertRegex(answer.output, "40 training samples of at most 16 tokens, a vocabulary of [0-9]+, 2 classes\n")

    def test_images_of_other_channels_are_not_said_to_be_resized(self):
        other = self.pictures("large", size=24)
        val = f"--data.val={other[0].split('=')[1]}"
        self.expect(self.convoy("train", *self.data, val), 2, "24x24x3", "or give augment.size, to which both are then resized")
        grey = ["import", "--import.source=pictures", "--import.output=grey", "--import.channels=1"]
        self.expect(self.convoy(*grey), 0)
        answer = self.convoy("train", *self.data, "--data.val=grey/train")
        self.expect(answer, 2, "data.val holds 16x16x1 images, but data.train holds 16x16x3", "import.channels.")
        self.assertNotIn("augment.size", answer.output)

    def test_weights_of_another_data_set_are_called_so(self):
        self.expect(self.train(self.data, "--train.max_steps=2"), 0)
        others = self.pictures("others", classes=("dark", "grey", "light"))
        answer = self.convoy("evaluate", *others, "--init.weights=run/checkpoints/best.h5")
        self.expect(answer, 2, "data.train has 3 classes, but 'run/checkpoints/best.h5' has 2",
                    "weights belong to another data set", "init.weights")
        self.assertNotIn("Import both", answer.output)

    def test_info_of_a_run_directory_and_of_predictions_says_what_they_are(self):
        self.expect(self.train(self.data, "--train.max_steps=2"), 0)
        self.expect(self.convoy("info", "run"), 2, "run: this is a run directory", "convoy info run/checkpoints/best.h5")
        self.expect(self.convoy("check", "run"), 0, "no key is refused", "data.train")  # as the parameter file of the run
        (self.folder / "run/checkpoints/best.h5").unlink()
        self.expect(self.convoy("info", "run"), 2, "convoy info run/checkpoints/step-00000002.h5")
        self.purge()
        self.expect(self.convoy("info", "run"), 2, "this is a run directory. It holds no checkpoint yet")
        (self.folder / "empty").mkdir()
        self.expect(self.convoy("info", "empty"), 2, "this folder holds no data set")
        self.expect(self.convoy("info", "pictures-data"), 0)

        self.expect(self.train(self.data, "--train.max_steps=2", run="new"), 0)
        self.expect(self.convoy("predict", "new/params.cfg", "--predict.output=predictions.csv"), 0)
        self.expect(self.convoy("info", "predictions.h5"), 0, "predictions, from 'convoy predict'", "samples       12\n",
                    "classes       2: dark, light\n")
        self.expect(self.convoy("check", "predictions.h5"), 1, "these are predictions")


if __name__ == "__main__":
    field.main()
