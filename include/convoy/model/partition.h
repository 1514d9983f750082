/// Cuts the chain of cells into stages so that the slowest stage is as fast as it can be.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoy/model/arena_layout.h"

namespace convoy {

/// What a model of a rank's processor is made of.
struct ProcessorRates {
  double flop_per_second = 2e11;   ///< a core with AVX-512 at about 3 GHz, as oneDNN's convolutions reach it
  double bytes_per_second = 2e10;  ///< a core's share of main memory
};

/// Seconds of one micro-batch's forward and backward through each cell: the arithmetic at the processor's rate, plus
/// what is read and written around it at its memory's.
std::vector<double> model_cell_seconds(const Network& network, const ProcessorRates& rates = {});

/// Likewise, of computing each cell's activations again.
std::vector<double> model_recompute_seconds(const Network& network, const ProcessorRates& rates = {});

/// Whether a stage of these cells can be.
using StageFits = std::function<bool(std::int64_t stage, const CellRange& cells)>;

/// The contiguous partition into `stages` non-empty runs with the smallest maximal sum, of those whose stages all fit
/// (dynamic programming; among equals the one whose earlier stages are smaller). Empty where none fits; without `fits`
/// all do. Throws RequestError where there are more stages than cells.
std::vector<CellRange> partition(const std::vector<double>& cell_seconds, std::int64_t stages,
                                 const StageFits& fits = {});

/// The partition of the cells with these names in which each stage but the first begins with the cell of that number.
/// Throws RequestError where cuts are not stages - 1 ascending numbers of cells.
std::vector<CellRange> partition_at(const std::vector<std::int64_t>& cuts, const std::vector<std::string>& cells,
                                    std::int64_t stages);

}  // namespace convoy
