/// Decides which messages stay on a node, and which rate those that leave it share.
#include "plan/network_levels.h"

#include <algorithm>
#include <bit>

namespace convoy {

namespace {

// Returns the number of rounds of recursive doubling among n ranks.
double doublings(std::int64_t n) {
  return std::bit_width(static_cast<std::uint64_t>(n - 1));
}

}  // namespace

NetworkLevels::NetworkLevels(const MachineRates& rates, const GridShape& grid, std::int64_t ranks_a_node)
    : rates_(rates), grid_(grid), ranks_a_node_(std::min(ranks_a_node, grid.stages * grid.replicas)) {}

std::int64_t NetworkLevels::replicas_on_a_node() const {
  return std::max<std::int64_t>(1, ranks_a_node_ / grid_.stages);
}

bool NetworkLevels::leaves_node(std::int64_t rank, std::int64_t other) const {
  return rank / ranks_a_node_ != other / ranks_a_node_;
}

LinkRates NetworkLevels::after_stage(std::int64_t stage) const {
  const std::int64_t next = (stage + 1) % grid_.stages;
  bool leaves = false;  // the pattern of nodes repeats after ranks_a_node_ replicas
  for (std::int64_t replica = 0; replica < std::min(grid_.replicas, ranks_a_node_); ++replica)
    leaves = leaves || leaves_node(replica * grid_.stages + stage, replica * grid_.stages + next);
  return leaves ? rates_.between_nodes : rates_.on_node;
}

ExchangeSeconds NetworkLevels::exchange(std::span<const std::int64_t> rounds, std::int64_t bytes) const {
  double between_rate = rates_.between_nodes.exchange_bytes_per_second;
  if (rates_.node_bytes_per_second > 0)
    between_rate = std::min(between_rate, rates_.node_bytes_per_second / static_cast<double>(ranks_a_node_));
  ExchangeSeconds seconds;
  auto part = static_cast<double>(bytes);
  std::int64_t distance = 1;  // between members of a round, in replicas
  for (const std::int64_t members : rounds) {
    part /= static_cast<double>(members);
    const std::int64_t on_node = std::clamp<std::int64_t>(replicas_on_a_node() / distance, 1, members) - 1;
    const auto near = static_cast<double>(on_node), far = static_cast<double>(members - 1 - on_node);
    seconds.waiting +=
        near * rates_.on_node.latency_seconds + far * (rates_.between_nodes.latency_seconds + part / between_rate);
    (rates_.copied_by_ranks ? seconds.copying : seconds.waiting) +=
        near * part / rates_.on_node.exchange_bytes_per_second;
    distance *= members;
  }
  return seconds;
}

double NetworkLevels::agreement_seconds() const {
  const std::int64_t ranks = grid_.stages * grid_.replicas;
  const std::int64_t nodes = (ranks + ranks_a_node_ - 1) / ranks_a_node_;
  return 2 * (doublings(ranks_a_node_) * rates_.on_node.latency_seconds +
              doublings(nodes) * rates_.between_nodes.latency_seconds);
}

}  // namespace convoy
