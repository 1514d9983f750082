/// Turns slices of arenas into tensors and tensors into slices; compares names and shapes.
#include "checkpoint/checkpointing.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/tags.h"

#include "checkpoint/arena_tensors.h"

namespace convoy {

namespace {

constexpr std::size_t kShown = 3;

std::string shape(const std::vector<std::int64_t>& dims) {
  return fmt::format("{}", fmt::join(dims, "x"));
}

// Appends "2 missing (fc.weight, fc.bias)" or "40 missing (a, b, c, ...)"; nothing if there are no names.
void append(std::string& text, const std::vector<std::string>& names, const char* kind) {
  if (names.empty()) return;
  text += fmt::format("{}{} {} ({})", text.empty() ? "" : "; ", names.size(), kind, first_few(names, kShown));
}

using TensorsByName = std::unordered_map<std::string, const io::NamedTensor*>;

// Maps names to tensors, which are not copied.
TensorsByName by_name(const std::vector<io::NamedTensor>& tensors) {
  TensorsByName map;
  for (const io::NamedTensor& tensor : tensors) map[tensor.name] = &tensor;
  return map;
}

}  // namespace

WeightMatch match_weights(const Network& network, const std::vector<io::NamedTensor>& tensors) {
  const TensorsByName found = by_name(tensors);
  WeightMatch match;
  std::set<std::string> expected;
  for (const auto& cell : network) {
    for (const auto& entry : cell->memory().parameters()) {
      const ParameterSpec& spec = entry.spec;
      expected.insert(spec.name);
      const auto tensor = found.find(spec.name);
      if (tensor == found.end()) {
        match.missing.push_back(spec.name);
      } else if (tensor->second->dims != spec.dims) {
        match.wrong_shapes.push_back(
            fmt::format("{}: {}, not {}", spec.name, shape(tensor->second->dims), shape(spec.dims)));
      } else {
        match.matching.insert(spec.name);
      }
    }
  }
  for (const io::NamedTensor& tensor : tensors)
    if (!expected.contains(tensor.name)) match.unexpected.push_back(tensor.name);
  return match;
}

namespace {

std::vector<float> to_host(Device& device, const float* data, std::int64_t count) {
  std::vector<float> host(count);
  device.copy_to_host(host.data(), data, count * kFloatBytes);
  device.synchronize();
  return host;
}

// Sends the floats of rank `from` to rank 0, which returns them; all other ranks return nothing.
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

// Works tensor by tensor, so that no copy of the whole arena is needed. All ranks.
template <typename ValuesOf>
void write_parameters(RankRuntime& runtime, const ValuesOf& values_of) {
  float* masters = runtime.stage().parameters().masters;
  std::vector<float> in_device_order;
  runtime.finish();
  if (!runtime.writes_parameters()) return runtime.take_new_parameters();
  for (const ArenaEntry& entry : runtime.stage().plan().layout.entries) {
    const std::vector<float> values = values_of(entry.spec);
    in_device_order.resize(values.size());
    to_device_order(entry.spec, values, in_device_order);
    runtime.device().copy_to_device(masters + entry.offset, in_device_order.data(), std::ssize(values) * kFloatBytes);
  }
  runtime.take_new_parameters();
}

// Returns the tensors of an optimizer state, which must exist for each parameter of the network.
TensorsByName find_optimizer_state(const Network& network, const io::Checkpoint& checkpoint, const std::string& where,
                                   const std::string& state) {
  const auto in_file = checkpoint.optimizer.find(state);
  if (in_file == checkpoint.optimizer.end())
    refuse(
        "{} holds no optimizer state '{}': it was written with another optimizer.kind. Start from its weights with "
        "init.weights instead",
        where, state);
  TensorsByName tensors = by_name(in_file->second);
  for (const auto& cell : network) {
    for (const auto& entry : cell->memory().parameters()) {
      if (entry.spec.is_statistic()) continue;
      const auto found = tensors.find(entry.spec.name);
      if (found == tensors.end() || found->second->dims != entry.spec.dims)
        refuse("{} has no /optimizer/{}/{} of the right shape: it cannot be resumed with this model", where, state,
               entry.spec.name);
    }
  }
  return tensors;
}

void check_model(const Network& network, const std::vector<io::NamedTensor>& tensors, const std::string& where) {
  const WeightMatch match = match_weights(network, tensors);
  if (!match.is_exact()) refuse("{} does not match this model: {}. {}", where, match.differences(), match.remedy());
}

void check_ema(const Network& network, const io::Checkpoint& checkpoint, const std::string& where) {
  const WeightMatch match = match_weights(network, checkpoint.ema);
  if (!match.is_exact()) refuse("{}: its moving average does not match this model: {}", where, match.differences());
}

// Gathers a stage's shards of an optimizer state or of the moving average: an arena on rank 0, nothing elsewhere.
std::vector<float> gather_shards(const RankRuntime& runtime, std::int64_t stage, const float* mine) {
  const ProcessGrid& grid = runtime.grid();
  const ArenaLayout& layout = runtime.plan().stages()[stage].layout;
  std::vector<float> arena(grid.is_root() ? layout.count : 0);
  for (std::int64_t r = 0; r < grid.num_replicas(); ++r) {
    const int owner = grid.world_rank(r, stage);
    const Shard shard = shard_of(layout, r, grid.num_replicas());
    std::vector<float> my_values;
    if (grid.world().rank() == owner) my_values = to_host(runtime.device(), mine, shard.count);
    const auto values = bring_to_root(grid, owner, tags::kOptimizerState, std::move(my_values), shard.count);
    if (!grid.is_root()) continue;
    for (std::size_t b = 0; b < shard.slices.size(); ++b)
      std::copy_n(values.data() + shard.offsets[b], shard.slices[b].count(), arena.data() + shard.slices[b].begin);
  }
  return arena;
}

// Fills this replica's shard from tensors; running statistics have none.
void restore_shard(const TensorsByName& tensors, float* mine, RankRuntime& runtime) {
  const ProcessGrid& grid = runtime.grid();
  const ArenaLayout& layout = runtime.stage().plan().layout;
  std::vector<float> arena(layout.count, 0.0f);
  for (const ArenaEntry& entry : layout.entries)
    if (const auto found = tensors.find(entry.spec.name); found != tensors.end())
      to_device_order(entry.spec, found->second->values, {arena.data() + entry.offset, found->second->values.size()});
  const Shard shard = shard_of(layout, grid.replica(), grid.num_replicas());
  for (std::size_t b = 0; b < shard.slices.size(); ++b)
    runtime.device().copy_to_device(mine + shard.offsets[b], arena.data() + shard.slices[b].begin,
                                    shard.slices[b].count() * kFloatBytes);
}

void restore_optimizer(const io::Checkpoint& checkpoint, const std::string& where, TrainingStep& training) {
  const std::vector<std::string> states = training.optimizer().state_names();
  for (std::size_t k = 0; k < states.size(); ++k)
    restore_shard(find_optimizer_state(training.runtime().plan().network(), checkpoint, where, states[k]),
                  training.update().states()[k], training.runtime());
}

}  // namespace

std::string WeightMatch::differences() const {
  std::string text;
  append(text, missing, "missing");
  append(text, wrong_shapes, "of another shape");
  append(text, unexpected, "unexpected");
  return text;
}

std::string WeightMatch::describe_part(const std::string& where) const {
  return fmt::format("{}: {} {}; {}. Tensors that the file does not give get their initial values, by train.seed",
                     where, counted(std::ssize(matching), "tensor"), matching.size() == 1 ? "fits" : "fit",
                     differences());
}

// Names the prefix "module." if the file has "module.conv1.weight" and the network "conv1.weight", for at least half of
// the missing names.
std::string WeightMatch::remedy() const {
  const std::set<std::string> wanted(missing.begin(), missing.end());
  std::map<std::string, std::size_t> prefixes;
  for (const std::string& name : unexpected)
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
      if (wanted.contains(name.substr(dot + 1))) ++prefixes[name.substr(0, dot + 1)];
  for (const auto& [prefix, count] : prefixes)
    if (2 * count >= missing.size() && count > matching.size())
      return fmt::format(
          "In the file, the names of {} begin with '{}', and without this prefix they are in the network: set "
          "init.strip_prefix = {}.",
          counted(static_cast<std::int64_t>(count), "tensor"), prefix, prefix);
  return "Check model.name, and whether the data has the classes and channels that these weights were trained with.";
}

io::Checkpoint gather_checkpoint(const TrainingStep& training) {
  const RankRuntime& runtime = training.runtime();
  const ProcessGrid& grid = runtime.grid();
  io::Checkpoint checkpoint;
  if (grid.is_root()) checkpoint.counters = training.batch_counters();
  const std::vector<std::string> states = training.optimizer().state_names();
  for (std::int64_t s = 0; s < grid.num_stages(); ++s) {
    const ArenaLayout& layout = runtime.plan().stages()[s].layout;
    const int holder = grid.world_rank(0, s);
    std::vector<float> mine;
    if (grid.world().rank() == holder)
      mine = to_host(runtime.device(), runtime.stage().parameters().masters, layout.count);
    const auto arena = bring_to_root(grid, holder, tags::kParameters, std::move(mine), layout.count);
    if (grid.is_root()) append_tensors(layout, arena, true, checkpoint.model);
    for (std::size_t k = 0; k < states.size(); ++k) {
      const auto state = gather_shards(runtime, s, training.update().states()[k]);
      if (grid.is_root()) append_tensors(layout, state, false, checkpoint.optimizer[states[k]]);
    }
    if (!training.has_ema()) continue;
    const auto average = gather_shards(runtime, s, training.update().ema());
    if (grid.is_root()) append_tensors(layout, average, true, checkpoint.ema);
  }
  sort_as_network(runtime.plan().network(), checkpoint);
  return checkpoint;
}

void check_restorable(const io::Checkpoint& checkpoint, const std::string& where, const ResumeNeeds& needs) {
  check_model(needs.network, checkpoint.model, where);
  for (const std::string& state : needs.states) find_optimizer_state(needs.network, checkpoint, where, state);
  if (needs.has_ema && !checkpoint.ema.empty()) check_ema(needs.network, checkpoint, where);
}

void restore_checkpoint(const io::Checkpoint& checkpoint, const std::string& where, TrainingStep& training) {
  RankRuntime& runtime = training.runtime();
  check_restorable(checkpoint, where,
                   {.network = runtime.plan().network(),
                    .states = training.optimizer().state_names(),
                    .has_ema = training.has_ema()});
  training.set_batch_counters(checkpoint.counters);
  training.set_counts({.updates = checkpoint.state.updates, .steps = checkpoint.state.step});
  if (checkpoint.parts) return restore_parts(checkpoint, where, training);
  restore_weights(checkpoint.model, where, runtime);
  restore_optimizer(checkpoint, where, training);
  if (training.has_ema() && !checkpoint.ema.empty())
    restore_shard(by_name(checkpoint.ema), training.update().ema(), runtime);
}

void restore_weights(const std::vector<io::NamedTensor>& tensors, const std::string& where, RankRuntime& runtime) {
  mpi::on_all(runtime.grid().world(), [&] {
    if (runtime.writes_parameters()) check_model(runtime.plan().network(), tensors, where);
  });
  const TensorsByName found = by_name(tensors);
  write_parameters(runtime, [&](const ParameterSpec& spec) { return found.at(spec.name)->values; });
}

WeightMatch restore_matching_weights(const std::vector<io::NamedTensor>& tensors, const std::string& where,
                                     const InitialSpec& initial, RankRuntime& runtime) {
  WeightMatch match = match_weights(runtime.plan().network(), tensors);
  if (match.matching.empty())
    refuse("{}: none of its tensors fits this model: {}. {}", where, match.differences(), match.remedy());
  const TensorsByName found = by_name(tensors);
  write_parameters(runtime, [&](const ParameterSpec& spec) {
    return match.matching.contains(spec.name) ? found.at(spec.name)->values : initial_values(spec, initial);
  });
  return match;
}

void initialise_parameters(const InitialSpec& initial, RankRuntime& runtime) {
  write_parameters(runtime, [&](const ParameterSpec& spec) { return initial_values(spec, initial); });
}

}  // namespace convoy
