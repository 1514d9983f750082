/// Slices to tensors and tensors to slices.
#include "train/checkpointing.h"

#include <algorithm>
#include <unordered_map>

#include "convoy/base/error.h"

namespace convoy {

namespace {

constexpr int kParametersTag = 9001, kShardTag = 9002;

std::vector<float> to_host(Device& device, const float* data, std::int64_t count) {
  std::vector<float> host(count);
  device.copy_to_host(host.data(), data, count * kFloatBytes);
  device.synchronize();
  return host;
}

// `from` gives its floats to rank 0: rank 0 returns them, everyone else nothing.
std::vector<float> bring_to_root(const ProcessGrid& grid, int from, int tag, std::vector<float> mine,
                                 std::int64_t count) {
  const mpi::Communicator& world = grid.world();
  if (from == 0) return mine;
  if (world.rank() == from) world.send(mine.data(), count * kFloatBytes, 0, tag);
  if (!grid.is_root()) return {};
  std::vector<float> theirs(count);
  world.receive(theirs.data(), count * kFloatBytes, from, tag);
  return theirs;
}

// An arena's entries as tensors in file order; statistics only where wanted.
void append_tensors(const ArenaLayout& layout, const std::vector<float>& arena, bool with_statistics,
                    std::vector<io::NamedTensor>& tensors) {
  for (const ArenaEntry& entry : layout.entries) {
    if (entry.spec.is_statistic() && !with_statistics) continue;
    io::NamedTensor& tensor = tensors.emplace_back();
    tensor.name = entry.spec.name;
    tensor.dims = entry.spec.dims;
    tensor.values.resize(entry.spec.count());
    to_file_order(entry.spec, {arena.data() + entry.offset, tensor.values.size()}, tensor.values);
  }
}

// A file does not tell how the network was cut.
void sort_as_network(const Network& network, std::vector<io::NamedTensor>& tensors) {
  std::unordered_map<std::string, std::int64_t> places;
  for (const auto& cell : network)
    for (const auto& entry : cell->memory().parameters()) places.emplace(entry.spec.name, std::ssize(places));
  std::sort(tensors.begin(), tensors.end(),
            [&](const io::NamedTensor& a, const io::NamedTensor& b) { return places.at(a.name) < places.at(b.name); });
}

// Fills an arena (host) from tensors; entries without a tensor stay zero.
std::vector<float> fill_arena(const ArenaLayout& layout, const TensorsByName& tensors) {
  std::vector<float> arena(layout.count, 0.0f);
  for (const ArenaEntry& entry : layout.entries) {
    const auto found = tensors.find(entry.spec.name);
    if (found == tensors.end()) continue;
    to_device_order(entry.spec, found->second->values, {arena.data() + entry.offset, found->second->values.size()});
  }
  return arena;
}

// Into the stage's arena, entry by entry: values_of(spec) are in file order.
template <typename ValuesOf>
void write_parameters(Engine& engine, const ValuesOf& values_of) {
  const ArenaLayout& layout = engine.stage().plan().layout;
  std::vector<float> arena(layout.count, 0.0f);
  for (const ArenaEntry& entry : layout.entries) {
    const std::vector<float> values = values_of(entry.spec);
    to_device_order(entry.spec, values, {arena.data() + entry.offset, values.size()});
  }
  engine.finish();
  engine.device().copy_to_device(engine.stage().parameters().masters, arena.data(), layout.count * kFloatBytes);
  engine.device().synchronize();  // the host's copy goes at the end of this scope
  engine.stage().reload_weights();
  engine.update().start_ema();
}

void check_slot(const Network& network, const TensorsByName& tensors, const std::string& where,
                const std::string& slot) {
  for (const auto& cell : network) {
    for (const auto& entry : cell->memory().parameters()) {
      if (entry.spec.is_statistic()) continue;
      const auto found = tensors.find(entry.spec.name);
      if (found == tensors.end() || found->second->dims != entry.spec.dims)
        refuse("{} has no /optimizer/{}/{} of the right shape: it cannot be resumed with this model", where, slot,
               entry.spec.name);
    }
  }
}

// A slot of a stage, from the shards of its replicas: an arena at rank 0, nothing elsewhere.
std::vector<float> gather_slot(const Engine& engine, std::int64_t stage, const float* mine) {
  const ProcessGrid& grid = engine.grid();
  const ArenaLayout& layout = engine.plan().stages()[stage].layout;
  std::vector<float> arena(grid.is_root() ? layout.count : 0);
  for (std::int64_t r = 0; r < grid.num_replicas(); ++r) {
    const int owner = grid.world_rank(r, stage);
    const Shard shard = shard_of(layout, r, grid.num_replicas());
    std::vector<float> my_values;
    if (grid.world().rank() == owner) my_values = to_host(engine.device(), mine, shard.count);
    const auto values = bring_to_root(grid, owner, kShardTag, std::move(my_values), shard.count);
    if (!grid.is_root()) continue;
    for (std::size_t b = 0; b < shard.slices.size(); ++b)
      std::copy_n(values.data() + shard.offsets[b], shard.slices[b].count(), arena.data() + shard.slices[b].begin);
  }
  return arena;
}

// This replica's part of a slot, from tensors.
void restore_slot(const TensorsByName& tensors, float* mine, Engine& engine) {
  const ProcessGrid& grid = engine.grid();
  const ArenaLayout& layout = engine.stage().plan().layout;
  const std::vector<float> arena = fill_arena(layout, tensors);
  const Shard shard = shard_of(layout, grid.replica(), grid.num_replicas());
  for (std::size_t b = 0; b < shard.slices.size(); ++b)
    engine.device().copy_to_device(mine + shard.offsets[b], arena.data() + shard.slices[b].begin,
                                   shard.slices[b].count() * kFloatBytes);
  engine.device().synchronize();  // the host's copy goes at the end of this scope
}

void restore_optimizer(const io::Checkpoint& checkpoint, const std::string& where, Engine& engine) {
  const std::vector<std::string> slots = engine.optimizer().slot_names();
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const auto found = checkpoint.optimizer.find(slots[k]);
    if (found == checkpoint.optimizer.end())
      refuse(
          "{} holds no optimizer state '{}': it was written with another optimizer.kind. Start from its weights with "
          "init.weights instead",
          where, slots[k]);
    const TensorsByName tensors = by_name(found->second);
    check_slot(engine.plan().network(), tensors, where, slots[k]);
    restore_slot(tensors, engine.update().slots()[k], engine);
  }
}

}  // namespace

io::Checkpoint gather_checkpoint(const Engine& engine) {
  const ProcessGrid& grid = engine.grid();
  io::Checkpoint checkpoint;
  if (grid.is_root()) checkpoint.counters = engine.batch_counters();
  const std::vector<std::string> slots = engine.optimizer().slot_names();
  for (std::int64_t s = 0; s < grid.num_stages(); ++s) {
    const ArenaLayout& layout = engine.plan().stages()[s].layout;
    const int holder = grid.world_rank(0, s);
    std::vector<float> mine;
    if (grid.world().rank() == holder)
      mine = to_host(engine.device(), engine.stage().parameters().masters, layout.count);
    const auto arena = bring_to_root(grid, holder, kParametersTag, std::move(mine), layout.count);
    if (grid.is_root()) append_tensors(layout, arena, true, checkpoint.model);
    for (std::size_t k = 0; k < slots.size(); ++k) {
      const auto slot = gather_slot(engine, s, engine.update().slots()[k]);
      if (grid.is_root()) append_tensors(layout, slot, false, checkpoint.optimizer[slots[k]]);
    }
    if (!engine.has_ema()) continue;
    const auto average = gather_slot(engine, s, engine.update().ema());
    if (grid.is_root()) append_tensors(layout, average, true, checkpoint.ema);
  }
  const Network& network = engine.plan().network();
  for (auto* tensors : {&checkpoint.model, &checkpoint.ema}) sort_as_network(network, *tensors);
  for (auto& [slot, tensors] : checkpoint.optimizer) sort_as_network(network, tensors);
  return checkpoint;
}

void restore_checkpoint(const io::Checkpoint& checkpoint, const std::string& where, bool with_optimizer,
                        Engine& engine) {
  restore_weights(checkpoint.model, where, engine);
  engine.set_batch_counters(checkpoint.counters);
  if (!with_optimizer) return;
  restore_optimizer(checkpoint, where, engine);
  engine.set_num_updates(checkpoint.state.updates);
  if (!engine.has_ema() || checkpoint.ema.empty()) return;
  const Fit fit = fit_weights(engine.plan().network(), checkpoint.ema);
  if (!fit.is_exact()) refuse("{}: its moving average is not this model's: {}", where, fit.differences());
  restore_slot(by_name(checkpoint.ema), engine.update().ema(), engine);
}

void restore_weights(const std::vector<io::NamedTensor>& tensors, const std::string& where, Engine& engine) {
  const Fit fit = fit_weights(engine.plan().network(), tensors);
  if (!fit.is_exact())
    refuse("{} is not this model's: {}. Another model.name, or data with other classes or channels?", where,
           fit.differences());
  const TensorsByName found = by_name(tensors);
  write_parameters(engine, [&](const ParameterSpec& spec) { return found.at(spec.name)->values; });
}

Fit restore_what_fits(const std::vector<io::NamedTensor>& tensors, const std::string& where, const InitialSpec& initial,
                      Engine& engine) {
  Fit fit = fit_weights(engine.plan().network(), tensors);
  if (fit.fitting.empty()) refuse("{}: none of its tensors fits this model: {}", where, fit.differences());
  const TensorsByName found = by_name(tensors);
  write_parameters(engine, [&](const ParameterSpec& spec) {
    return fit.fitting.contains(spec.name) ? found.at(spec.name)->values : initial_values(spec, initial);
  });
  return fit;
}

void initialise_parameters(const InitialSpec& initial, Engine& engine) {
  write_parameters(engine, [&](const ParameterSpec& spec) { return initial_values(spec, initial); });
}

}  // namespace convoy
