"""Parts of data sets: one shard of several in the place of all, and classes without a sample."""
import struct
import zlib

import field


def png(value):
    """8 x 8 pixels of one grey, three channels."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes([value, value, 255 - value]) * 8) * 8
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Shards(field.Case):
    """40 pictures of 4 classes, in the order of their classes, in 4 shards: each shard holds one class."""

    def setUp(self):
        super().setUp()
        for c in range(4):
            for i in range(10):
                self.write(f"source/train/c{c}/{i}.png", png(60 * c + i))
            self.write(f"source/test/c{c}/0.png", png(60 * c + 5))
        self.expect(self.convoy("import", "--import.source=source", "--import.output=data", "--import.shards=4"), 0)

    def run_on(self, command, *more, **options):
        return self.convoy(
            command, "--data.test=data", "--model.name=resnet20", "--batch.global=4", "--batch.micro=4",
            "--train.max_steps=1", "--run.directory=run", "--run.threads=1", "--run.device=cpu", *more, **options)

    def test_one_shard_of_several_is_refused_as_training_set(self):
        for command in ("train", "check"):
            self.expect(self.run_on(command, "--data.train=data/train-001.h5"), 2,
                        "data.train = data/train-001.h5 is one of the 4 shards", "data.train = data/train",
                        "data.allow_part = true")
        self.expect(self.run_on("train", "--data.train=data/train-001.h5", ranks=2), 2, "is one of the 4 shards")
        self.assertFalse((self.folder / "run").exists())

    def test_one_shard_of_several_is_trained_on_where_a_key_says_so_and_its_gaps_are_named(self):
        part = ("--data.train=data/train-001.h5", "--data.allow_part=true")
        gaps = ("data.train is one of the 4 shards", "data.train: 3 of 4 classes have no sample: c0, c2, c3")
        self.expect(self.run_on("check", *part), 0, *gaps)
        # With weights of classes, too: they are those of the shard's classes, not of the whole data set's.
        self.expect(self.run_on("train", *part, "--train.class_weights=1, 0, 1, 1"), 2,
                    "train.class_weights is 0 for every class that data.train has samples of")
        self.expect(self.run_on("train", *part), 0, *gaps)

    def test_all_shards_and_an_only_shard_are_no_parts(self):
        for data in ("data", "data/train"):
            answer = self.run_on("check", f"--data.train={data}")
            self.expect(answer, 0)
            self.assertNotIn("one of the", answer.output)
            self.assertNotIn("no sample", answer.output)
        self.expect(self.convoy("import", "--import.source=source", "--import.output=one"), 0)
        self.expect(self.run_on("check", "--data.train=one/train.h5"), 0)

    def test_a_part_as_test_set_is_said(self):
        self.expect(self.run_on("train", "--data.train=data", "--data.test=data/test-000.h5"), 0,
                    "data.test is one of the 4 shards", "data.test: 3 of 4 classes have no sample: c1, c2, c3")
        self.expect(self.run_on("evaluate", "--data.train=data", "--data.test=data/test-002.h5"), 0,
                    "data.test is one of the 4 shards", "data.test: 3 of 4 classes have no sample: c0, c1, c3")

    def test_classes_without_a_sample_are_named_by_import_check_and_train(self):
        for name in ("c1", "c3"):
            (self.folder / f"source/test/{name}/0.png").unlink()
            (self.folder / f"source/test/{name}").rmdir()
        self.expect(self.convoy("import", "--import.source=source", "--import.output=gaps"), 0,
                    "test: 2 of 4 classes have no sample: c1, c3")
        for command in ("check", "train"):
            self.expect(self.run_on(command, "--data.train=gaps", "--data.test=gaps"), 0,
                        "data.test: 2 of 4 classes have no sample: c1, c3")


if __name__ == "__main__":
    field.main()
