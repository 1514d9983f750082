/// The golden files, and the fill that gives every tensor its values from its name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "convoy/data/batch_source.h"
#include "convoy/io/checkpoint.h"

#include "step/rank_runtime.h"

namespace convoy::test {

/// `count` float32 values low + (high - low) * u, u a hash of (name, index) in [0, 1): make_golden.py's `fill`.
std::vector<float> golden_fill(const std::string& name, std::int64_t count, double low, double high);

nlohmann::json read_golden(const std::string& name);

/// Returns the network, batch and optimizer of a golden file.
RuntimeSpec golden_runtime_spec(const nlohmann::json& golden, ScheduleKind schedule);

/// Returns every parameter with make_golden.py's initial values; running means 0, variances 1.
io::Checkpoint golden_start(const Network& network);

/// The one batch that all four steps train on.
class GoldenSource final : public BatchSource {
 public:
  GoldenSource(const nlohmann::json& golden, const RankRuntime& runtime);

  void load(std::string_view feature, std::int64_t micro_batch, void* to) override;

 private:
  void keep_arrays(const nlohmann::json& golden, Device& device);
  void keep_images(std::int64_t n, std::int64_t size, Device& device);
  template <typename T>
  void keep(const std::string& feature, const std::vector<T>& values, Device& device);

  std::int64_t first_, micro_, batch_;
  std::vector<std::int32_t> labels_;  ///< labels that the loss reads
  DataType type_;
  InputShape inputs_;
  ops::ElementwiseOps& elementwise_;
  std::map<std::string, Buffer>
      kept_;  ///< features of the whole batch, by name; images and arrays float32, channels last
};

}  // namespace convoy::test
