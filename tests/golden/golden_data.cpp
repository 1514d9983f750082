/// Golden files and fill.
#include "golden/golden_data.h"

#include <cmath>
#include <fstream>

namespace convoy::test {

std::vector<float> golden_fill(const std::string& name, std::int64_t count, double low, double high) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char byte : name) hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619u;
  std::vector<float> values(count);
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t x = static_cast<std::uint32_t>(i) * 0x9E3779B9u + hash;
    x ^= x >> 16, x *= 0x85EBCA6Bu;  // murmur3's finalizer
    x ^= x >> 13, x *= 0xC2B2AE35u;
    x ^= x >> 16;
    values[i] = static_cast<float>(low + (high - low) * (static_cast<double>(x >> 8) * 0x1p-24));
  }
  return values;
}

nlohmann::json read_golden(const std::string& name) {
  std::ifstream file(std::string(CONVOY_GOLDEN_DIRECTORY) + "/" + name + ".json");
  return nlohmann::json::parse(file);
}

EngineSpec golden_engine_spec(const nlohmann::json& golden, ScheduleKind schedule) {
  const std::int64_t size = golden["image_size"], micro = golden["microbatch"];
  EngineSpec spec{.network = {.name = golden["model"],
                              .image = {size, size, 3},
                              .micro_batch = micro,
                              .num_classes = golden["classes"]},
                  .batch = {.global = golden["batch"], .micro = micro},
                  .schedule = schedule,
                  .bucket_mib = 0.25};  // several buckets even in small networks
  spec.optimizer.lr = golden["sgd"]["lr"];
  spec.optimizer.momentum = golden["sgd"]["momentum"];
  spec.optimizer.weight_decay = golden["sgd"]["weight_decay"];
  return spec;
}

io::Checkpoint golden_start(const Network& network) {
  io::Checkpoint checkpoint;
  for (const auto& cell : network) {
    for (const auto& entry : cell->memory().parameters()) {
      const ParameterSpec& spec = entry.spec;
      io::NamedTensor tensor{.name = spec.name, .dims = spec.dims, .values = {}};
      const double bound = std::sqrt(6.0 / (static_cast<double>(spec.count()) / static_cast<double>(spec.dims[0])));
      const bool is_scale_or_shift = spec.initial.kind == InitialValues::Kind::kConstant;
      if (spec.is_statistic()) {
        tensor.values = initial_values(spec, {.seed = 0});
      } else if (is_scale_or_shift) {
        tensor.values = golden_fill(spec.name, spec.count(), spec.initial.size - 0.25, spec.initial.size + 0.25);
      } else if (spec.is_norm_or_bias) {
        tensor.values = golden_fill(spec.name, spec.count(), -0.1, 0.1);
      } else {
        tensor.values = golden_fill(spec.name, spec.count(), -bound, bound);
      }
      checkpoint.model.push_back(std::move(tensor));
    }
  }
  return checkpoint;
}

GoldenSource::GoldenSource(const nlohmann::json& golden, const Engine& engine)
    : first_(engine.micro_batches().begin),
      micro_(golden["microbatch"]),
      labels_(golden["labels"]),
      type_(engine.plan().spec().network.type),
      elementwise_(engine.operations().elementwise()) {
  const std::int64_t n = golden["batch"], size = golden["image_size"], area = size * size;
  image_count_ = 3 * area;
  const std::vector<float> nchw = golden_fill("input", n * image_count_, -1.5, 1.5);
  std::vector<float> nhwc(nchw.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t c = 0; c < 3; ++c)
      for (std::int64_t p = 0; p < area; ++p)
        nhwc[i * image_count_ + p * 3 + c] = nchw[i * image_count_ + c * area + p];
  images_ = Buffer(engine.device(), n * image_count_ * kFloatBytes);
  engine.device().copy_to_device(images_.data(), nhwc.data(), images_.size_bytes());
}

void GoldenSource::load(std::string_view feature, std::int64_t micro_batch, void* to) {
  const std::int64_t count = micro_ * image_count_, m = first_ + micro_batch;
  if (feature == features::kImage) elementwise_.round_to(type_, images_.floats() + m * count, to, count);
  if (feature == features::kLabel) std::copy_n(labels_.begin() + m * micro_, micro_, static_cast<std::int32_t*>(to));
}

}  // namespace convoy::test
