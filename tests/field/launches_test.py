"""How the program is started: launchers that do not speak with MPI, readers that close, limits of tools/mpirun."""
import os
import signal
import subprocess
import tempfile
import time

import field
from tiny_training import TinyTraining

TOOLS_MPIRUN = field.SOURCE / "tools" / "mpirun"
MPI_NEVER_STARTS = {"OMPI_MCA_pml": "no_such_component"}


class LonelyRanks(TinyTraining):
    # Each process would be a run of its own in one run directory: one trains, the others say that it is in use.

    def expect_refusal(self, answer, *parts):
        self.expect(answer, 2, "the processes would run independently of each other", *parts)
        self.assertFalse((self.folder / "runs").exists())

    def test_srun_that_does_not_speak_with_mpi_is_refused(self):
        self.expect_refusal(self.train(environment={"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_PROCID": "1",
                                                    "SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "4"}),
                            "4 processes were started (SLURM_STEP_NUM_TASKS = 4), but MPI reports only 1 rank",
                            "srun --mpi=pmix", "srun --mpi=list", "mpirun")

    def test_mpiexec_of_another_mpi_is_refused(self):
        self.expect_refusal(self.train(environment={"PMI_RANK": "0", "PMI_SIZE": "3"}),
                            "3 processes were started (PMI_SIZE = 3), but MPI reports only 1 rank", "another MPI", "mpirun")

    def test_mpirun_within_a_slurm_step_is_believed(self):
        answer = self.train("--run.threads=1", ranks=2,
                            environment={"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0", "SLURM_NTASKS": "4"})
        self.expect(answer, 0, "2 ranks")
        self.assertNotIn("SLURM_NTASKS", answer.output)

    def test_one_task_of_srun_is_one_rank(self):
        answer = self.train(environment={"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_STEPID": "0",
                                         "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "1",
                                         "SLURM_NODELIST": "n1", "SLURM_JOBID": "77"})
        self.expect(answer, 0, "1 rank")

    def test_batch_script_without_a_launcher_is_told_which_line_to_change(self):
        answer = self.train(environment={"SLURM_JOB_ID": "77", "SLURM_NTASKS": "3", "SLURM_PROCID": "0"})
        self.expect(answer, 0, "SLURM_NTASKS = 3", "srun --mpi=pmix convoy train", "mpirun -n 3 convoy train")


class ClosedReaders(TinyTraining):
    def test_closed_reader_does_not_end_a_training(self):
        for streams in ("", "2>&1"):
            with self.subTest(streams=streams):
                answer = self.start(
                    ["bash", "-c", f'"$0" "$@" --run.directory=run{len(streams)} {streams} | head -n 1; '
                     'echo "status ${PIPESTATUS[0]}"', field.PROGRAM, "train", *self.keys],
                    environment=field.MPI_ENVIRONMENT)
                self.assertIn("status 0", answer.output)
                self.assertTrue((self.folder / f"run{len(streams)}/checkpoints/step-00000001.h5").exists())

    def test_reader_that_takes_nothing_of_a_long_text_is_no_error(self):
        ranks = ",".join(str(2**i) for i in range(8))
        arguments = ["plan", "--data.train=data/train", "--batch.global=1024", "--batch.micro=8",
                     "--plan.measure=false", f"--plan.ranks={ranks}"]
        whole = self.convoy(*arguments)
        self.expect(whole, 0)
        self.assertGreater(len(whole.output), 4096, "longer than a buffer of the C library")
        answer = self.start(["bash", "-c", '"$0" "$@" | true; echo "status ${PIPESTATUS[0]}"', field.PROGRAM,
                             *arguments], environment=field.MPI_ENVIRONMENT)
        self.assertEqual(answer.output, "status 0\n")

    def test_closed_reader_of_mpirun_does_not_end_a_training(self):
        answer = self.start(["bash", "-c", '"$0" "$@" | head -n 1; echo "status ${PIPESTATUS[0]}"', TOOLS_MPIRUN, "-n",
                             "2", field.PROGRAM, "train", *self.keys, "--run.threads=1"])
        self.assertIn("status 0", answer.output)
        self.assertTrue(list(self.folder.glob("runs/*/checkpoints/step-00000001.h5")))

    def test_full_disk_behind_standard_output_is_said_by_what_only_prints(self):
        answer = self.start(["bash", "-c", '"$0" --version >/dev/full', field.PROGRAM])
        self.expect(answer, 1, "convoy: cannot write to standard output: No space left on device")


class StartsWithoutMpi(TinyTraining):
    # Login nodes may not start MPI at all: here no part of it that a start needs can be found.

    def alone(self, *arguments):
        return self.convoy(*arguments, environment=MPI_NEVER_STARTS)

    def test_what_needs_no_ranks_starts_no_mpi(self):
        self.assertNotEqual(self.alone("train", *self.keys).status, 0)  # so MPI does not start here
        self.expect(self.alone("help"), 0, "Commands")
        self.expect(self.alone("--version"), 0, "convoy ")
        self.expect(self.alone("info"), 0, "\nrank 0 on ", "processor")
        self.expect(self.alone("info", "data"), 0, "64 samples")
        self.expect(self.alone("check", "data"), 0, "train.h5: whole")
        self.expect(self.alone("compare", "data/train.h5", "nothing.h5"), 1, "nothing.h5")
        self.expect(self.alone("train", "--grid.stages=x"), 2, "grid.stages")
        self.expect(self.alone("trian"), 2, "train")

    def test_what_needs_no_ranks_is_printed_once_under_mpirun(self):
        for arguments, status in ((("--version",), 0), (("info", "data/train.h5"), 0), (("help", "lr.gamma"), 0),
                                  (("help", "lr.gama"), 2), (("check", "data"), 0), (("train", "--lr.gama=1"), 2),
                                  (("info", "--lr.gama=1"), 2), (("export", "--lr.gama=1"), 2)):
            with self.subTest(arguments=arguments):
                lines = self.convoy(*arguments, ranks=0).output.splitlines()
                answer = self.convoy(*arguments, ranks=2)
                self.assertEqual(answer.status, status, answer.output)
                for line in filter(str.strip, lines):
                    self.assertEqual(answer.output.splitlines().count(line), lines.count(line), answer.output)

    def test_what_works_in_one_process_says_so_once_under_mpirun(self):
        answer = self.convoy("join", "nothing.h5", ranks=3)
        self.assertNotEqual(answer.status, 0)
        self.assertEqual(answer.output.count("the 2 others that were launched do nothing"), 1, answer.output)
        self.assertEqual(answer.output.count("convoy: 'nothing.h5'"), 1, answer.output)

    def test_info_under_mpirun_has_a_line_for_each_rank(self):
        self.expect(self.convoy("info", ranks=2), 0, "\nrank 0 on ", "\nrank 1 on ")


class Mpirun(TinyTraining):
    """tools/mpirun where the system has little of what Open MPI needs: it works, or ends and says what is missing."""

    def setUp(self):
        super().setUp()
        self.command = [TOOLS_MPIRUN, "-n", "2", field.PROGRAM, "train", *self.keys, "--run.threads=1"]

    def limited(self, setting):
        return self.start(["bash", "-c", setting + '; exec "$@"', "bash", *self.command], timeout=60)

    def with_shared_memory(self, mebibytes, settings="true", environment=None):
        if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
            self.skipTest("mounts are forbidden here")
        mount = f"mount -t tmpfs -o size={mebibytes}m tmpfs /dev/shm && {settings}"
        return self.start(
            ["unshare", "--mount", "--propagation", "private", "bash", "-c", mount + ' && exec "$@"', "bash",
             *self.command], environment=environment, timeout=60)

    def test_a_long_job_of_four_ranks_is_not_taken_for_one_without_ranks(self):
        # 22 seconds: longer than mpirun may be without a rank.
        self.expect(self.start([TOOLS_MPIRUN, "-n", "4", "sleep", "22"]), 0)

    def test_small_shared_memory_is_survived(self):
        for mebibytes in (8, 12):
            with self.subTest(mebibytes=mebibytes):
                answer = self.with_shared_memory(mebibytes)
                self.expect(answer, 0, f"/dev/shm has {mebibytes} MiB free", f"its files go to {tempfile.gettempdir()}")

    def test_shared_memory_that_is_nearly_full_is_survived(self):
        answer = self.with_shared_memory(100, "head -c 90M /dev/zero > /dev/shm/other")
        self.expect(answer, 0, "/dev/shm has 10 MiB free")

    def test_without_space_anywhere_the_folders_are_named(self):
        answer = self.with_shared_memory(8, "mount -t tmpfs -o size=9m tmpfs /mnt", {"TMPDIR": "/mnt"})
        self.expect(answer, 2, "/dev/shm has 8 MiB free and /mnt 9 MiB", "TMPDIR=")

    def test_few_open_files_are_named(self):
        self.expect(self.limited("ulimit -n 32"), 2, "ulimit -n is 32", "open files")

    def test_few_open_files_are_raised_where_the_user_may(self):
        self.expect(self.limited("ulimit -Sn 32"), 0, "1 stage x 2 replicas")

    def test_small_files_are_named(self):
        self.expect(self.limited("ulimit -f 100"), 2, "ulimit -f is 100")

    def test_mpirun_that_hangs_ends_at_one_term(self):
        # Open MPI 4's waits for ever where it cannot open a pipe for its ranks; Open MPI 5's may start them.
        real = field.shutil.which("mpirun")
        started = self.folder / "started"
        script = self.write("bin/mpirun", f'#!/bin/sh\nulimit -n 32\ntouch "{started}"\nexec "{real}" "$@"\n')
        script.chmod(0o755)
        command = [*self.command, "--train.max_steps=0", "--train.epochs=1000000"]
        process = subprocess.Popen(list(map(str, command)), cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   env=os.environ | {"PATH": f"{script.parent}:{os.environ['PATH']}"})
        while not started.exists():
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0, output)
        self.assertRegex(output, b"the job is killed|stopped on request")


class FewDescriptors(TinyTraining):
    def test_few_descriptors_of_a_rank_are_named(self):
        for files in (6, 12):
            with self.subTest(files=files):
                answer = self.train("--run.threads=1", tool=["prlimit", f"--nofile={files}"])
                if files == 6 or answer.status != 0:
                    self.expect(answer, answer.status or 1, "open files")


if __name__ == "__main__":
    field.main()
