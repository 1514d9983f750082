/// A short run, and what it predicts: what the tests of predictions share.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/program.h"
#include "app/small_data.h"
#include "unit/io/temporary_directory.h"

namespace convoy::test {

using Rows = std::vector<std::vector<std::string>>;

inline Rows read_rows(const std::string& path) {
  Rows rows;
  std::istringstream text(read_text(path));
  for (std::string line; std::getline(text, line);) {
    std::istringstream fields(line);
    rows.emplace_back();
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

inline constexpr int kClasses = 12, kSamples = 100;

// 100 samples: neither whole steps of 64 nor whole micro-batches of 8.
class Prediction : public testing::Test {
 protected:
  Prediction()
      : arguments_(import_small_data(directory_ / "small", {.num_test = kSamples, .num_classes = kClasses})),
        run_(directory_ / "run") {
    const ProcessResult result =
        run_program({.arguments = arguments_ + std::vector<std::string>{"--train.max_steps=12", "--optimizer.lr=0.2",
                                                                        "--run.directory=" + run_}});
    EXPECT_EQ(result.status, 0) << result.output;
  }

  ProcessResult start(const std::string& command, const std::vector<std::string>& more, int ranks = 0) const {
    return run_program({.arguments = std::vector<std::string>{command, run_ + "/params.cfg"} + more, .ranks = ranks});
  }
  ProcessResult predict(const std::string& name, const std::vector<std::string>& more, int ranks = 0) const {
    return start("predict", more + std::vector<std::string>{"--predict.output=" + (directory_ / name)}, ranks);
  }

  WorkingDirectory directory_;
  std::vector<std::string> arguments_;
  std::string run_;
};

}  // namespace convoy::test
