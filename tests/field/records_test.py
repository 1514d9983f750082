"""What a run's records and last lines say: later starts that changed parameters, data that are measured and trained on."""
import csv

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
        self.expect(self.replay("3-4", "--train.epochs=1"), 0, "losses: all 2 are the recorded ones")
        self.expect(self.replay("5-8"), 0, "losses: all 4 are the recorded ones")
        # One set of values cannot give both parts.
        for epochs in (1, 2):
            self.expect(self.replay("3-6", f"--train.epochs={epochs}"), 2, "train.epochs 1 -> 2", "up to step 4", "by themselves")

    def test_a_start_from_an_earlier_step_replaces_those_after_it(self):
        keys = ("--checkpoint.every_steps=2", "--checkpoint.keep=0", "--checkpoint.best=false", "--lr.schedule=onecycle")
        self.expect(self.train(self.data, *keys, "--train.epochs=1"), 0)
        self.expect(self.train(self.data, *keys, "--train.epochs=2"), 0)
        for step in (4, 6, 8):
            (self.folder / f"run/checkpoints/step-0000000{step}.h5").unlink()
        self.expect(self.train(self.data, *keys, "--train.epochs=2"), 0, "resumed: run/checkpoints/step-00000002.h5")
        self.expect(self.replay("3-4"), 0, "losses: all 2 are the recorded ones")

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


if __name__ == "__main__":
    field.main()
