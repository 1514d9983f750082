/// Measures how all ranks spend the time of a few training steps, layer by layer, gathers it on rank 0, and writes it
/// as profile.csv.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/profile.h"
#include "step/layer_timer.h"
#include "step/step_trace.h"

namespace convoy {

/// Measures how long each layer computes.
class StepProfile final : public StepStudy {
 public:
  StepProfile(TrainingStep& training, const TraceWindow& window);
  ~StepProfile() override;

  void begin_step(std::int64_t step) override;
  void end_step(const StepResult& result) override;
  /// Ends the measurement. Rank 0 returns the profile of all ranks; other ranks return nothing, and all if no step was
  /// measured.
  std::optional<Profile> end();
  std::string write(const std::string& directory) override;

 private:
  std::vector<ProfileRow> gather_rows();
  double slowest_product() const;

  std::int64_t num_steps_ = 0;
  double seconds_ = 0;  ///< duration of the measured steps together
  LayerTimer layers_;
};

}  // namespace convoy
