/// Costs of instructions as sums over cells, and as bytes divided by rates.
#include "plan/step_costs.h"

#include <bit>
#include <cstddef>

#include "update/exchange_phases.h"

namespace convoy {

namespace {

// Returns the number of phases of recursive doubling among n ranks.
double doublings(std::int64_t n) {
  return std::bit_width(static_cast<std::uint64_t>(n - 1));
}

// The buckets of a frozen stage have no cost, but their shares must not all be 0.
constexpr double kMinShare = 1e-12;

// Reads and writes per value
constexpr double kTripsOfSum = 3;  // a, b, their sum
constexpr double kTripsOfImage = 2;
constexpr double kTripsOfLoss = 3;  // logits read twice, their gradient written
double trips_of_fold(std::int64_t addends) {
  return static_cast<double>(addends) + 1;
}

class StepCosts {
 public:
  StepCosts(const Network& network, std::int64_t num_stages, const StageUse& use, const MachineCosts& machine)
      : network_(network),
        use_(use),
        machine_(machine),
        levels_(machine.rates, {.stages = num_stages, .replicas = use.num_replicas}, machine.node.ranks),
        phases_(phase_sizes(use.num_replicas, direct_neighbours(levels_.replicas_on_a_node()))) {}

  ChunkCost of(const StagePlan& stage, std::int64_t s, std::int64_t c) const {
    const ChunkPlan& chunk = stage.chunks[c];
    const ArenaRun& run = stage.layout.runs[c];
    ChunkCost cost{.backward_seconds = 0.0};
    for (std::int64_t number = chunk.cells.begin; number < chunk.cells.end; ++number)
      add_cell(stage, chunk, number, cost);
    const double tree = tree_seconds(run.whole().count());
    *cost.backward_seconds += tree;
    cost.backward_weight_seconds += tree;
    if (chunk.is_first) cost.load_seconds = seconds(network_.front()->x().bytes(), kTripsOfImage);
    if (chunk.is_last) cost.loss_seconds = seconds(network_.back()->y().bytes(), kTripsOfLoss);
    const LinkRates link = levels_.after_stage(s);
    cost.to_next = {.latency_seconds = link.latency_seconds,
                    .size_bytes = chunk.boundary_out_bytes,
                    .bytes_per_second = link.bytes_per_second};
    for (std::int64_t b = 0; b < run.num_buckets; ++b) cost.buckets.push_back(of_bucket(stage, c, b));
    return cost;
  }

  const NetworkLevels& levels() const { return levels_; }

 private:
  static bool is_recomputed(const StagePlan& stage, const ChunkPlan& chunk, std::int64_t number) {
    return chunk.is_recomputed[number - chunk.cells.begin] && number >= stage.first_trained;
  }

  double backward_of(const StagePlan& stage, const ChunkPlan& chunk, std::int64_t number) const {
    if (number < stage.first_trained) return 0;
    const CellCost& cell = machine_.cells.cells[number];
    return cell.backward_seconds + (is_recomputed(stage, chunk, number) ? cell.recompute_seconds : 0);
  }

  void add_cell(const StagePlan& stage, const ChunkPlan& chunk, std::int64_t number, ChunkCost& cost) const {
    const CellCost& cell = machine_.cells.cells[number];
    cost.forward_seconds += cell.forward_seconds;
    if (number < stage.first_trained) return;
    const double again = is_recomputed(stage, chunk, number) ? cell.recompute_seconds : 0;
    *cost.backward_seconds += backward_of(stage, chunk, number);
    cost.backward_input_seconds += cell.backward_input_seconds + again;
    if (!network_[number]->is_frozen()) cost.backward_weight_seconds += cell.backward_weight_seconds + again;
  }

  BucketCost of_bucket(const StagePlan& stage, std::int64_t c, std::int64_t b) const {
    const Bucket& bucket = stage.layout.bucket_of(c, b);
    const std::int64_t slice = slice_of(bucket, 0, use_.num_replicas).count() * kFloatBytes;
    const ExchangeSeconds exchange = levels_.exchange(phases_, bucket.count() * kFloatBytes);
    BucketCost cost{.share = kMinShare,
                    .reduce_seconds = exchange.waiting + folds_between_phases(bucket.count() * kFloatBytes),
                    .gather_seconds = exchange.waiting};
    if (!phases_.empty()) cost.fold_seconds = seconds(slice, trips_of_fold(phases_.back()));
    cost.fold_seconds += exchange.copying;
    cost.update_seconds = seconds(slice, static_cast<double>(use_.memory_accesses_per_update)) + exchange.copying;
    for (std::int64_t number = bucket.cells.begin; number < bucket.cells.end; ++number) {
      cost.share += backward_of(stage, stage.chunks[c], number);
      cost.update_seconds += machine_.cells.cells[number].load_weights_seconds;
    }
    return cost;
  }

  double folds_between_phases(std::int64_t bytes) const {
    double sum = 0;
    auto kept = static_cast<double>(bytes);
    for (std::size_t k = 0; k + 1 < phases_.size(); ++k) {
      kept /= static_cast<double>(phases_[k]);
      sum += seconds(static_cast<std::int64_t>(kept), trips_of_fold(phases_[k]));
    }
    return sum;
  }

  // Returns a micro-batch's share of the time of the gradient tree's sums.
  double tree_seconds(std::int64_t count) const {
    const auto leaves = static_cast<double>(use_.num_leaves);
    return (leaves - 1) / leaves * seconds(count * kFloatBytes, kTripsOfSum);
  }

  double seconds(std::int64_t bytes, double trips) const {
    return trips * static_cast<double>(bytes) / machine_.rates.memory_bytes_per_second;
  }

  const Network& network_;
  const StageUse& use_;
  const MachineCosts& machine_;
  NetworkLevels levels_;
  std::vector<std::int64_t> phases_;  ///< members of each phase of an exchange
};

// Returns the shared cores of a replica whose first stage is the first rank of a node. If several replicas are on a
// node, they compute at the same time.
std::vector<SharedCores> shared_cores(std::int64_t num_stages, std::int64_t num_replicas, const NodeLoad& node) {
  const std::int64_t ranks = std::min(node.ranks, num_stages * num_replicas);
  if (node.ranks_at_once >= static_cast<double>(ranks)) return {};
  std::vector<SharedCores> shared;
  for (std::int64_t begin = 0; begin < num_stages; begin += ranks) {
    const std::int64_t end = std::min(begin + ranks, num_stages);
    shared.push_back(
        {.begin_stage = begin,
         .end_stage = end,
         .stages_at_once = node.ranks_at_once * static_cast<double>(end - begin) / static_cast<double>(ranks)});
  }
  return shared;
}

}  // namespace

NetworkLevels::NetworkLevels(const MachineRates& rates, const GridShape& grid, std::int64_t ranks_a_node)
    : rates_(rates), grid_(grid), ranks_a_node_(std::min(ranks_a_node, grid.stages * grid.replicas)) {}

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

ExchangeSeconds NetworkLevels::exchange(std::span<const std::int64_t> phases, std::int64_t bytes) const {
  double between_rate = rates_.between_nodes.exchange_bytes_per_second;
  if (rates_.node_bytes_per_second > 0)
    between_rate = std::min(between_rate, rates_.node_bytes_per_second / static_cast<double>(ranks_a_node_));
  ExchangeSeconds seconds;
  auto part = static_cast<double>(bytes);
  std::int64_t distance = 1;  // between members of a phase, in replicas
  for (const std::int64_t members : phases) {
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

PipelineCosts step_costs(const Network& network, const std::vector<StagePlan>& stages, const StageUse& use,
                         const MachineCosts& machine) {
  const std::int64_t num_stages = std::ssize(stages);
  const StepCosts costs(network, num_stages, use, machine);
  PipelineCosts pipeline;
  for (std::int64_t c = 0; c < std::ssize(stages.front().chunks); ++c)
    for (std::int64_t s = 0; s < num_stages; ++s) pipeline.chunks.push_back(costs.of(stages[s], s, c));
  pipeline.shared = shared_cores(num_stages, use.num_replicas, machine.node);
  pipeline.agree_seconds = costs.levels().agreement_seconds();
  return pipeline;
}

}  // namespace convoy
