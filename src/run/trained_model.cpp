/// Rank 0 reads a model's file and decides; the others receive what they need of it.
#include "run/trained_model.h"

#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/on_root.h"

#include "checkpoint/model_metadata.h"
#include "checkpoint/weights_file.h"
#include "run/restart.h"

namespace convoy {

namespace {

// The metadata of what a safetensors file holds: as if it were trained on data.train now.
io::ModelMetadata metadata_from_data(const Parameters& params, const std::string& path) {
  if (params.data.train.empty())
    refuse(
        "'{}' holds only weights, neither classes nor mean and standard deviation: give data.train, which it was "
        "trained on.",
        path);
  return model_metadata(params, io::Dataset(params.data.train, "data.train").info());
}

// Rank 0: nobody needs data.train to evaluate a checkpoint; but who names other data than it was trained on errs.
void compare_with_data(const io::ModelMetadata& metadata, const std::string& path, const Parameters& params) {
  if (params.data.train.empty()) return;
  std::optional<io::Dataset> train;
  try {
    train.emplace(params.data.train, "data.train");
  } catch (const Error& error) {
    log_warning(fmt::format("'{}' cannot be compared with what it was trained on: {}", path, error.what()));
    return;
  }
  check_classes(metadata, train->info(), "data.train", fmt::format("'{}'", path));
}

// Rank 0.
TrainedModel find_trained(const Request& request) {
  const Parameters& params = request.params;
  const FoundFile found = find_weights(request);
  FileWeights weights = decode_weights(found.bytes, found.path, params.evaluate.weights, params.init.strip_prefix);
  if (weights.metadata) {
    compare_with_data(*weights.metadata, found.path, params);
    const std::string ignored = describe_ignored_normalisation(params.augment, *weights.metadata, found.path);
    if (!ignored.empty()) log_warning(ignored);
  }
  const io::ModelMetadata metadata = weights.metadata ? *weights.metadata : metadata_from_data(params, found.path);
  return {.path = found.path,
          .of_ema = weights.of_ema,
          .tensors = std::move(weights.dict.tensors),
          .metadata = with_size(metadata, params.augment)};
}

// Rank 0: best.h5, where it can be used; else an empty path.
FoundFile find_best(const Parameters& params, std::int64_t step) {
  const std::string path = io::best_checkpoint_path(checkpoint_directory(params));
  try {
    FoundFile best{.path = path, .bytes = io::read_checkpoint_file(path)};
    const std::int64_t its_step = io::decode_state(best.bytes, path).step;
    best.bytes = io::join_parts(std::move(best.bytes), path, /*with_optimizer=*/false);
    if (its_step == step) return best;
    log_warning(fmt::format("{} is of step {}, and step {} was the best: it is not used", path, its_step, step));
  } catch (const Error& error) {
    log_warning(fmt::format("{} is not used: {}", path, error.what()));
  }
  return {};
}

// What rank 0 of the group has of a model, without the optimizer's state that its file may hold.
void broadcast_content(const mpi::Communicator& group, const std::string& path, io::Checkpoint& content) {
  if (group.size() == 1) return;
  const bool is_root = group.rank() == 0;
  const std::vector<std::byte> bytes =
      group.broadcast(is_root ? encode_checkpoint(content) : std::vector<std::byte>(), 0);
  if (!is_root) content = io::decode_checkpoint(bytes, path);
}

// That of rank 0, on all ranks of the world.
TrainedModel broadcast_model(TrainedModel model, const mpi::Communicator& world, bool needs_tensors) {
  model.path = world.broadcast(model.path, 0);
  if (model.path.empty()) return model;
  world.broadcast(&model.of_ema, sizeof model.of_ema, 0);
  io::Checkpoint content{.metadata = std::move(model.metadata)};
  broadcast_content(world, model.path, content);
  const bool takes_tensors = needs_tensors || world.rank() == 0;
  const mpi::Communicator takers = world.split(takes_tensors ? 1 : 0, world.rank());
  content.model = std::move(model.tensors);
  if (takes_tensors) broadcast_content(takers, model.path, content);
  model.metadata = std::move(content.metadata);
  model.tensors = std::move(content.model);
  return model;
}

}  // namespace

TrainedModel load_trained(const Request& request, const mpi::Communicator& world, bool needs_tensors) {
  TrainedModel model;
  mpi::on_root(world, [&] { model = find_trained(request); });
  return broadcast_model(std::move(model), world, needs_tensors);
}

std::optional<TrainedModel> load_best(const Parameters& params, std::int64_t step, const mpi::Communicator& world) {
  TrainedModel model;
  mpi::on_root(world, [&] {
    const FoundFile found = find_best(params, step);
    if (found.path.empty()) return;
    FileWeights weights = decode_weights(found.bytes, found.path, params.evaluate.weights);
    model = {.path = found.path,
             .of_ema = weights.of_ema,
             .tensors = std::move(weights.dict.tensors),
             .metadata = std::move(*weights.metadata)};
  });
  model = broadcast_model(std::move(model), world, /*needs_tensors=*/true);
  if (model.path.empty()) return std::nullopt;
  return model;
}

}  // namespace convoy
