/// Cuts the chain of cells into stages so that the slowest stage is as fast as possible.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoy/model/arena_layout.h"

namespace convoy {

/// The speed that the model of cell times assumes for the processor of a rank.
struct ProcessorRates {
  double flop_per_second = 2e11;   ///< default: what oneDNN's convolutions reach on a core with AVX-512 at about 3 GHz
  double bytes_per_second = 2e10;  ///< default: a core's share of the main memory's bandwidth
};

/// The modelled time of one micro-batch's forward and backward through each cell, in seconds: floating-point operations
/// / flop_per_second + memory traffic / bytes_per_second.
std::vector<double> model_cell_seconds(const Network& network, const ProcessorRates& rates = {});

/// The modelled time of recomputing each cell's activations for one micro-batch, in seconds; 0 for a cell that stores
/// none.
std::vector<double> model_recompute_seconds(const Network& network, const ProcessorRates& rates = {});

/// A function that returns whether `stage` can consist of `cells`, for instance whether they fit into its memory.
using StageFits = std::function<bool(std::int64_t stage, const CellRange& cells)>;

/// Cuts the chain of cells into `stages` non-empty runs of neighbouring cells so that the largest sum of seconds of a
/// run is the smallest possible (dynamic programming; of equal partitions the one whose earlier stages are smaller).
/// Each run must be accepted by `fits`, if it is given. Returns an empty list if no partition fits. Throws RequestError
/// if there are more stages than cells.
std::vector<CellRange> partition(const std::vector<double>& cell_seconds, std::int64_t stages,
                                 const StageFits& fits = {});

/// Cuts the chain of cells at given points: cuts[i] is the index of the first cell of stage i + 1. `cells` are the
/// names of all cells, for messages. Throws RequestError if `cuts` are not stages - 1 ascending indices of cells.
std::vector<CellRange> partition_at(const std::vector<std::int64_t>& cuts, const std::vector<std::string>& cells,
                                    std::int64_t stages);

}  // namespace convoy
