/// Starts runs and compares what they leave behind.
#include "app/runs.h"

#include <cstring>

#include "app/small_data.h"

namespace convoy::test {

bool same_bits(const io::NamedTensor& a, const io::NamedTensor& b) {
  return a.name == b.name && a.values.size() == b.values.size() &&
         std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(float)) == 0;
}

namespace {

void expect_same_tensors(const std::vector<io::NamedTensor>& a, const std::vector<io::NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_FALSE(a.empty());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same_bits(a[i], b[i])) << a[i].name << ", " << b[i].name;
}

}  // namespace

std::string name_of(const Grid& grid) {
  return std::to_string(grid.stages) + "x" + std::to_string(grid.replicas);
}

Runs::Runs() : arguments_(import_small_data(directory_ / "small")) {}

void Runs::train(const std::string& name, const Grid& grid, int steps, const std::string& schedule,
                 const std::string& bucket_mib) {
  const std::vector<std::string> more = {"--grid.stages=" + std::to_string(grid.stages), "--schedule.kind=" + schedule,
                                         "--train.max_steps=" + std::to_string(steps), "--run.bucket_mib=" + bucket_mib,
                                         "--run.directory=" + (directory_ / name)};
  const Ending ending = run_program({.arguments = arguments_ + features_ + more, .ranks = grid.stages * grid.replicas});
  output_ = ending.output;
  ASSERT_EQ(ending.status, 0) << name << "\n" << ending.output;
}

io::Checkpoint Runs::checkpoint(const std::string& name, int step) const {
  const std::string path = io::checkpoint_path((directory_ / name) + "/checkpoints", step);
  return io::decode_checkpoint(io::read_file(path), path);
}

void Runs::expect_same_run(const std::string& a, const std::string& b, int step) const {
  SCOPED_TRACE(a + " against " + b);
  const io::Checkpoint first = checkpoint(a, step), second = checkpoint(b, step);
  expect_same_tensors(first.model, second.model);
  ASSERT_FALSE(first.optimizer.empty());
  ASSERT_EQ(first.optimizer.size(), second.optimizer.size());
  for (const auto& [slot, tensors] : first.optimizer) expect_same_tensors(tensors, second.optimizer.at(slot));
  ASSERT_EQ(first.ema.size(), second.ema.size());
  if (!first.ema.empty()) expect_same_tensors(first.ema, second.ema);
  EXPECT_EQ(read_text((directory_ / a) + "/steps.csv"), read_text((directory_ / b) + "/steps.csv"));
}

}  // namespace convoy::test
