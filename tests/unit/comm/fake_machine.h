/// A machine that a test describes: the files that Linux has in /sys and /proc, in a folder of the test's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <fmt/core.h>
#include <unistd.h>

#include "convoy/comm/machine.h"

namespace convoy::test {

class FakeMachine {
 public:
  FakeMachine() { std::filesystem::create_directories(root_); }
  ~FakeMachine() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  /// "devices/system/node/node0/cpulist" of /sys.
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text << "\n";
  }
  void add_domain(std::int64_t number, const std::string& processors, std::int64_t memory_kib) const {
    const std::string folder = fmt::format("devices/system/node/node{}/", number);
    write(folder + "cpulist", processors);
    write(folder + "meminfo",
          fmt::format("Node {0} MemTotal:       {1} kB\nNode {0} MemFree: 1 kB", number, memory_kib));
  }
  /// `shares_cache`: the processors that its last-level cache serves.
  void add_processor(std::int64_t number, std::int64_t package, std::int64_t core,
                     const std::string& shares_cache) const {
    const std::string folder = fmt::format("devices/system/cpu/cpu{}/", number);
    write(folder + "topology/physical_package_id", std::to_string(package));
    write(folder + "topology/core_id", std::to_string(core));
    write(folder + "cache/index0/level", "1");
    write(folder + "cache/index0/shared_cpu_list", std::to_string(number));
    write(folder + "cache/index3/level", "3");
    write(folder + "cache/index3/size", "32768K");
    write(folder + "cache/index3/shared_cpu_list", shares_cache);
  }
  std::string sys() const { return root_.string(); }

 private:
  std::filesystem::path root_ = std::filesystem::temp_directory_path() / fmt::format("convoy-machine-{}", getpid());
};

/// Two sockets, each a NUMA domain of 8 cores with 2 hardware threads, numbered as on Xeons: 0-7,16-23 and 8-15,24-31.
inline void make_xeons(const FakeMachine& machine) {
  machine.add_domain(0, "0-7,16-23", 64 << 20);
  machine.add_domain(1, "8-15,24-31", 64 << 20);
  for (std::int64_t number = 0; number < 32; ++number) {
    const std::int64_t core = number % 16;
    machine.add_processor(number, core / 8, core % 8, core < 8 ? "0-7,16-23" : "8-15,24-31");
  }
  machine.write("devices/system/cpu/online", "0-31");
}

/// One socket and NUMA domain, with 8 caches of 4 cores.
inline void make_epyc(const FakeMachine& machine) {
  machine.add_domain(0, "0-31", 128 << 20);
  for (std::int64_t number = 0; number < 32; ++number)
    machine.add_processor(number, 0, number, fmt::format("{}-{}", number / 4 * 4, number / 4 * 4 + 3));
  machine.write("devices/system/cpu/online", "0-31");
}

/// 0, ..., count - 1.
inline ProcessorSet first_processors(std::int64_t count) {
  return parse_processors(fmt::format("0-{}", count - 1));
}

}  // namespace convoy::test
