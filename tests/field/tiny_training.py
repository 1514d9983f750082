"""A training whose pictures are so small that the program's start takes longest, for cases that are about starts."""
import struct

import field


def images_of_classes(count, seed):
    """`count` grey pictures of 8 x 8, of four classes: which two rows are bright."""
    images = bytearray()
    for i in range(count):
        rows = [[200 if row // 2 == i % 4 else (7 * i + row + seed) % 50] * 8 for row in range(8)]
        images += bytes(sum(rows, []))
    return bytes(images), bytes(i % 4 for i in range(count))


class TinyTraining(field.Case):
    """Trains resnet20 on pictures so small that the program's start takes longest."""

    def setUp(self):
        super().setUp()
        for name, count in (("train", 64), ("t10k", 16)):
            pixels, labels = images_of_classes(count, seed=count)
            self.write(f"idx/{name}-images-idx3-ubyte", struct.pack(">IIII", 2051, count, 8, 8) + pixels)
            self.write(f"idx/{name}-labels-idx1-ubyte", struct.pack(">II", 2049, count) + labels)
        self.expect(self.convoy("import", "--import.source=idx", "--import.output=data"), 0)
        self.keys = ["--data.train=data/train", "--data.test=data/test", "--batch.global=16", "--batch.micro=8",
                     "--train.epochs=1", "--train.max_steps=1", "--run.device=cpu"]

    def check(self, *keys, **how):
        return self.convoy("check", *self.keys, *keys, **how)

    def train(self, *keys, **how):
        return self.convoy("train", *self.keys, *keys, **how)
