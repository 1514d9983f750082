"""What the program takes before it computes anything: on a node without a GPU it must need nothing of CUDA."""
import os

from PIL import Image

import field


class Footprint(field.Case):
    def measured(self, *arguments):
        """Runs the program; returns the most memory that it had at a time, in MiB, and its page faults."""
        process = os.fork()
        if process == 0:
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.execv(field.PROGRAM, [field.PROGRAM, *arguments])
        _, status, usage = os.wait4(process, 0)
        self.assertEqual(status, 0)
        return usage.ru_maxrss / 1024, usage.ru_minflt

    def test_the_program_at_rest_is_small(self):
        if any(part in field.PROGRAM for part in ("/asan/", "/tsan/", "/debug/")):
            self.skipTest("sanitizers and debug symbols take memory of their own")
        mib, faults = self.measured("version")
        # Measured: 39 MiB and 4,300 page faults; with cublasLt loaded 130 MiB and 29,000.
        self.assertLess(mib, 60)
        self.assertLess(faults, 8000)

    def test_a_training_on_a_cpu_opens_no_library_of_cuda(self):
        for split in ("train", "test"):
            for sample in range(8):
                path = self.folder / "pictures" / split / ("light" if sample % 2 else "dark") / f"{sample}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.new("L", (16, 16), 200 * (sample % 2) + sample).save(path)
        self.expect(self.convoy("import", "--import.source=pictures", "--import.output=data", "--import.size=16"), 0)
        answer = self.convoy(
            "train", "--data.train=data/train.h5", "--data.test=data/test.h5", "--model.name=resnet20", "--batch.global=8",
            "--batch.micro=4", "--train.epochs=1", "--run.device=cpu", environment={"LD_DEBUG": "files"})
        self.expect(answer, 0, "libm.so")  # the list of libraries
        for library in ("libcublas", "libcudnn", "libnccl"):
            self.assertNotIn(library, answer.output)


if __name__ == "__main__":
    field.main()
