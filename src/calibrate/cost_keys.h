/// The keys by which measured costs are found again: lines that name all that the costs depend on.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/base/node_load.h"
#include "convoy/model/network.h"
#include "convoy/ops/backend.h"

#include "calibrate/measure_rates.h"

namespace convoy {

/// Returns the key of cell costs: network, shapes, micro-batch, type, frozen layers, the device with its threads, and
/// the ranks that measure at the same time.
std::string costs_key(const NetworkSpec& network, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node);

/// Returns the key of rates: sizes, the device with its threads, and the ranks.
std::string rates_key(const RatesSpec& spec, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node);

}  // namespace convoy
