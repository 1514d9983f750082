"""Processors and memory that a rank may use: bindings of OpenMP, affinity masks, quotas and limits of the system."""
import os
import pathlib
import re
import resource
import subprocess

import field
from tiny_training import TinyTraining


class Machine(TinyTraining):
    def threads_of(self, answer):
        """As the line of the device says it: "CPU, AVX-512, 2 threads"."""
        found = re.search(r"CPU, [^,\n]*, (\d+) thread", answer.output)
        self.assertIsNotNone(found, answer.output)
        return int(found.group(1))

    def need_processors(self, count):
        if len(os.sched_getaffinity(0)) < count:
            self.skipTest(f"this machine has fewer than {count} processors")


def mounts():
    """Lines of /proc/self/mountinfo as (folder, type, options of the file system)."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        before, after = line.split(" - ")
        yield before.split()[4], after.split()[0], after.split()[2].split(",")


class OpenMpBindings(Machine):
    # libgomp binds the first thread to one processor before main. Each rank then saw one processor, and all the same.

    def threads_with(self, **environment):
        answer = self.check(environment=environment)
        self.expect(answer, 0)
        return self.threads_of(answer)

    def test_openmp_bindings_do_not_change_the_number_of_threads(self):
        self.need_processors(2)
        expected = len(os.sched_getaffinity(0))
        quotas = "allows only the time of" in self.convoy("info").output
        for name, value in (("OMP_PROC_BIND", "true"), ("OMP_PROC_BIND", "spread"), ("OMP_PLACES", "cores"),
                            ("GOMP_CPU_AFFINITY", "0")):
            with self.subTest(**{name: value}):
                answer = self.convoy("info", environment={name: value})
                self.expect(answer, 0)
                self.assertEqual(answer.output, self.convoy("info").output)
        answer = self.check(environment={"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"})
        if not quotas:
            self.assertEqual(self.threads_of(answer), expected)
        self.expect(answer, 0, "OMP_PROC_BIND = close, OMP_PLACES = cores have no effect")

    def test_openmp_binding_leaves_two_ranks_processors_of_their_own(self):
        self.need_processors(2)
        answer = self.train(ranks=2, environment={"OMP_PROC_BIND": "true"})
        self.expect(answer, 0, "OMP_PROC_BIND = true has no effect")
        self.assertNotIn("share", answer.output)
        if len(os.sched_getaffinity(0)) % 2 == 0:
            self.assertIn("each rank on ", answer.output)

    def test_openmp_thread_count_without_effect_is_said(self):
        self.need_processors(2)
        answer = self.train(environment={"OMP_NUM_THREADS": "1"}, tool=["taskset", "-c", "0,1"])
        self.expect(answer, 0, "OMP_NUM_THREADS = 1 has no effect: each rank computes with 2 threads")
        answer = self.train("--run.threads=1", environment={"OMP_NUM_THREADS": "2"})
        self.expect(answer, 0)
        self.assertNotIn("OMP_NUM_THREADS", answer.output)  # the key says what is wanted


class Processors(Machine):
    def test_more_threads_than_processors_are_said(self):
        answer = self.train("--run.threads=2", tool=["taskset", "-c", "0"])
        self.expect(answer, 0, "run.threads = 2: more threads than the 1 processor that a rank may use",
                    "mpirun --bind-to none", "srun --cpus-per-task")
        answer = self.check("--run.threads=2", tool=["taskset", "-c", "0"])
        self.expect(answer, 0, "warning      threads     run.threads = 2: more threads than the 1 processor")

    def test_more_threads_than_processors_of_two_ranks_are_said_once(self):
        answer = self.check("--run.threads=2", ranks=2, tool=["taskset", "-c", "0"], timeout=60)
        self.expect(answer, 0)
        self.assertEqual(answer.output.count("more threads than the 1 processor"), 1, answer.output)

    def test_ranks_that_share_one_processor_are_said(self):
        answer = self.train("--run.threads=1", ranks=2, tool=["taskset", "-c", "0"])
        self.expect(answer, 0, "2 ranks share 1 processor")

    def test_ranks_that_mpirun_binds_to_cores_with_two_threads_each_are_warned_of(self):
        self.need_processors(2)
        # Open MPI 5 binds no ranks where its mapping allows more of them than cores.
        answer = self.train("--run.threads=2", ranks=2, environment={"OMPI_MCA_hwloc_base_binding_policy": "core",
                                                                     "PRTE_MCA_hwloc_default_binding_policy": "core",
                                                                     "PRTE_MCA_rmaps_default_mapping_policy": "slot"})
        self.expect(answer, 0)
        if "hardware threads" not in answer.output:  # a core may have two of them
            self.assertIn("run.threads = 2: more threads than the 1 processor", answer.output)


class Quotas(Machine):
    """The time of one processor in 10, of a group and of a group above it."""

    def in_group(self, folder, group):
        """Starts what follows as a member of the control group."""
        return ["sh", "-c", f'echo $$ > "{folder}/{group}/cgroup.procs" && exec "$@"', "sh"]

    def real_groups(self, kind):
        """The folder where this machine lets us make control groups with quotas of time, or the case is skipped."""
        for folder, type_, options in mounts():
            if type_ != kind or (kind == "cgroup" and "cpu" not in options):
                continue
            if kind == "cgroup2" and "cpu" not in pathlib.Path(folder, "cgroup.subtree_control").read_text().split():
                continue
            group = pathlib.Path(folder, f"convoy-field-{os.getpid()}")
            try:
                group.mkdir()
            except OSError:
                continue
            self.addCleanup(group.rmdir)
            return folder, group
        self.skipTest(f"no control groups with quotas of time ({kind}) can be made here")

    def expect_one_thread(self, tool):
        answer = self.check(tool=tool)
        self.expect(answer, 0)
        self.assertEqual(self.threads_of(answer), 1, answer.output)
        self.expect(self.convoy("info", tool=tool), 0, "but a control group allows only the time of 1")

    def test_quota_of_version_1_is_counted(self):
        self.need_processors(2)
        folder, group = self.real_groups("cgroup")
        (group / "cpu.cfs_quota_us").write_text("150000")
        (group / "cpu.cfs_period_us").write_text("100000")
        self.expect_one_thread(self.in_group(folder, group.name))

    def test_quota_of_a_group_above_in_version_1_is_counted(self):
        self.need_processors(2)
        folder, group = self.real_groups("cgroup")
        (group / "cpu.cfs_quota_us").write_text("150000")
        inner = group / "inner"
        inner.mkdir()
        self.addCleanup(inner.rmdir)
        self.expect_one_thread(self.in_group(folder, f"{group.name}/inner"))

    def test_quota_of_a_group_above_in_version_2_is_counted(self):
        self.need_processors(2)
        folder, group = self.real_groups("cgroup2")
        (group / "cpu.max").write_text("150000 100000")
        inner = group / "inner"
        inner.mkdir()
        self.addCleanup(inner.rmdir)
        self.expect_one_thread(self.in_group(folder, f"{group.name}/inner"))

    # Where the machine's kernel keeps the controller in version 1, version 2 is shown to the program as a batch system's
    # node would: by the mount table, the process's group, and the groups' files, in a mount namespace of its own.
    def test_quota_of_nested_groups_as_a_node_with_version_2_shows_them_is_counted(self):
        self.need_processors(2)
        self.write("groups/slurm/job_7/step_0/cpu.max", "max 100000\n")
        self.write("groups/slurm/job_7/cpu.max", "150000 100000\n")
        self.write("groups/slurm/cpu.max", "max 100000\n")
        self.write("cgroup", "0::/slurm/job_7/step_0\n")
        self.write("mountinfo", f"30 20 0:26 / {self.folder}/groups rw,nosuid shared:9 - cgroup2 cgroup2 rw\n")
        self.expect_one_thread(["unshare", "--mount", "--propagation", "private", "sh", "-c",
                                'mount --bind cgroup /proc/$$/cgroup && mount --bind mountinfo /proc/$$/mountinfo && '
                                'exec "$@"', "sh"] if self.may_mount() else self.skipTest("mounts are forbidden here"))

    def may_mount(self):
        return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0


class AddressSpace(Machine):
    def limited(self, mebibytes):
        return ["prlimit", f"--as={mebibytes << 20}"]

    def mapped_mebibytes(self):
        """What the program maps before it trains, by the answer of a start with a limit that it cannot keep."""
        low, high = 50, 2000
        while high - low > 20:
            middle = (low + high) // 2
            good = self.convoy("--version", tool=self.limited(middle)).status == 0
            low, high = (low, middle) if good else (middle, high)
        return high

    def test_small_address_space_is_named_before_and_by_check(self):
        mapped = self.mapped_mebibytes()
        for command in ("check", "train"):
            for more in (150, 75, 25):  # with one of them MPI does not start: how much it needs depends on its version
                answer = self.convoy(command, *self.keys, "--run.threads=2", tool=self.limited(mapped + more))
                if answer.status != 0:
                    break
            self.assertNotEqual(answer.status, 0)
            self.assertIn("warning: the limit ulimit -v is ", answer.output)
            self.assertIn("Raise it (ulimit -v unlimited", answer.output)

    def test_address_space_with_little_for_threads_is_warned_of(self):
        tight = self.mapped_mebibytes() + 500
        for command in ("check", "train"):
            answer = self.convoy(command, *self.keys, "--run.threads=8", tool=self.limited(tight))
            self.assertIn("ulimit -v is ", answer.output)

    def test_address_space_that_does_not_suffice_is_named_after_the_failure(self):
        tight = self.mapped_mebibytes() + 60  # MPI may not start
        answer = self.train("--run.threads=1", tool=self.limited(tight))
        self.assertNotEqual(answer.status, 0, answer.output)
        self.assertIn("ulimit -v", answer.output)

    def test_large_address_space_is_no_reason_to_warn(self):
        answer = self.check("--run.threads=1", tool=self.limited(8192))
        self.expect(answer, 0)
        self.assertNotIn("ulimit", answer.output)
        self.assertEqual(resource.getrlimit(resource.RLIMIT_AS)[0], resource.RLIM_INFINITY, "of this test")


if __name__ == "__main__":
    field.main()
