/// Rank 0 reads a model's file and decides; the others receive what they need of it.
#include "run/trained_model.h"

#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/on_root.h"
#include "convoy/data/training_set.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/dataset.h"
#include "convoy/params/parse.h"

#include "checkpoint/make_metadata.h"
#include "checkpoint/weights_file.h"
#include "run/restart.h"

namespace convoy {

namespace {

// Returns metadata for a safetensors file, as if it had been trained on data.train now.
io::ModelMetadata metadata_from_data(const Parameters& params, const std::string& path) {
  if (params.data.train.empty())
    refuse(
        "'{}' holds only weights, neither classes nor mean and standard deviation: give data.train, which it was "
        "trained on.",
        path);
  return model_metadata(params, open_training_set(params).info());
}

// Refuses a data.train with other classes than the checkpoint's. An evaluation does not need data.train: it may be left
// out. Rank 0.
void compare_with_data(const io::ModelMetadata& metadata, const std::string& path, const Parameters& params) {
  if (params.data.train.empty()) return;
  std::optional<io::Dataset> train;
  try {
    train.emplace(params.data.train, "data.train");
  } catch (const Error& error) {
    log_warning(fmt::format("'{}' cannot be compared with what it was trained on: {}", path, error.what()));
    return;
  }
  check_classes(metadata, train->info(), "data.train", fmt::format("'{}'", path), kOtherClassesRemedy);
}

// Finds the data of the run, so that it is enough to name a run's directory or a checkpoint to measure it. Rank 0.
void find_data(const std::string& parameters, const std::string& path, TrainedModel& model) {
  if (parameters.empty()) return;
  const DataParams data = parse_parameters(parameters, path).data;
  model.test = data.test;
  model.val = data.fold > 0 ? data.train : data.val;
  model.fold = data.fold;
}

// Finds and decodes the model. Rank 0.
TrainedModel find_trained(const Request& request) {
  const Parameters& params = request.params;
  const FoundFile found = find_weights(request);
  FileWeights weights = decode_weights(found.bytes, found.path, params.evaluate.weights, found.prefix);
  if (weights.metadata) {
    compare_with_data(*weights.metadata, found.path, params);
    const std::string unread = describe_unread_network(request, found.path);
    if (!unread.empty()) log_warning(unread);
    const std::string ignored = describe_ignored_normalisation(params.augment, *weights.metadata, found.path);
    if (!ignored.empty()) log_warning(ignored);
  }
  const io::ModelMetadata metadata = weights.metadata ? *weights.metadata : metadata_from_data(params, found.path);
  TrainedModel model{.path = found.path,
                     .choice = found.choice,
                     .of_ema = weights.of_ema,
                     .tensors = std::move(weights.dict.tensors),
                     .metadata = with_size(metadata, params.augment)};
  const bool names_data = !params.data.test.empty() || !params.data.val.empty() || params.data.fold > 0;
  if (!names_data) find_data(weights.parameters, found.path, model);
  if (weights.metadata) model.train_hash = io::decode_state(found.bytes, found.path).train_hash;
  return model;
}

// Sends rank 0's model to the group, without the optimizer's state that its file may hold.
void broadcast_content(const mpi::Communicator& group, const std::string& path, io::Checkpoint& content) {
  if (group.size() == 1) return;
  const bool is_root = group.rank() == 0;
  const std::vector<std::byte> bytes =
      group.broadcast(is_root ? encode_checkpoint(content) : std::vector<std::byte>(), 0);
  if (!is_root) content = io::decode_checkpoint(bytes, path);
}

// Returns rank 0's model on all ranks of the world.
TrainedModel broadcast_model(TrainedModel model, const mpi::Communicator& world, bool needs_tensors) {
  model.path = world.broadcast(model.path, 0);
  if (model.path.empty()) return model;
  world.broadcast(&model.of_ema, sizeof model.of_ema, 0);
  model.test = world.broadcast(model.test, 0);
  model.val = world.broadcast(model.val, 0);
  world.broadcast(&model.fold, sizeof model.fold, 0);
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

MeasuredData find_measured_data(const Parameters& params, const TrainedModel& model, const std::string& command) {
  if (!params.data.test.empty()) return {.path = params.data.test, .key = "data.test"};
  if (params.data.fold > 0) return {.path = params.data.train, .key = "data.train", .fold = params.data.fold};
  if (!params.data.val.empty()) return {.path = params.data.val, .key = "data.val"};
  if (!model.test.empty()) return {.path = model.test, .key = "data.test", .is_of_model = true};
  if (!model.val.empty())
    return {
        .path = model.val, .key = model.fold > 0 ? "data.train" : "data.val", .is_of_model = true, .fold = model.fold};
  refuse(
      "convoy {} needs data: {} does not say what it was measured on. Give data.test or data.val in a parameter file, "
      "under [data], or as --data.test=PATH.",
      command, model.owner());
}

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
