/// See cost_keys.h.
#include "calibrate/cost_keys.h"

#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace convoy {

namespace {

// Returns the last part of the keys: "4 ranks at once", or "2 of 4 ranks at once on a node, 8 in all".
std::string describe_ranks(std::int64_t ranks, const NodeLoad& node) {
  if (!node.is_shared()) return fmt::format("{} ranks at once", ranks);
  return fmt::format("{:g} of {} ranks at once on a node, {} in all", node.ranks_at_once, node.ranks, ranks);
}

// Describes what the network's name does not tell: stochastic depth, or the shape of a transformer.
std::string describe_shape(const NetworkSpec& network) {
  if (std::holds_alternative<ImageShape>(network.input))
    return network.stochastic_depth > 0 ? fmt::format(" with stochastic depth {}", network.stochastic_depth) : "";
  const TransformerParams& shape = network.transformer;
  return fmt::format(" of {} layers, {} heads, width {}, feedforward {}, dropout {}, {}, positions {}, norm {}",
                     shape.layers, shape.heads, shape.width, shape.feedforward, shape.dropout,
                     name_of(shape.activation), name_of(shape.positions), name_of(shape.norm));
}

}  // namespace

std::string costs_key(const NetworkSpec& network, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node) {
  return fmt::format("{}{} on {} for {} classes, micro-batch {}, {}, frozen [{}]; {}; {}", network.name,
                     describe_shape(network), to_string(network.input), network.num_classes, network.micro_batch,
                     to_string(network.type), fmt::join(network.freeze, ", "), backend.device().description(),
                     describe_ranks(ranks, node));
}

std::string rates_key(const RatesSpec& spec, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node) {
  return fmt::format("messages of {} bytes, arenas of {}; {}; {}, {} on a node", spec.message_bytes, spec.arena_bytes,
                     backend.device().description(), describe_ranks(ranks, node), node.ranks);
}

}  // namespace convoy
