"""A film that ffmpeg decodes, predicted as it comes: the same probabilities as those of the pictures that ffmpeg writes."""
import shlex
import shutil
import time

import field
from pictures_test import png, smooth

SOURCE = ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=80x50:rate=10:duration=3,format=rgb24"]
RAW = [*SOURCE, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]


class Frames(field.Case):
    def setUp(self):
        super().setUp()
        for name in ("a", "b"):
            for i in range(4):
                self.write(f"source/{name}/{i}.png", png(24, 24, smooth(24, 24, ord(name) + i)))
        self.expect(self.convoy("import", "--import.source=source", "--import.output=data"), 0)
        self.expect(self.convoy(
            "train", "--data.train=data", "--data.test=data/train", "--model.name=resnet20", "--batch.global=8",
            "--batch.micro=4", "--train.max_steps=1", "--augment.size=24", "--run.directory=run", "--run.threads=1",
            "--run.device=cpu", "--optimizer.lr=0.001"), 0)

    def predict(self, source, *keys, ranks=0):
        """`source | convoy predict`, in a shell, as people type it."""
        launch = [field.MPIRUN, "-n", str(ranks)] if ranks > 0 else []
        program = [*launch, field.PROGRAM, "predict", "run/params.cfg", "--predict.data=-", "--predict.frames=80x50", *keys]
        return self.start(["bash", "-c", f"{shlex.join(source)} | {shlex.join(program)}"],
                          environment=field.MPI_ENVIRONMENT)

    def rows(self, name):
        """The lines of a table without the names of the samples."""
        lines = (self.folder / name).read_text().splitlines()[1:]
        return [line.split(",", 1)[1] for line in lines]

    def test_frames_of_ffmpeg_are_its_pictures(self):
        if shutil.which("ffmpeg") is None:
            self.skipTest("ffmpeg is missing: apt-get install ffmpeg")
        (self.folder / "pictures").mkdir()
        self.expect(self.start([*SOURCE, "pictures/%06d.png"]), 0)
        self.expect(self.convoy("predict", "run/params.cfg", "--predict.data=pictures", "--predict.output=p.csv"), 0)
        for ranks in (0, 1, 2):
            self.expect(self.predict(RAW, ranks=ranks), 0, "images: 50x80x3, resized to 24x24x3\n", "30 frames in ",
                        " frames/s\n-> run/frames.csv\n")
            self.assertEqual(self.rows("run/frames.csv"), self.rows("p.csv"))
        self.assertGreater(len(set(self.rows("p.csv"))), 10)  # the frames do differ in what the network sees
        numbers = [line.split(",")[0] for line in (self.folder / "run/frames.csv").read_text().splitlines()]
        self.assertEqual(numbers, ["frame", *(str(i) for i in range(1, 31))])

    def test_rows_can_be_read_while_the_film_goes_on(self):
        """The source sends two steps and then waits for the row of the last of these frames."""
        frames = self.write("frames.rgb", b"".join(smooth(80, 50, i) for i in range(16)))
        table = self.folder / "run/frames.csv"
        waits = (f"cat {frames}; for i in $(seq 600); do grep -q '^16,' {table} && echo seen >seen && break; sleep 0.1; done; "
                 f"cat {frames}")
        for ranks in (0, 2):
            (self.folder / "seen").unlink(missing_ok=True)
            table.unlink(missing_ok=True)
            began = time.monotonic()
            self.expect(self.predict(["bash", "-c", waits], ranks=ranks), 0, "32 frames in ")
            self.assertTrue((self.folder / "seen").exists(), f"no row after {time.monotonic() - began} s")
            self.assertEqual(self.rows("run/frames.csv")[:16], self.rows("run/frames.csv")[16:])


if __name__ == "__main__":
    field.main()
