/// Time of a step by layer and activity, as a table for programs and as lines for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/model/layer_watch.h"

namespace convoy {

/// A layer's work in a step, or other work of a stage's ranks in it; the mean over steps and replicas.
struct ProfileRow {
  std::int64_t stage = 0;
  std::string cell;               ///< empty if the row is not a layer's
  LayerInfo layer;                ///< only its operation is set if the row is not a layer's
  std::optional<LayerWork> work;  ///< set only if the row is a layer's
  double calls = 0;               ///< calls on each rank of the stage
  double seconds = 0;             ///< seconds of all these calls
  double flop = 0;                ///< floating-point operations of all these calls
};

struct Profile {
  std::int64_t first_step = 0, num_steps = 0, num_stages = 1;
  double step_seconds = 0;           ///< mean time of a step
  double product_flop_a_second = 0;  ///< speed of a large matrix product on one rank; 0: not known
  std::vector<ProfileRow> rows;      ///< stage by stage, cell by cell, in the order of forward
};

/// A header and a line for each row.
std::string to_csv(const Profile& profile);

/// Rows of the same operation and work together.
struct ProfileSum {
  std::string name;          ///< "convolution, gradient of w", "waiting for replicas"
  double seconds = 0;        ///< of a rank, in the mean of all: sums of all names are near the step's time
  double flop_a_second = 0;  ///< while it computes; 0 without products
};
/// The longest first.
std::vector<ProfileSum> sums_of(const Profile& profile);

/// Lines for people: sums_of() as shares of the step, without a line's end after the last.
std::string summary_of(const Profile& profile);

}  // namespace convoy
