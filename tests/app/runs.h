/// A test's runs on one small data set, of images or of texts, and what they must have in common.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/io/checkpoint.h"

#include "app/program.h"

namespace convoy::test {

struct Grid {
  int stages, replicas;
};

std::string name_of(const Grid& grid);  ///< "2x1"

io::Checkpoint read_checkpoint(const std::string& path);

class Runs : public testing::Test {
 protected:
  /// Imports data into a folder; returns the arguments that train on it.
  using ImportData = std::vector<std::string>(const std::string& folder);

  /// Cuts follow modelled costs: to measure them would take most of such short runs.
  Runs();
  explicit Runs(ImportData& import_data);

  /// Trains up to `steps`; a later call with the same name resumes from there. Buckets so small that every stage has
  /// several: their exchange overlaps with the backward pass of earlier cells.
  void train(const std::string& name, const Grid& grid, int steps, const std::string& schedule = "1f1b",
             const std::string& bucket_mib = "0.05");

  io::Checkpoint checkpoint(const std::string& name, int step) const;
  void expect_same_run(const std::string& a, const std::string& b, int step = 12) const;

  WorkingDirectory directory_;
  std::vector<std::string> arguments_;
  std::vector<std::string> features_;  ///< arguments, too
  std::string output_;                 ///< of the latest run
};

}  // namespace convoy::test
