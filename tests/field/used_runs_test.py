"""Run directories that are read, joined, moved or removed while a training uses them."""
import os
import pty
import select
import shutil
import subprocess
import time

import field
from small_runs import RunCase


class UsedRuns(RunCase):
    def setUp(self):
        super().setUp()
        self.data = self.pictures("pictures")

    def start_endless(self, *keys):
        """A training that goes on until it is stopped, once it has saved a checkpoint."""
        run = subprocess.Popen(
            [field.PROGRAM, "train", *self.data, "--run.directory=run", "--train.epochs=100000",
             "--train.evaluate_every_epochs=0", "--checkpoint.best=false", "--checkpoint.every_epochs=1",
             "--checkpoint.keep=2", *keys], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        for _ in range(600):
            if list(self.folder.glob("run/checkpoints/step-*.h5")):
                return run
            time.sleep(0.1)
        self.fail("no checkpoint after a minute")

    def expect_noticed(self, run):
        output, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 1, output)
        self.assertIn("run.directory = run was moved, renamed or removed while this run used it", output)
        self.assertNotIn("done:", output)

    def test_a_renamed_directory_is_noticed_at_the_next_save(self):
        run = self.start_endless()
        os.rename(self.folder / "run", self.folder / "elsewhere")
        self.expect_noticed(run)
        self.assertFalse((self.folder / "run/checkpoints").exists())
        again = self.convoy("train", *self.data, "--run.directory=elsewhere", "--train.evaluate_every_epochs=0")
        self.expect(again, 0, "resumed: elsewhere/checkpoints/step-")

    def test_a_removed_directory_is_noticed_at_the_next_save(self):
        run = self.start_endless()
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        self.expect_noticed(run)

    def test_join_leaves_the_checkpoints_of_a_running_training_alone(self):
        run = self.start_endless("--checkpoint.files=sharded")
        checkpoint = max(self.folder.glob("run/checkpoints/step-*.h5"))
        answer = self.convoy("join", checkpoint)
        self.assertNotEqual(answer.status, 0)
        self.assertIn(f"is in use by process {run.pid}", answer.output)
        run.terminate()
        output, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 75, output)
        checkpoint = max(self.folder.glob("run/checkpoints/step-*.h5"))
        self.expect(self.convoy("join", checkpoint), 0, "now one file")

    def test_join_in_the_folder_of_checkpoints_finds_the_run(self):
        run = self.start_endless("--checkpoint.files=sharded")
        name = max(self.folder.glob("run/checkpoints/step-*.h5")).name
        answer = self.convoy("join", f"./{name}", tool=["env", "-C", "run/checkpoints"])
        self.assertIn(f"is in use by process {run.pid}", answer.output)

    def test_a_lock_that_was_removed_ends_no_run(self):
        run = self.start_endless()
        (self.folder / "run/lock").unlink()
        newest = max(self.folder.glob("run/checkpoints/step-*.h5")).name
        for _ in range(600):
            if max(self.folder.glob("run/checkpoints/step-*.h5")).name > newest:
                break
            time.sleep(0.1)
        else:
            self.fail("the run saves no more")
        run.terminate()
        output, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 75, output)
        self.assertIn("run/lock was removed or replaced", output)

    def test_a_warning_is_not_printed_into_the_progress_bar(self):
        data = self.pictures("many", train=800)  # an epoch takes longer than the bar needs to come
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        run = subprocess.Popen(
            [field.PROGRAM, "train", *data, "--run.directory=run", "--train.epochs=100000",
             "--train.evaluate_every_epochs=0", "--checkpoint.best=false", "--checkpoint.every_steps=1"],
            cwd=self.folder, stdout=end, stderr=end)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        os.close(end)
        shown, deadline = b"", time.monotonic() + 60
        while b"run/lock was removed" not in shown and time.monotonic() < deadline:
            if b"[" in shown:  # a bar
                (self.folder / "run/lock").unlink(missing_ok=True)
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 65536)
        self.assertIn(b"lock was removed", shown)
        before = shown[:shown.rfind(b"convoy: warning", 0, shown.find(b"lock was removed"))]
        self.assertRegex(before, rb"(\r\n|\r\x1b\[K)$")

    def test_a_log_that_is_a_pipe_or_a_device_holds_no_watch(self):
        (self.folder / "run").mkdir()
        log = self.folder / "run/log.jsonl"
        os.mkfifo(log)
        self.expect(self.convoy("watch", "run", "--watch.once=true", tool=["timeout", "20"]), 2, "run holds no run that has started")
        log.unlink()
        log.symlink_to("/dev/zero")
        self.expect(self.convoy("watch", "run", "--watch.once=true", tool=["timeout", "20"]), 2, "run holds no run that has started")


if __name__ == "__main__":
    field.main()
