/// Where the time of a step goes, as a table for programs and as lines for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/model/layer_watch.h"

namespace convoy {

/// A layer's work in a step, or what else the ranks of a stage do in it: in the mean of the steps and replicas.
struct ProfileRow {
  std::int64_t stage = 0;
  std::string cell;               ///< empty where it is no layer's
  LayerInfo layer;                ///< likewise, but for the operation
  std::optional<LayerWork> work;  ///< likewise
  double calls = 0;               ///< of each rank of the stage
  double seconds = 0;             ///< of all of them
  double flop = 0;                ///< likewise
};

struct Profile {
  std::int64_t first_step = 0, num_steps = 0, num_stages = 1;
  double step_seconds = 0;           ///< mean
  double product_flop_a_second = 0;  ///< of a rank: measure_product_rate(); 0: not known
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
