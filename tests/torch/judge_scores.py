#!/usr/bin/env python3
"""scikit-learn as the judge of metrics: those that a training and `convoy evaluate` write are those of scikit-learn on the
predictions that `convoy predict` writes, for a class, several labels and numbers. The three forms of predictions (.csv,
.h5, .npy) agree, and so do those of a data set and of the user's own file. Ends with 77 (skipped) where scikit-learn,
NumPy or h5py is missing.

Usage: judge_scores.py CONVOY class|labels|numbers
"""

import csv
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

from judging import require, run

numpy, h5py, metrics = require("numpy", "h5py", "sklearn.metrics")

ROOT = Path(__file__).resolve().parents[2]
SAMPLES, VALUES, STEPS = 500, 12, 60
ALLOWED = 1e-6  # relative; tables have 9 digits
NAMES = {"class": 5, "labels": 4, "numbers": 3}  # outputs


def main():
    convoy, kind = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        numpy.savez(folder / "all.npz", **make_samples(kind, seed=1))
        numpy.savez(folder / "new.npz", **make_samples(kind, seed=2))
        run(convoy, "import", f"--import.source={folder}/all.npz", "--import.inputs=x: x", "--import.target=y",
            f"--import.target_kind={kind}", "--import.test_fraction=0.4", f"--import.output={folder}/data")
        keys = [f"--{key}={value}" for key, value in {
            "data.train": folder / "data/train", "data.test": folder / "data/test", "model.name": "mlp",
            "batch.global": 32, "batch.micro": 8, "optimizer.lr": 0.02, "train.max_steps": STEPS, "train.epochs": 100,
            "checkpoint.best": "false", "run.directory": folder / "run", "run.threads": 1, "run.device": "cpu",
            "run.placement": "none"}.items()]
        run(convoy, "train", *keys)
        run(convoy, "evaluate", *keys, "--evaluate.confusion=true")
        predictions = predict(convoy, keys, folder, "test", [])
        wanted = scores(kind, predictions)
        logged = last_row(folder / "run/log.csv")
        for name, value in wanted.items():
            judge(f"{name} of the training", float(logged[f"test_{name}"]), value)
        judge_tables(kind, folder / "run", predictions)
        file = [f"--predict.data={folder}/new.npz", "--import.inputs=x: x", "--import.target=y"]
        judge_new_file(convoy, keys, folder, kind, predict(convoy, keys, folder, "new", file), file)
        if kind == "numbers" and importlib.util.find_spec("matplotlib"):
            judge_plot(folder, predictions)


def make_samples(kind, seed):
    """x, and a y that depends on it, not too clearly. The mapping is the same for all seeds."""
    random = numpy.random.default_rng(seed)
    x = random.normal(size=(SAMPLES, VALUES)).astype(numpy.float32)
    weights = numpy.random.default_rng(7).normal(size=(VALUES, NAMES[kind]))
    scores_of_x = x @ weights + random.normal(size=(SAMPLES, NAMES[kind]))
    if kind == "class":
        return {"x": x, "y": scores_of_x.argmax(axis=1).astype(numpy.int64)}
    if kind == "labels":
        return {"x": x, "y": (scores_of_x > [0, 1, 2, 6]).astype(numpy.uint8)}  # the last one is rare
    # Of several sizes, far from 0; some are not known.
    y = (numpy.tanh(scores_of_x) * [1, 1e-3, 50] + [0, 5e-3, 1e4]).astype(numpy.float32)
    missing = random.random(size=y.shape) < 0.05
    y[missing & ~missing.all(axis=1, keepdims=True)] = numpy.nan
    return {"x": x, "y": y}


def predict(convoy, keys, folder, name, more):
    """{dataset: array} of the .h5; the other forms must agree with it."""
    for end in (".csv", ".npy"):
        run(convoy, "predict", *keys, *more, f"--predict.output={folder}/{name}{end}")
    with h5py.File(folder / f"{name}.h5") as file:
        found = {key: file[key][:] for key in file}
    outputs = found.get("outputs", found.get("logits"))
    array = numpy.load(folder / f"{name}.npy")
    with open(folder / f"{name}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(array) == len(outputs) and array.dtype == numpy.float32
    assert [row["name"] for row in rows] == [text.decode() for text in found["names"]]
    if "outputs" in found:
        judge_equal(".npy", array, outputs)
        columns = [text.decode() for text in found["output_names"]]
        judge_equal(".csv", [[numpy.float32(row[column]) for column in columns] for row in rows], outputs)
        true = [[numpy.float32(row["true_" + column] or "nan") for column in columns] for row in rows]
        judge_equal("the true numbers", true, found["targets"])
    elif "output_names" in found:
        assert numpy.allclose(array, 1 / (1 + numpy.exp(-outputs.astype(float))), rtol=1e-6, atol=1e-9)
        columns = [text.decode() for text in found["output_names"]]
        p = [[float(row["p_" + column]) for column in columns] for row in rows]
        assert numpy.allclose(p, array, rtol=1e-5)
        for row, values, known in zip(rows, outputs, found["targets"]):
            assert row["predicted"] == "|".join(c for c, y in zip(columns, values) if y > 0)
            assert row["labels"] == "|".join(c for c, t in zip(columns, known) if t == 1)
    else:
        p = numpy.exp(outputs.astype(float))
        assert numpy.allclose(array, p / p.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-9)
    return found


def scores(kind, found):
    """{column of log.csv without its prefix: what scikit-learn computes}"""
    if kind == "class":
        true, predicted = found["labels"], found["logits"].argmax(axis=1)
        return {
            "top1": metrics.accuracy_score(true, predicted),
            "balanced_accuracy": metrics.balanced_accuracy_score(true, predicted),
            "macro_f1": metrics.f1_score(true, predicted, average="macro"),
        }
    true = found["targets"]
    if kind == "labels":
        assert true.sum(axis=0).min() > 0, "a label has no sample: scikit-learn would count it as 0"
        return {
            "macro_f1": metrics.f1_score(true, found["logits"] > 0, average="macro"),
            "mean_average_precision": metrics.average_precision_score(true, found["logits"], average="macro"),
        }
    errors = [errors_of(*column) for column in known_pairs(found)]
    wanted = {name: numpy.mean([error[name] for error in errors]) for name in errors[0]}
    for name, error in zip(found["output_names"], errors):
        wanted |= {f"{name.decode()}_{metric}": value for metric, value in error.items()}
    return wanted


def known_pairs(found):
    for k in range(found["targets"].shape[1]):
        known = ~numpy.isnan(found["targets"][:, k])
        yield found["targets"][known, k].astype(float), found["outputs"][known, k].astype(float)


def errors_of(true, predicted):
    return {
        "rmse": metrics.mean_squared_error(true, predicted) ** 0.5,
        "mae": metrics.mean_absolute_error(true, predicted),
        "r2": metrics.r2_score(true, predicted),
    }


def judge_tables(kind, folder, found):
    """The tables of evaluate.confusion, a row for each output."""
    if kind == "numbers":
        for row, (true, predicted) in zip(rows_of(folder / "targets.csv"), known_pairs(found)):
            assert int(row["samples"]) == len(true) < len(found["names"])
            for name, value in errors_of(true, predicted).items():
                judge(f"{name} of {row['target']} in targets.csv", float(row[name]), value)
    elif kind == "labels":
        for k, row in enumerate(rows_of(folder / "classes.csv")):
            true, outputs = found["targets"][:, k], found["logits"][:, k]
            judge("an average precision in classes.csv", float(row["average_precision"]),
                  metrics.average_precision_score(true, outputs))
            judge("an F1 in classes.csv", float(row["f1"]), metrics.f1_score(true, outputs > 0), allowed=1e-5)
    else:
        rows = [[int(value) for value in list(row.values())[1:]] for row in rows_of(folder / "confusion.csv")]
        judge_equal("confusion.csv", rows, metrics.confusion_matrix(found["labels"], found["logits"].argmax(axis=1)))


def judge_new_file(convoy, keys, folder, kind, found, file):
    """A file that was not imported: its samples have places as names, and its true values are found."""
    assert [text.decode() for text in found["names"][:2]] == ["new.npz:0", "new.npz:1"], found["names"][:2]
    run(convoy, "import", f"--import.source={folder}/new.npz", "--import.inputs=x: x", "--import.target=y",
        f"--import.target_kind={kind}", f"--import.output={folder}/imported")
    imported = predict(convoy, keys, folder, "imported", [f"--predict.data={folder}/imported/train"])
    for name in ("logits", "outputs", "targets", "labels"):
        if name in found:
            judge_equal(f"{name} of a data set and of the user's file", found[name], imported[name])
    answer = subprocess.run([convoy, "predict", *keys, *file, "--predict.explain=true"], capture_output=True, text=True)
    assert f"samples 0 to {SAMPLES - 1} (counted from 0), in micro-batches of 8: x (8, {VALUES}), output (8, {NAMES[kind]})" in answer.stdout


def judge_plot(folder, found):
    """tools/plot_predictions writes the errors of each number above its picture."""
    for end in (".csv", ".h5"):
        run(sys.executable, ROOT / "tools/plot_predictions", folder / f"test{end}", f"--output={folder}/plot.svg")
        picture = (folder / "plot.svg").read_text()
        for name, (true, predicted) in zip(found["output_names"], known_pairs(found)):
            error = errors_of(true, predicted)
            title = f"{name.decode()}: RMSE {error['rmse']:.4g}, MAE {error['mae']:.4g}, R2 {error['r2']:.4f}"
            assert f"<!-- {title} -->" in picture, f"{end}: the picture has no '{title}'"


def last_row(path):
    return rows_of(path)[-1]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def judge(what, got, want, allowed=ALLOWED):
    print(f"{what}: {got}, scikit-learn {want}")
    if not abs(got - want) <= allowed * max(abs(want), 1e-3):  # NaN too
        sys.exit(f"{what} is {got}, and scikit-learn computes {want}")


def judge_equal(what, got, want):
    if not numpy.array_equal(numpy.asarray(got), numpy.asarray(want), equal_nan=numpy.asarray(want).dtype.kind == "f"):
        sys.exit(f"{what}: other values than expected")


if __name__ == "__main__":
    main()
