"""The commands of the pages about arrays and tables run as they are written, on data of the form that the pages describe: only trainings
are cut short."""
import re
import shlex
import sys
import unittest

import field
from pictures_test import png, smooth

try:
    import numpy
except ImportError:
    numpy = None

PROGRAM = """#!/bin/sh
if [ "$1" = train ]; then set -- "$@" --train.max_steps=1 --run.device=cpu --run.threads=1; fi
exec {program} "$@"
"""


def blocks(page):
    """(language, text) of each block of code."""
    for language, text in re.findall(r"^```(\w*)\n(.*?)^```$", (field.SOURCE / page).read_text(), re.DOTALL | re.MULTILINE):
        yield language, text


def commands(page):
    """The blocks that a user types."""
    return [text for language, text in blocks(page) if not language and re.match(r"build/|tools/|for ", text)]


@unittest.skipIf(numpy is None, "needs NumPy")
class PageCommands(field.Case):
    def setUp(self):
        super().setUp()
        self.write("build/release/convoy", PROGRAM.format(program=shlex.quote(field.PROGRAM))).chmod(0o755)
        self.write("tools/mpirun", f'#!/bin/sh\nexec {shlex.quote(field.MPIRUN)} "$@"\n').chmod(0o755)
        for tool in ("plot_run", "plot_confusion", "plot_predictions"):
            # By the same Python as this test, which has matplotlib if it has NumPy.
            self.write(f"tools/{tool}", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {field.SOURCE}/tools/{tool} "$@"\n'
                       ).chmod(0o755)
        (self.folder / "input").symlink_to(field.SOURCE / "input")
        self.random = numpy.random.default_rng(1)

    def type(self, block):
        answer = self.start(["bash", "-euo", "pipefail", "-c", block], environment=field.MPI_ENVIRONMENT, timeout=300)
        self.assertEqual(answer.status, 0, f"{block}\n{answer.output}")
        return answer.output

    def save(self, **arrays):
        for name, array in arrays.items():
            numpy.save(self.folder / f"{name}.npy", array)

    def table(self, name, columns):
        """A table of these columns, {name: values}."""
        rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]
        self.write(name, "".join(row + "\n" for row in rows))

    # --- input/arrays.md ------------------------------------------------------------------------------------------------

    def test_commands_about_arrays_run_in_their_order(self):
        size = (90, 7, 64, 64)
        self.save(x=self.random.normal(size=size).astype("float32"), y=self.random.integers(0, 3, size[0]),
                  new=self.random.normal(size=(5, *size[1:])).astype("float32"))
        for name, count in (("all", 200), ("new", 5)):
            spectra = {"x": self.random.normal(size=(count, 40)).astype("float32"),
                       "p": self.random.normal(size=(count, 3)).astype("float32"),
                       "name": numpy.array([f"star-{i}" for i in range(count)])}
            more = {"energy": spectra["x"].sum(axis=1)} if name == "all" else {}
            numpy.savez(self.folder / f"{name}.npz", **spectra, **more)
        networks = [text for language, text in blocks("input/arrays.md") if language == "lua"]
        for name, network in zip(("my.lua", "field.lua"), networks, strict=True):
            self.write(name, network)
        first, *others = commands("input/arrays.md")
        found = self.type(first)
        for line in ("'x.npy': a sample is (7, 64, 64); its first axis, the shorter one, is that of the channels "
                     "(import.axes = channels_first)\n",
                     "the target 'y.npy' is a class of 3 (import.target_kind = class); this is a guess: its values are whole numbers. "
                     "If they are quantities, give import.target_kind = numbers\n",
                     "samples of image float32 (64, 64, 7), 3 classes -> data/mine/train.h5\n"):
            self.assertIn(line, found)
            self.assertIn(line, (field.SOURCE / "input/arrays.md").read_text())
        self.assertEqual(numpy.load(self.folder / "answers.npy").shape, (5, 3))
        spectra, drawings, layers, replicas, pictures, field_, folds = others
        for block in (spectra, drawings):
            self.type(block)
        names = [row.split(",")[0] for row in (self.folder / "runs/spectra/predictions.csv").read_text().splitlines()]
        self.assertEqual(names, ["name", *(f"star-{i}" for i in range(5))])
        # The last block of Python makes the data of the two layers.
        last = [text for language, text in blocks("input/arrays.md") if language == "python"][-1]
        self.expect(self.start([sys.executable, "-c", last]), 0)
        answers = [text for _, text in blocks("input/arrays.md") if text.startswith("rank 0 of 2 on")]
        for block, answer in zip((layers, replicas), answers, strict=True):
            output = self.type(block)
            for line in answer.splitlines():
                rank, _, of_rank = line.partition(" on node04")
                self.assertRegex(output, re.escape(rank) + r" on \S+" + re.escape(of_rank) + r"\n")
        one, two = ((self.folder / f"{name}.npy").read_bytes() for name in ("one_rank", "two_ranks"))
        self.assertEqual(one, two)
        self.assertEqual(numpy.load(self.folder / "two_ranks.npy").shape, (3, 64))
        self.write_pictures()
        self.type(pictures)
        self.save(x=self.random.normal(size=(150, *size[1:])).astype("float32"),
                  velocity=self.random.normal(size=(150, 2, *size[2:])).astype("float32"))
        self.type(field_)
        wine = {f"x{c}": self.random.normal(size=300).round(3) for c in range(4)}
        self.table("wine.csv", {**wine, "bottle": self.random.integers(0, 60, 300), "quality": self.random.integers(3, 8, 300)})
        self.assertRegex(self.type(folds), r"folds +5, of \d+, \d+, \d+, \d+, \d+ samples\n")

    def write_pictures(self):
        for i, name in enumerate(("cat", "cat", "dog", "dog")):
            deep = png(8, 8, bytes(b for value in smooth(8, 8, i) for b in (value, i)), depth=16)
            self.write(f"photos16/{name}/{i}.png", deep)
            self.write(f"scans/{i}.png", deep)
        self.write("scans/grades.csv", "file,grade\n" + "".join(f"{i}.png,{i / 2}\n" for i in range(4)))

    # --- input/tables.md ------------------------------------------------------------------------------------------------

    def test_commands_about_tables_run_in_their_order(self):
        def houses(count, letter):
            area = self.random.uniform(40, 200, count).round(1)
            return {"house": [f"{letter}{i}" for i in range(count)], "area": area, "rooms": (area // 30).astype(int),
                    "year": self.random.integers(1900, 2020, count), "price": (2500 * area).astype(int)}
        self.table("houses.csv", houses(400, "h"))
        new = houses(10, "n")
        del new["price"]
        self.table("new_houses.csv", new)
        x = self.random.normal(size=(300, 4)).round(3)
        inputs = {f"x{c}": x[:, c] for c in range(4)}
        self.table("wine.csv", {**inputs, "variety": [("red", "white", "rose")[row.argmax() % 3] for row in x]})
        self.table("weather.csv", {**inputs, **{name: (x[:, c] > c - 1).astype(int)
                                                for c, name in enumerate(("rain", "wind", "fog"))}})
        first, *others = commands("input/tables.md")
        self.type(first)
        rows = (self.folder / "prices.csv").read_text().splitlines()
        self.assertEqual([row.split(",")[0] for row in rows], ["name", *new["house"]])
        for block in others:
            self.type(block)
        self.assertEqual((self.folder / "runs/weather/predictions.csv").read_text().partition("\n")[0],
                         "name,labels,predicted,p_rain,p_wind,p_fog")
        for file in ("houses/predictions.png", "wine/confusion.csv"):
            self.assertTrue((self.folder / "runs" / file).exists(), file)

    # --- input/networks.md ----------------------------------------------------------------------------------------------

    def test_a_network_of_an_image_and_a_vector_is_described_with_and_without_data(self):
        (self.folder / "scans").mkdir()
        self.save(**{"scans/x": self.random.normal(size=(20, 64, 64, 7)).astype("float32"),
                     "scans/p": self.random.normal(size=(20, 3)).astype("float32"),
                     "scans/y": self.random.integers(0, 3, 20)})
        page = "input/networks.md"
        self.write("my.lua", next(text for language, text in blocks(page) if language == "lua" and '"position"' in text))
        self.type(next(text for text in commands(page) if "import.inputs" in text))
        described, of_data = next(text for text in commands(page) if "plan.values=\"" in text).splitlines()
        described, of_data = self.type(described.partition("  #")[0]), self.type(of_data.partition("  #")[0])
        self.assertIn("joined", of_data)
        self.assertEqual(described, of_data)


if __name__ == "__main__":
    field.main()
