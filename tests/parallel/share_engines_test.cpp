/// Engines that one rank has measured, or an earlier run, are those of all ranks. A backend of the CPU has none, so
/// this one only carries them.
#include "step/share_engines.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"
#include "convoy/ops/engine_cache.h"

#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"
#include "unit/ops/forwarding_backend.h"

namespace convoy::test {

namespace {

class BackendWithEngines final : public ops::ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;
  ops::EngineCache* engine_cache() override { return &engines_; }

 private:
  ops::EngineCache engines_;
};

ops::EngineCache engines_of(const std::string& key) {
  ops::EngineCache engines;
  engines.insert(key, "engine 7");
  return engines;
}

class ShareEngines : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    if (world().rank() == 0) io::write_text_atomically(directory_ / name, text);
    world().barrier();
  }

  /// Returns the engines that this rank has after all ranks have shared those of the file.
  ops::EngineCache shared(const std::string& name, const ops::EngineCache& before = {}) const {
    const auto cpu = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
    BackendWithEngines backend(*cpu);
    *backend.engine_cache() = before;
    share_engines({}, world(), directory_ / name, backend);
    return *backend.engine_cache();
  }

  const SharedDirectory directory_;
};

}  // namespace

TEST_F(ShareEngines, GivesAllRanksThoseOfTheFile) {
  EXPECT_EQ(shared("engines.txt"), ops::EngineCache()) << "no file";
  write("engines.txt", engines_of("new").serialise());
  EXPECT_EQ(shared("engines.txt"), engines_of("new"));
  EXPECT_EQ(shared("engines.txt", engines_of("root's")), engines_of("root's")) << "rank 0 has some";
}

TEST_F(ShareEngines, ReadsPlansOfAnEarlierVersionIfThereAreNoEngines) {
  write("plans.txt", "convoy plans 1\nold\tengine 7\n");
  EXPECT_EQ(shared("engines.txt"), engines_of("old"));
  EXPECT_EQ(shared("plans.txt"), engines_of("old")) << "run.engines = plans.txt";
  EXPECT_EQ(shared("others.txt"), ops::EngineCache()) << "another file is not that of the directory";
  write("engines.txt", engines_of("new").serialise());
  EXPECT_EQ(shared("engines.txt"), engines_of("new"));
}

TEST_F(ShareEngines, DoesWithoutADamagedFile) {
  write("engines.txt", "convoy pla");
  EXPECT_EQ(shared("engines.txt"), ops::EngineCache());
}

}  // namespace convoy::test
