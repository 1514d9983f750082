/// The golden files, and the fill that gives every tensor its values from its name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "convoy/data/batch_source.h"
#include "convoy/io/checkpoint.h"

#include "train/engine.h"

namespace convoy::test {

/// `count` float32 values low + (high - low) * u, u a hash of (name, index) in [0, 1): make_golden.py's `fill`.
std::vector<float> golden_fill(const std::string& name, std::int64_t count, double low, double high);

nlohmann::json read_golden(const std::string& name);

/// The network, batch and optimizer of a golden file.
EngineSpec golden_engine_spec(const nlohmann::json& golden, ScheduleKind schedule);

/// Every parameter as make_golden.py starts it; running means 0, variances 1.
io::Checkpoint golden_start(const Network& network);

/// The one batch that all four steps train on.
class GoldenSource final : public BatchSource {
 public:
  GoldenSource(const nlohmann::json& golden, const Engine& engine);

  void load(std::string_view feature, std::int64_t micro_batch, void* to) override;

 private:
  std::int64_t first_, micro_, image_count_;
  std::vector<std::int32_t> labels_;
  DataType type_;
  ops::ElementwiseOps& elementwise_;
  Buffer images_;  ///< float32 (N,H,W,C)
};

}  // namespace convoy::test
