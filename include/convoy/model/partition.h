/// Cuts the chain of cells into stages so that the slowest stage is as fast as possible.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoy/model/arena_layout.h"

namespace convoy {

/// The rates by which the processor of a rank is modelled.
struct ProcessorRates {
  double flop_per_second = 2e11;   ///< reached by oneDNN's convolutions on a core with AVX-512 at about 3 GHz
  double bytes_per_second = 2e10;  ///< a core's share of the main memory's bandwidth
};

/// The modelled seconds of one micro-batch's forward and backward through each cell: the arithmetic at the processor's
/// rate, plus the memory traffic at its memory's rate.
std::vector<double> model_cell_seconds(const Network& network, const ProcessorRates& rates = {});

/// The modelled seconds of recomputing each cell's activations for one micro-batch.
std::vector<double> model_recompute_seconds(const Network& network, const ProcessorRates& rates = {});

/// A function that says whether the stage can consist of these cells.
using StageFits = std::function<bool(std::int64_t stage, const CellRange& cells)>;

/// The contiguous partition into `stages` non-empty runs, all accepted by `fits`, whose largest sum of seconds is the
/// smallest (dynamic programming; among equals the one whose earlier stages are smaller). Without `fits` all runs are
/// accepted. Empty if no partition fits. Throws RequestError if there are more stages than cells.
std::vector<CellRange> partition(const std::vector<double>& cell_seconds, std::int64_t stages,
                                 const StageFits& fits = {});

/// The partition of the cells with these names in which each stage but the first begins with the cell of the given
/// number. Throws RequestError if `cuts` are not stages - 1 ascending numbers of cells.
std::vector<CellRange> partition_at(const std::vector<std::int64_t>& cuts, const std::vector<std::string>& cells,
                                    std::int64_t stages);

}  // namespace convoy
