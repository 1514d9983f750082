/// What convoy info says of machines.
#include "commands/machine_info.h"

#include <span>
#include <string>

#include <gtest/gtest.h>

#include "unit/comm/described_machines.h"
#include "unit/io/temporary_directory.h"

namespace convoy::commands {

namespace {

class MachineInfo : public testing::Test {
 protected:
  // A file of /sys or /proc, which lie in the same folder.
  void write(const std::string& name, const std::string& text) const {
    test::write_bytes(system_ / name, std::as_bytes(std::span(text)));
  }
  std::string text(const char* machine) const {
    return describe_machine(Machine(machine), system_.path(), system_.path());
  }

 private:
  const test::TemporaryDirectory system_;
};

}  // namespace

TEST_F(MachineInfo, HasALineForEachPart) {
  write("kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  write("cpuinfo", "processor\t: 0\nmodel name\t: Intel Xeon\nflags\t\t: fpu avx2 avx512f");
  write("driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H100\nIRQ:   \t\t 17");
  EXPECT_EQ(text(test::kXeons),
            "  processor       Intel Xeon: avx2 avx512f\n"
            "  NUMA domain 0   processors 0-7,16-23; 64.0 GiB of memory\n"
            "  NUMA domain 1   processors 8-15,24-31; 64.0 GiB of memory\n"
            "  L3 cache        processors 0-7,16-23; 32768K\n"
            "  L3 cache        processors 8-15,24-31; 32768K\n"
            "  huge pages      madvise\n"
            "  NVIDIA GPUs     NVIDIA H100\n");
}

TEST_F(MachineInfo, SaysWhatTheSystemDoesNotTell) {
  write("cpuinfo", "model name\t: Intel Xeon");
  EXPECT_EQ(text(test::kUnknown),
            "  processor       Intel Xeon:\n"
            "  NUMA domains    not reported by the system\n"
            "  huge pages      not reported by the system\n"
            "  NVIDIA GPUs     none\n");
}

}  // namespace convoy::commands
