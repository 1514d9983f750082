#!/usr/bin/env python3
"""PyTorch as the judge of the weights of networks of texts: those of a training, exported, make torch.nn.TransformerEncoder
give the logits of `convoy predict`; those that PyTorch has trained, saved as .safetensors, make `convoy predict` give
PyTorch's. The texts are this project's own pages. Ends with 77 (skipped) where PyTorch or h5py is missing.

Usage: judge_text.py CONVOY TORCH_WEIGHTS [--norm after|before] [--positions sinusoids|learned] [--activation KIND]
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from judging import compare, require, run

torch, h5py = require("torch", "h5py")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/golden"))
from make_golden_text import TextClassifier  # noqa: E402  the encoder of the golden steps

PAGES = ["README.md", "CONTRIBUTING.md", "src/README.md", "input/keys.md"]  # a class each
SHAPE = {"layers": 2, "heads": 4, "width": 64, "feedforward": 96, "length": 40}
TRAIN_SHARE, STEPS = 0.7, 60
# Logits in float32 against logits in float64, relative, of all texts together. Two layers are some 20 sums of at most
# 96 products, one after the other: 20 * sqrt(96) * 2^-24 = 1e-5 where they round at random. Measured: 3e-7; with GELU's
# approximation by tanh in one of the two: 4e-5.
MOST_LOGITS = 1e-5


def main():
    arguments = parse_arguments()
    torch.manual_seed(1)
    torch.backends.mha.set_fastpath_enabled(False)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_texts(folder / "texts")
        run(arguments.convoy, "import", f"--import.source={folder}/texts", f"--import.output={folder}/data",
            "--import.vocabulary=1500")  # fmt: skip
        texts = read_texts(folder / "data/test.h5")
        shape = SHAPE | {
            "activation": arguments.activation, "positions": arguments.positions, "norm": arguments.norm,
            "words": texts["words"], "classes": len(PAGES),
        }  # fmt: skip
        keys = keys_of(arguments, folder)

        # From Convoy to PyTorch.
        run(arguments.convoy, "train", *keys, f"--train.max_steps={STEPS}")
        run(arguments.convoy, "export", f"--run.directory={folder}/run", f"--export.output={folder}/trained.safetensors")
        run(sys.executable, arguments.torch_weights, folder / "trained.safetensors", folder / "trained.pth")
        net = TextClassifier(shape)
        net.load_state_dict(torch.load(folder / "trained.pth"), strict=True)
        compare("logits of the export", logits_of(net, texts), predict(arguments, folder, keys), MOST_LOGITS)

        # And back: weights of PyTorch's own.
        net = TextClassifier(shape)
        before = logits_of(net, texts)
        train(net, read_texts(folder / "data/train.h5"))
        torch.save(net.state_dict(), folder / "torch.pth")
        run(sys.executable, arguments.torch_weights, folder / "torch.pth", folder / "torch.safetensors")
        want = logits_of(net, texts)
        if (before - want).norm() < 0.1 * want.norm():
            sys.exit("PyTorch has hardly trained: weights that nobody has trained would pass")
        keys.append(f"--init.weights={folder}/torch.safetensors")
        compare("logits of PyTorch's weights", predict(arguments, folder, keys), want, MOST_LOGITS)


def parse_arguments():
    parser = argparse.ArgumentParser()
    for name in ("convoy", "torch_weights"):
        parser.add_argument(name)
    parser.add_argument("--norm", choices=["after", "before"], default="after")
    parser.add_argument("--positions", choices=["sinusoids", "learned"], default="sinusoids")
    parser.add_argument("--activation", choices=["relu", "gelu", "gelu_tanh"], default="relu")
    return parser.parse_args()


def write_texts(folder):
    """A paragraph is a text, its page the class. Some are longer than the network reads, most shorter."""
    shuffle = random.Random(1)
    for page in PAGES:
        paragraphs = [p for p in (ROOT / page).read_text().split("\n\n") if any(c.isalpha() for c in p)]
        shuffle.shuffle(paragraphs)
        num_train = int(TRAIN_SHARE * len(paragraphs))
        for i, paragraph in enumerate(paragraphs):
            path = folder / ("train" if i < num_train else "test") / page.replace("/", "-") / f"{i:04}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(paragraph)


def read_texts(shard):
    """Tokens as the network reads them: cut at its length, filled with the first token, which nobody attends to."""
    with h5py.File(shard) as file:
        offsets, all_tokens = file["offsets"][:].tolist(), file["tokens"][:].tolist()
        words, labels = int(file.attrs["vocabulary_size"]), torch.tensor(file["labels"][:].tolist())
    length = SHAPE["length"]
    rows = [all_tokens[begin:end][:length] for begin, end in zip(offsets, offsets[1:])]
    return {
        "tokens": torch.tensor([row + [0] * (length - len(row)) for row in rows]),
        "length": torch.tensor([len(row) for row in rows]), "label": labels, "words": words,
    }  # fmt: skip


def keys_of(arguments, folder):
    keys = {f"model.{key}": value for key, value in SHAPE.items()} | {
        "model.name": "transformer", "model.norm": arguments.norm, "model.positions": arguments.positions,
        "model.activation": arguments.activation, "data.train": folder / "data/train", "data.test": folder / "data/test",
        "batch.global": 16, "batch.micro": 8, "optimizer.kind": "adamw", "optimizer.lr": 0.003,
        "train.epochs": 100, "train.evaluate_every_epochs": 0, "run.directory": folder / "run", "run.device": "cpu",
        "run.threads": 1,
    }  # fmt: skip
    return [f"--{key}={value}" for key, value in keys.items()]


def predict(arguments, folder, keys):
    run(arguments.convoy, "predict", *keys, f"--predict.data={folder}/data/test", f"--predict.output={folder}/test.csv")
    with h5py.File(folder / "test.h5") as file:
        return torch.from_numpy(file["logits"][:])


def logits_of(net, texts):
    """In float64, so that the roundings compared are Convoy's alone."""
    net = net.double().eval()
    with torch.no_grad():
        return net(texts)


def train(net, texts):
    net.train()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.003)
    for _ in range(STEPS):
        chosen = torch.randint(len(texts["label"]), (16,))
        optimizer.zero_grad()
        batch = {key: texts[key][chosen] for key in ("tokens", "length", "label")}
        _, loss = net.outputs_and_loss(batch)
        loss.backward()
        optimizer.step()
    net.float()  # as weights are stored


main()
