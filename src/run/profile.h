/// The time of a training step by layer and kind of work, as a table for programs and as lines for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/model/layer_observer.h"

namespace convoy {

/// The work of one layer in a step, or other work of a stage's ranks (loading, waiting ...). All numbers are means over
/// steps and replicas.
struct ProfileRow {
  std::int64_t stage = 0;
  std::string cell;               ///< name of the layer's cell; empty for other work
  LayerInfo layer;                ///< the layer; for other work only its `operation` is set, to the name of the work
  std::optional<LayerWork> work;  ///< forward or a part of the backward; empty for other work
  double calls = 0;               ///< number of calls per step on each rank of the stage
  double seconds = 0;             ///< time of these calls
  double flop = 0;                ///< number of floating-point operations of these calls
};

/// The measured steps.
struct Profile {
  /// Number of the first measured step, counted from 1; how many steps; the grid's stages.
  std::int64_t first_step = 0, num_steps = 0, num_stages = 1;
  double step_seconds = 0;           ///< mean duration of a step
  double product_flop_a_second = 0;  ///< measured speed of a large matrix product on one rank; 0: not known
  std::vector<ProfileRow> rows;      ///< by stage, then by cell in the order of the forward, then other work
};

/// Returns CSV: a header and a line for each row.
std::string to_csv(const Profile& profile);

/// The sum of all rows with the same operation and work.
struct ProfileSum {
  std::string name;          ///< "convolution, gradient of w", "waiting for replicas"
  double seconds = 0;        ///< time per rank and step; together all sums are about a step's duration
  double flop_a_second = 0;  ///< speed during this work; 0 if it has no matrix products
};
/// Returns the sums, the longest first.
std::vector<ProfileSum> sums_of(const Profile& profile);

/// Returns lines for people: sums_of() as shares of the step. The last line has no newline.
std::string summary_of(const Profile& profile);

}  // namespace convoy
