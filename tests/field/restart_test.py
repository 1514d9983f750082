"""Runs whose directory lost its checkpoints, or was moved: no record is erased, and what is resumed is said."""
import os
import shutil
import signal
import subprocess
import time

import field
from small_runs import RunCase


class Restart(RunCase):
    def setUp(self):
        super().setUp()
        self.data = self.pictures("pictures")

    def expect_refused(self, answer, *parts):
        self.expect(answer, 2, "checkpoint.resume = none", "records a checkpoint of step 4", *parts)
        self.assertNotIn("filesystem error", answer.output)

    def tables(self, run="run"):
        return {name: (self.folder / run / name).read_bytes()
                for name in ("steps.csv", "log.csv", "log.jsonl", "starts.csv")}

    def test_purged_checkpoints_are_refused_and_no_record_is_erased(self):
        self.expect(self.train(self.data, "--train.max_steps=4"), 0)
        self.purge()
        before = self.tables()
        self.expect_refused(self.train(self.data, "--train.max_steps=6"), "run/log.jsonl")
        check = self.train(self.data, "--train.max_steps=6", "--dry-run")
        self.expect_refused(check)
        self.assertNotIn("would begin", check.output)
        self.assertEqual(self.tables(), before)

        # With the key, training begins at step 0; what the tables held is kept under another name.
        answer = self.train(self.data, "--train.max_steps=2", "--checkpoint.resume=none")
        self.expect(answer, 0, "run/earlier-1", "training begins at step 0")
        for name, content in before.items():
            self.assertEqual((self.folder / "run/earlier-1" / name).read_bytes(), content, name)
        self.assertEqual([row["step"] for row in self.rows("steps.csv")], ["1", "2"])
        self.expect(self.train(self.data, "--train.max_steps=3"), 0, "resumed: run/checkpoints/step-00000002.h5")

    def test_records_of_version_0_9_0_count_too(self):
        self.expect(self.train(self.data, "--train.max_steps=4"), 0)
        self.purge()
        # It wrote no rows about checkpoints: that the run was done says that there was one.
        self.keep_log(lambda row: row["kind"] != "checkpoint")
        self.expect_refused(self.train(self.data), "run/log.jsonl")
        # Killed later, it had been resumed from step 4.
        self.keep_log(lambda row: row["kind"] != "end")
        starts = self.folder / "run/starts.csv"
        starts.write_text(starts.read_text() + '4,"0.9.0","1 x 1","a machine"\n')
        self.expect_refused(self.train(self.data), "run/starts.csv")

    def test_a_run_killed_before_its_first_save_begins_again_and_keeps_its_tables(self):
        run = subprocess.Popen(
            [field.PROGRAM, "train", *self.data, "--run.directory=run", "--train.epochs=10000", "--checkpoint.best=false",
             "--checkpoint.every_epochs=0", "--train.evaluate_every_epochs=0"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and not (self.folder / "run/log.csv").is_file():
                time.sleep(0.05)
            while time.monotonic() < deadline and len(self.rows("log.csv")) < 2:
                time.sleep(0.05)
        finally:
            run.send_signal(signal.SIGKILL)
            run.wait()
        steps = (self.folder / "run/steps.csv").read_bytes()
        self.assertGreater(steps.count(b"\n"), 4)
        answer = self.train(self.data, "--train.max_steps=3")
        self.expect(answer, 0, "training begins at step 0", "run/earlier-1")
        self.assertEqual((self.folder / "run/earlier-1/steps.csv").read_bytes(), steps)
        self.assertEqual([row["step"] for row in self.rows("steps.csv")], ["1", "2", "3"])

    def test_a_run_of_which_nothing_is_recorded_begins_without_a_word(self):
        answer = self.train(self.data, "--train.max_steps=2")
        self.expect(answer, 0)
        self.assertNotIn("earlier", answer.output)
        self.assertFalse((self.folder / "run/earlier-1").exists())

    def test_checkpoints_that_are_a_link_to_a_purged_folder_are_named(self):
        (self.folder / "scratch").mkdir()
        (self.folder / "run").mkdir()
        os.symlink(self.folder / "scratch", self.folder / "run/checkpoints")
        self.expect(self.train(self.data, "--train.max_steps=4"), 0)
        shutil.rmtree(self.folder / "scratch")
        before = self.tables()
        link = f"run/checkpoints is a link to '{self.folder}/scratch', which does not exist"
        for key in ("auto", "none"):
            self.expect_refused(self.train(self.data, f"--checkpoint.resume={key}"), link)
        evaluation = self.convoy("evaluate", "run/params.cfg")
        self.expect(evaluation, 2, link)
        self.assertEqual(self.tables(), before)
        # Once the folder exists again, training begins at step 0 with the key.
        (self.folder / "scratch").mkdir()
        self.expect(self.train(self.data, "--train.max_steps=2", "--checkpoint.resume=none"), 0, "run/earlier-1")

    def test_a_link_to_nothing_as_run_directory_is_named(self):
        os.symlink("gone", self.folder / "run")
        for command in (["train"], ["check"], ["train", "--dry-run"]):
            answer = self.convoy(*command, *self.data, "--run.directory=run/a")
            self.expect(answer, 2, "run.directory", "run is a link to gone, which does not exist")
            self.assertNotIn("filesystem error", answer.output)
        answer = self.convoy("evaluate", "--data.test=pictures-data/test", "--init.weights=run/best.h5")
        self.expect(answer, 2, "init.weights", "run is a link to gone, which does not exist")

    def test_a_run_directory_that_was_moved_does_not_begin_in_its_old_place(self):
        self.expect(self.train(self.data, "--train.max_steps=2"), 0)
        os.rename(self.folder / "run", self.folder / "moved")
        for command in ("train", "check", "evaluate", "predict", "replay"):
            answer = self.convoy(command, "moved/params.cfg", "--replay.steps=1-2")
            self.expect(answer, 2, "run.directory = run", "--run.directory=moved")
            self.assertFalse((self.folder / "run").exists())
        answer = self.convoy("train", "moved/params.cfg", "--run.directory=moved", "--train.max_steps=3")
        self.expect(answer, 0, "resumed: moved/checkpoints/step-00000002.h5")
        # From now on it names its own place.
        self.expect(self.convoy("train", "moved/params.cfg"), 0, "nothing to do")

    def test_where_the_newest_checkpoint_is_gone_the_rows_after_the_older_one_are_kept(self):
        self.expect(self.train(self.data, "--train.max_steps=4", "--checkpoint.every_steps=2", "--checkpoint.best=false"), 0)
        (self.folder / "run/checkpoints/step-00000004.h5").unlink()
        before = self.tables()
        answer = self.train(self.data, "--train.max_steps=3", "--checkpoint.best=false")
        self.expect(answer, 0, "records a checkpoint of step 4, but the newest usable checkpoint is of step 2",
                    "run/earlier-1")
        self.assertEqual((self.folder / "run/earlier-1/steps.csv").read_bytes(), before["steps.csv"])
        self.assertEqual([row["step"] for row in self.rows("steps.csv")], ["1", "2", "3"])

    def test_a_run_that_began_from_another_runs_checkpoint(self):
        self.expect(self.train(self.data, "--train.max_steps=2", run="first"), 0)
        resume = "--checkpoint.resume=first/checkpoints/step-00000002.h5"
        self.expect(self.train(self.data, resume, "--train.max_steps=4"), 0)
        self.purge()
        lost = self.train(self.data, resume, "--train.max_steps=6")
        self.expect(lost, 2, "records a checkpoint of step 4", "choose another run.directory")
        # The step that it began at, in starts.csv, is no checkpoint of its own: a job killed before its first save.
        self.keep_log(lambda row: row["kind"] not in ("checkpoint", "end"))
        self.expect(self.train(self.data, resume, "--train.max_steps=3"), 0, "training begins at step 2", "run/earlier-1")

    def test_an_export_of_what_a_purged_run_began_from_is_said(self):
        self.expect(self.train(self.data, "--train.max_steps=1", run="first"), 0)
        first = "first/checkpoints/step-00000001.h5"
        self.expect(self.train(self.data, f"--init.weights={first}", "--train.max_steps=2"), 0)
        self.purge()
        answer = self.convoy("export", "run/params.cfg", "--export.output=weights.safetensors")
        self.expect(answer, 0, "records a checkpoint of step 2", f"init.weights = {first}")


if __name__ == "__main__":
    field.main()
