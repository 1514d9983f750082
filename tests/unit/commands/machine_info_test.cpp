/// What convoy info says of machines.
#include "commands/machine_info.h"

#include <string>

#include <gtest/gtest.h>

#include "unit/comm/fake_machine.h"

namespace convoy::commands {

namespace {

class MachineInfo : public testing::Test {
 protected:
  // /proc lies in the same folder.
  std::string text() const { return describe_machine(machine_.sys(), machine_.sys() + "/proc"); }

  test::FakeMachine machine_;
};

}  // namespace

TEST_F(MachineInfo, HasALineForEachPart) {
  test::make_xeons(machine_);
  machine_.write("kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  machine_.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Intel Xeon\nflags\t\t: fpu avx2 avx512f");
  machine_.write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H100\nIRQ:   \t\t 17");
  EXPECT_EQ(text(),
            "  processor       Intel Xeon: avx2 avx512f\n"
            "  NUMA domain 0   processors 0-7,16-23; 64.0 GiB of memory\n"
            "  NUMA domain 1   processors 8-15,24-31; 64.0 GiB of memory\n"
            "  L3 cache        processors 0-7,16-23; 32768K\n"
            "  L3 cache        processors 8-15,24-31; 32768K\n"
            "  huge pages      madvise\n"
            "  NVIDIA GPUs     NVIDIA H100\n");
}

TEST_F(MachineInfo, SaysWhatTheSystemDoesNotTell) {
  machine_.write("proc/cpuinfo", "model name\t: Intel Xeon");
  EXPECT_EQ(text(),
            "  processor       Intel Xeon:\n"
            "  NUMA domains    not reported by the system\n"
            "  huge pages      not reported by the system\n"
            "  NVIDIA GPUs     none\n");
}

}  // namespace convoy::commands
