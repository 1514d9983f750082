"""The first command that a stranger types must not compile for GPUs, which takes minutes, because nvcc is on the PATH."""
import os

import field


class Quickstart(field.Case):
    def test_its_preset_compiles_no_kernel(self):
        build = self.folder / "build"
        compiler = {name: os.environ[name] for name in ("CC", "CXX") if name in os.environ}
        configured = self.start(["cmake", "--preset", "cpu", "-S", field.SOURCE, "-B", build], environment=compiler)
        self.expect(configured, 0, "CUDA device: no")
        planned = self.start(["ninja", "-C", build, "-t", "commands", "convoy"])
        self.expect(planned, 0, " -o convoy ")
        self.assertNotIn(".cu ", planned.output)
        self.assertNotIn("nvcc", planned.output)

    def test_it_builds_that_preset_where_there_is_nvcc(self):
        # The script as it is, up to the build: tools of the same names, in front of the PATH and in place of those next to it,
        # write down how they were called.
        quickstart = self.write("tools/quickstart", (field.SOURCE / "tools" / "quickstart").read_bytes())
        for name in ("tools/install_deps", "nvcc"):
            self.write(name, "#!/bin/sh\nexit 0\n").chmod(0o755)
        self.write("tools/build", '#!/bin/sh\necho "build $*"\nexit 9\n').chmod(0o755)
        path = f"{self.folder}:/usr/bin:/bin"
        self.expect(self.start(["bash", quickstart], environment={"PATH": path}), 9, "build --preset cpu convoy")


if __name__ == "__main__":
    field.main()
