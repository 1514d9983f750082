"""Metrics: what a run records after each epoch, what its best checkpoint and its patience follow, and what is refused."""
import csv
import random
import re
import sys

import field

CLASSES = ["bad", "fair", "good"]
TRAIN = {"bad": 60, "fair": 24, "good": 12}  # unequal, so that top-1 and macro F1 differ
TEST = {"bad": 40, "fair": 16, "good": 9}


def table(counts, seed):
    """Texts whose words only hint at their class."""
    draw = random.Random(seed)
    rows = []
    for name, count in counts.items():
        for _ in range(count):
            words = [draw.choice(CLASSES) if draw.random() < 0.6 else name for _ in range(3)]
            rows.append(f"{' '.join(words)} film,{name}")
    draw.shuffle(rows)
    return "text,label\n" + "\n".join(rows) + "\n"


def plain_metrics(pairs):
    """Balanced accuracy and macro F1 of (label, predicted), straight from their definitions: a loop over all samples for
    each class."""
    recalls, scores = [], []
    for name in CLASSES:
        right = sum(1 for label, predicted in pairs if label == name and predicted == name)
        missed = sum(1 for label, predicted in pairs if label == name and predicted != name)
        wrong = sum(1 for label, predicted in pairs if label != name and predicted == name)
        if right + missed > 0:
            recalls.append(right / (right + missed))
        if right + missed + wrong > 0:
            scores.append(2 * right / (2 * right + wrong + missed))
    return sum(recalls) / len(recalls), sum(scores) / len(scores)


class Metrics(field.Case):
    def setUp(self):
        super().setUp()
        self.write("tables/train.csv", table(TRAIN, 1))
        self.write("tables/test.csv", table(TEST, 2))
        self.expect(self.convoy("import", "--import.source=tables", "--import.output=data"), 0)

    def train(self, *more, run="run", ranks=0):
        return self.convoy(
            "train", "--model.name=transformer", "--model.layers=2", "--model.heads=1", "--model.width=16",
            "--model.feedforward=16", "--model.length=8", "--data.train=data", "--data.test=data", "--batch.global=16",
            "--batch.micro=4", "--optimizer.lr=0.2", "--run.device=cpu", "--run.threads=1", f"--run.directory={run}",
            *more, ranks=ranks)

    def rows(self, run="run", name="log.csv"):
        with open(self.folder / run / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_every_epoch_has_all_metrics_as_plain_loops_count_them(self):
        answer = self.train("--train.metric=macro_f1", "--train.epochs=5")
        self.expect(answer, 0, "  macro F1 ")
        rows = self.rows()
        values = [float(row["test_macro_f1"]) for row in rows]
        best = values.index(max(values))  # the first of equal ones
        self.expect(answer, 0, f"best test macro F1 {values[best]:.4f} in epoch {best + 1}")
        self.expect(self.convoy("predict", "run/params.cfg", "--checkpoint.resume=best"), 0)
        pairs = [(row["label"], row["class"]) for row in self.rows(name="predictions.csv")]
        self.assertEqual(len(pairs), sum(TEST.values()))
        balanced, f1 = plain_metrics(pairs)
        self.assertAlmostEqual(balanced, float(rows[best]["test_balanced_accuracy"]), delta=1e-9)  # 9 digits
        self.assertAlmostEqual(f1, values[best], delta=1e-9)
        self.assertNotEqual(rows[best]["test_top1"], rows[best]["test_balanced_accuracy"])
        self.expect(self.convoy("evaluate", "run/params.cfg", "--checkpoint.resume=best"), 0,
                    f"balanced accuracy {100 * balanced:.2f} %, macro F1 {f1:.4f}\n",
                    "top-5 is left out: it needs at least 6 classes, and the data has 3\n")

    def test_the_loss_is_better_the_lower_it_is_and_patience_follows_it(self):
        # So large a learning rate that the loss goes up and down: the run must end two epochs after the lowest one.
        answer = self.train("--train.metric=loss", "--train.epochs=40", "--train.patience_epochs=2",
                            "--optimizer.lr=0.4")
        losses = [float(row["test_loss"]) for row in self.rows()]
        best = losses.index(min(losses))
        self.expect(answer, 0, "ended early: ", f"best test loss {losses[best]:.4f} in epoch {best + 1}",
                    "train.patience_epochs: test loss has not improved for 2 epochs")
        self.assertEqual(len(losses), best + 3)
        self.expect(self.convoy("info", "run/checkpoints/best.h5"), 0,
                    f"best          loss {losses[best]:.4f} at step {6 * (best + 1)}\n")

    def test_a_metric_that_the_network_does_not_have_is_refused(self):
        message = ("train.metric = top5 is not a metric of transformer: it needs at least 6 classes, and the data has 3. "
                   "Allowed: loss, top1, balanced_accuracy, macro_f1.")
        self.expect(self.train("--train.metric=top5"), 2, message)
        self.assertFalse((self.folder / "run").exists())
        self.expect(self.train("--train.metric=f1"), 2, "macro_f1")

    def test_grids_give_equal_metrics_and_compare_and_replay_find_them(self):
        for run, ranks, stages in [("one", 0, 1), ("four", 4, 2)]:
            self.expect(self.train("--train.metric=balanced_accuracy", "--train.epochs=2", f"--grid.stages={stages}",
                                   run=run, ranks=ranks), 0)
        columns = [name for name in self.rows("one")[0] if re.match("(train|test)_", name)]
        self.assertEqual(columns, ["train_loss", "train_top1", "test_loss", "test_top1", "test_balanced_accuracy",
                                   "test_macro_f1"])
        for one, four in zip(self.rows("one"), self.rows("four")):
            self.assertEqual([one[name] for name in columns], [four[name] for name in columns])
        best = max(float(row["test_balanced_accuracy"]) for row in self.rows("one"))
        self.expect(self.convoy("compare", "one", "four"), 0, "top-1: equal in all 12 steps that both runs have",
                    "test macro F1: equal in all 2 evaluations that both runs have",
                    f"best: test balanced accuracy {100 * best:.2f} % at step ")
        self.expect(self.convoy("replay", "one/params.cfg", "--replay.steps=1-12"), 0,
                    "losses: all 12 are equal to the recorded ones", "top-1: all 12 are equal to the recorded ones")
        # One digit of one row is another one: compare and replay say which.
        log = (self.folder / "four/log.csv").read_text().splitlines()
        value = self.rows("four")[1]["test_macro_f1"]
        log[2] = log[2].replace(value, "0.123456789")
        self.write("four/log.csv", "\n".join(log) + "\n")
        self.expect(self.convoy("compare", "one", "four"), 1, "test macro F1: first difference at step 12: ",
                    f"{value} and 0.123456789; they are equal up to step 6")
        steps = (self.folder / "one/steps.csv").read_text()
        self.write("one/steps.csv", re.sub(r"(?m)^(7,.*),[^,]*$", r"\1,2", steps))
        self.expect(self.convoy("replay", "one/params.cfg", "--replay.steps=1-12"), 1,
                    "top-1: 1 of 12 differ; the first difference is at step 7: recorded 2, computed ")

    def test_another_metric_begins_the_best_anew_and_says_so(self):
        self.expect(self.train("--train.epochs=2"), 0, "best test top-1 ")
        answer = self.train("--train.epochs=3", "--train.metric=macro_f1")
        self.expect(answer, 0, "train.metric = macro_f1 is another metric than that of the best top-1 ",
                    "the best checkpoint and train.patience_epochs start again with the next measurement",
                    "best test macro F1 ", " in epoch 3")
        self.expect(self.convoy("info", "run/checkpoints/best.h5"), 0, " at step 18\n")

    def test_watch_and_plots_show_the_metric_that_the_run_follows(self):
        self.expect(self.train("--train.metric=balanced_accuracy", "--train.epochs=2"), 0)
        value = 100 * float(self.rows()[-1]["test_balanced_accuracy"])
        watched = self.convoy("watch", "run", "--watch.once=true")
        self.expect(watched, 0)
        self.assertRegex(watched.output, rf"(?m)^test balanced accuracy +{value:.2f} %")
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("no matplotlib")
        plot = self.start([sys.executable, field.SOURCE / "tools/plot_run", "run", "--output=plot.svg"])
        self.expect(plot, 0)
        self.assertIn("<!-- Balanced accuracy, % -->", (self.folder / "plot.svg").read_text())


if __name__ == "__main__":
    field.main()
