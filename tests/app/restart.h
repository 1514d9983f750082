/// A short run that is started again and again: what the tests of restarts and of stops share.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/io/checkpoint.h"

#include "app/program.h"
#include "app/small_data.h"

namespace convoy::test {

class Restart : public testing::Test {
 protected:
  /// Cuts follow modelled costs: to measure them would take most of such short runs.
  Restart() : arguments_(import_small_data(directory_ / "small")), run_(directory_ / "run") {
    arguments_.push_back("--plan.measure=false");
  }

  ProcessResult train(int steps, const std::vector<std::string>& more = {}, int ranks = 0) const {
    return run_program(
        {.arguments =
             arguments_ +
             std::vector<std::string>{"--train.max_steps=" + std::to_string(steps), "--run.directory=" + run_} + more,
         .ranks = ranks});
  }
  std::string checkpoint(int step) const { return io::checkpoint_path(run_ + "/checkpoints", step); }

  WorkingDirectory directory_;
  std::vector<std::string> arguments_;
  std::string run_;
};

}  // namespace convoy::test
