/// Finding, checking and broadcasting checkpoints.
#include "train/restart.h"

#include <filesystem>

#include "convoy/base/error.h"
#include "convoy/base/log.h"

#include "train/checkpointing.h"

namespace convoy {

namespace {

struct Loaded {
  std::string path;
  io::Checkpoint checkpoint;
};

// Rank 0's find, on all ranks: a path and verified bytes, or an empty path for none.
struct Found {
  std::string path;
  std::vector<std::byte> bytes;
};

Found broadcast(const mpi::Communicator& world, Found found) {
  const auto raw = std::as_bytes(std::span(found.path));
  const auto path = broadcast_bytes(world, {raw.begin(), raw.end()});
  found.path.assign(reinterpret_cast<const char*>(path.data()), path.size());
  if (!found.path.empty()) found.bytes = broadcast_bytes(world, std::move(found.bytes));
  return found;
}

// An error that rank 0 met while it looked, thrown by all ranks alike.
template <typename Look>
Found look_on_root(const mpi::Communicator& world, Look&& look) {
  Found found;
  std::string problem;
  if (world.rank() == 0) {
    try {
      found = look();
    } catch (const Error& error) {
      problem = error.what();
    }
  }
  const auto raw = std::as_bytes(std::span(problem));
  const auto text = broadcast_bytes(world, {raw.begin(), raw.end()});
  if (!text.empty()) throw RequestError(std::string(reinterpret_cast<const char*>(text.data()), text.size()));
  return broadcast(world, std::move(found));
}

Found find_newest(const std::string& directory) {
  auto found = io::find_newest_checkpoint(directory, [](const std::string& path, const std::string& reason) {
    log_warning(fmt::format("{} is skipped: {}", path, reason));
  });
  if (!found) return {};
  return {.path = found->path, .bytes = std::move(found->bytes)};
}

Found read_one(const std::string& path, const std::string& key) {
  Found found{.path = path, .bytes = {}};
  try {
    found.bytes = io::read_file(path);
  } catch (const Error& error) {
    refuse("{} = {}: {}", key, path, error.what());
  }
  if (const auto damage = io::find_damage(found.bytes)) refuse("{} = {}: {}", key, path, *damage);
  return found;
}

void check_continues(const Parameters& params, const Loaded& loaded) {
  const io::TrainingState& state = loaded.checkpoint.state;
  if (state.batch_global != params.batch.global)
    refuse(
        "batch.global = {}, but {} was written with {}: a step is another number of samples. Use that value, another "
        "run.directory, or start from its weights with init.weights.",
        params.batch.global, loaded.path, state.batch_global);
  if (state.seed != static_cast<std::int64_t>(params.train.seed))
    refuse(
        "train.seed = {}, but {} was written with {}: the order of the samples differs. Use that value, or another "
        "run.directory.",
        params.train.seed, loaded.path, state.seed);
}

}  // namespace

std::optional<io::TrainingState> start_parameters(const Parameters& params, Engine& engine) {
  const mpi::Communicator& world = engine.grid().world();
  const std::string& resume = params.checkpoint.resume;
  const Found found = look_on_root(world, [&]() -> Found {
    if (resume != "auto" && resume != "none") return read_one(resume, "checkpoint.resume");
    Found newest = find_newest(checkpoint_directory(params));
    if (resume == "none" && !newest.path.empty())
      refuse(
          "checkpoint.resume = none, but {} is there. Use checkpoint.resume = auto to go on from it, or another "
          "run.directory.",
          newest.path);
    return newest;
  });
  if (!found.path.empty()) {
    const Loaded loaded{found.path, io::decode_checkpoint(found.bytes, found.path)};
    check_continues(params, loaded);
    restore_checkpoint(loaded.checkpoint, loaded.path, true, engine);
    return loaded.checkpoint.state;
  }
  if (params.init.weights == "random") {
    initialise_parameters(params.train.seed, engine);
    return std::nullopt;
  }
  const Found weights = look_on_root(world, [&] { return read_one(params.init.weights, "init.weights"); });
  restore_checkpoint(io::decode_checkpoint(weights.bytes, weights.path), weights.path, false, engine);
  return std::nullopt;
}

std::string load_for_evaluation(const Parameters& params, Engine& engine) {
  const Found found = look_on_root(engine.grid().world(), [&]() -> Found {
    if (params.init.weights != "random") return read_one(params.init.weights, "init.weights");
    Found newest = find_newest(checkpoint_directory(params));
    if (newest.path.empty())
      refuse("run.directory = {} holds no checkpoint to evaluate. Train first, or name one with init.weights.",
             params.run.directory);
    return newest;
  });
  restore_checkpoint(io::decode_checkpoint(found.bytes, found.path), found.path, false, engine);
  return found.path;
}

}  // namespace convoy
