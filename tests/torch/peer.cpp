/// Convoy's half of the comparison with PyTorch: reads a job, weights and a batch from a folder, and writes to it the
/// evaluation's logits, and, after some steps of training, a checkpoint and its logits. judge.py writes and compares.
#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "convoy/comm/session.h"
#include "convoy/data/batch_source.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"

#include "checkpoint/checkpointing.h"
#include "checkpoint/weights_file.h"
#include "golden/recording_backend.h"
#include "step/evaluation_step.h"

namespace convoy::test {

namespace {

template <typename T>
std::vector<T> read_values(const std::string& path) {
  const std::vector<std::byte> bytes = io::read_file(path);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// Gives the same batch in every step: one micro-batch.
class OneBatch final : public BatchSource {
 public:
  explicit OneBatch(const std::string& folder)
      : images_(read_values<float>(folder + "/images.f32")),
        labels_(read_values<std::int32_t>(folder + "/labels.i32")) {}

  void load(std::string_view feature, std::int64_t, void* to) override {
    if (feature == features::kImage) std::memcpy(to, images_.data(), images_.size() * sizeof(float));
    if (feature == features::kLabel) std::copy(labels_.begin(), labels_.end(), static_cast<std::int32_t*>(to));
  }

 private:
  std::vector<float> images_;  ///< (N,H,W,C)
  std::vector<std::int32_t> labels_;
};

// Reads PyTorch's names of optimizer options.
OptimizerParams optimizer_of(const nlohmann::json& job) {
  static const std::map<std::string, OptimizerKind> kKinds = {
      {"sgd", OptimizerKind::kSgd}, {"adam", OptimizerKind::kAdam}, {"adamw", OptimizerKind::kAdamW}};
  OptimizerParams params{.kind = kKinds.at(job["optimizer"]), .weight_decay = job["weight_decay"]};
  if (params.kind == OptimizerKind::kSgd) {
    params.momentum = job["momentum"];
  } else {
    params.beta1 = job["betas"][0];
    params.beta2 = job["betas"][1];
    params.epsilon = job["eps"];
  }
  return params;
}

RuntimeSpec runtime_spec_of(const nlohmann::json& job) {
  const std::int64_t size = job["size"], batch = job["batch"];
  RuntimeSpec spec{.network = {.name = job["model"],
                               .input = ImageShape{size, size, 3},
                               .micro_batch = batch,
                               .num_classes = job["classes"],
                               .freeze = job["freeze"]},
                   .batch = {.global = batch, .micro = batch}};
  spec.optimizer = optimizer_of(job);
  for (const auto& [pattern, factor] : job["groups"].items())
    spec.network.rate_groups.push_back({.pattern = pattern, .factor = factor});
  return spec;
}

// Images come as the network's input, and classes have no names.
io::ModelMetadata metadata_of(const NetworkSpec& network) {
  const ImageShape& image = image_of(network);
  const auto channels = static_cast<std::size_t>(image.c);
  io::ModelMetadata metadata{.name = network.name,
                             .input = io::ImageInput{.shape = image,
                                                     .normalizes = false,
                                                     .channel_mean = std::vector<double>(channels, 0.0),
                                                     .channel_stddev = std::vector<double>(channels, 1.0)}};
  for (std::int64_t k = 0; k < network.num_classes; ++k) metadata.class_names.push_back(fmt::format("{}", k));
  return metadata;
}

void run(const std::string& folder, const mpi::Communicator& world) {
  const std::vector<char> text = read_values<char>(folder + "/job.json");
  const nlohmann::json job = nlohmann::json::parse(text.begin(), text.end());
  const ProcessGrid grid(world, 1);
  const auto cpu = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  RecordingBackend backend(*cpu);
  StatusBoard board;
  RankRuntime runtime(runtime_spec_of(job), grid, backend, board);
  TrainingStep training(runtime);
  EvaluationStep evaluation(runtime);
  const std::string weights = folder + "/weights.safetensors";
  restore_weights(decode_weights(io::read_file(weights), weights, WeightsKind::kTrained).dict.tensors, weights,
                  runtime);
  OneBatch source(folder);
  const auto write_logits = [&](const std::string& name) {
    backend.recorded_logits.clear();
    evaluation.run(source);
    io::write_file_atomically(folder + "/" + name, std::as_bytes(std::span(backend.recorded_logits)));
  };

  write_logits("logits.f32");
  const std::int64_t steps = job["steps"];
  for (std::int64_t step = 0; step < steps; ++step) training.run(source, job["lr"]);
  write_logits("logits_after.f32");
  runtime.finish();
  io::Checkpoint checkpoint = gather_checkpoint(training);
  checkpoint.state.step = steps;
  checkpoint.metadata = metadata_of(runtime.plan().spec().network);
  io::write_file_atomically(folder + "/trained.h5", io::encode_checkpoint(checkpoint));
}

}  // namespace

}  // namespace convoy::test

int main(int argc, char** argv) {
  return convoy::mpi::run_guarded(argc, argv, [&](convoy::mpi::Session& session) {
    if (argc != 2) convoy::refuse("torch_peer FOLDER");
    convoy::test::run(argv[1], session.world());
    return convoy::ExitStatus::kDone;
  });
}
