/// Starts runs and compares their files.
#include "app/runs.h"

#include "convoy/io/atomic_file.h"

#include "app/small_data.h"
#include "unit/io/same_bits.h"

namespace convoy::test {

namespace {

std::vector<std::string> import_images(const std::string& folder) {
  return import_small_data(folder);
}

}  // namespace

io::Checkpoint read_checkpoint(const std::string& path) {
  return io::decode_checkpoint(io::read_file(path), path);
}

std::string name_of(const Grid& grid) {
  return std::to_string(grid.stages) + "x" + std::to_string(grid.replicas);
}

Runs::Runs() : Runs(import_images) {}

Runs::Runs(ImportData& import_data) : arguments_(import_data(directory_ / "small")) {
  arguments_.push_back("--plan.measure=false");
}

void Runs::train(const std::string& name, const Grid& grid, int steps, const std::string& schedule,
                 const std::string& bucket_mib) {
  const std::vector<std::string> more = {"--grid.stages=" + std::to_string(grid.stages), "--schedule.kind=" + schedule,
                                         "--train.max_steps=" + std::to_string(steps), "--run.bucket_mib=" + bucket_mib,
                                         "--run.directory=" + (directory_ / name)};
  const ProcessResult result =
      run_program({.arguments = arguments_ + features_ + more, .ranks = grid.stages * grid.replicas});
  output_ = result.output;
  ASSERT_EQ(result.status, 0) << name << "\n" << result.output;
}

io::Checkpoint Runs::checkpoint(const std::string& name, int step) const {
  return read_checkpoint(io::checkpoint_path((directory_ / name) + "/checkpoints", step));
}

void Runs::expect_same_run(const std::string& a, const std::string& b, int step) const {
  SCOPED_TRACE(a + " against " + b);
  const io::Checkpoint first = checkpoint(a, step), second = checkpoint(b, step);
  ASSERT_FALSE(first.model.empty());
  expect_same_bits(first.model, second.model);
  ASSERT_FALSE(first.optimizer.empty());
  ASSERT_EQ(first.optimizer.size(), second.optimizer.size());
  for (const auto& [state, tensors] : first.optimizer) {
    ASSERT_FALSE(tensors.empty()) << state;
    expect_same_bits(tensors, second.optimizer.at(state));
  }
  expect_same_bits(first.ema, second.ema);
  EXPECT_EQ(read_text((directory_ / a) + "/steps.csv"), read_text((directory_ / b) + "/steps.csv"));
}

}  // namespace convoy::test
