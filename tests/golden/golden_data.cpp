/// Golden files and fill.
#include "golden/golden_data.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "convoy/model/network_file.h"

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

namespace {

template <typename T>
T choice_of(const std::string& word) {
  return std::ranges::find(kChoices<T>, word, &Choice<T>::word)->value;
}

bool reads_texts(const nlohmann::json& golden) {
  return golden.contains("transformer");
}

bool reads_arrays(const nlohmann::json& golden) {
  return golden.contains("inputs");
}

std::string read_text(const std::string& name) {
  std::ifstream file(std::string(CONVOY_GOLDEN_DIRECTORY) + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Sets the arrays that the network reads, what it has to answer, and how it is built from its file.
void set_network_of_arrays(const nlohmann::json& golden, NetworkSpec& network) {
  ArrayShapes arrays;
  for (const auto& [name, dims] : golden["inputs"].items())
    arrays.inputs.push_back({.name = name, .shape = array_shape(dims.get<std::vector<std::int64_t>>())});
  network.input = arrays;
  network.num_classes = golden["outputs"];
  const bool are_labels = golden["loss"] == name_of(LossKind::kBinaryCrossEntropy);
  network.target = {.kind = are_labels ? TargetKind::kLabels : TargetKind::kNumbers,
                    .shape = Shape::vectors(1, network.num_classes)};
  if (golden.contains("target")) {
    network.target.dims = golden["target"].get<std::vector<std::int64_t>>();
    network.target.shape = array_shape(network.target.dims);
  }
  if (!are_labels) {
    network.target.mean = golden["mean"].get<std::vector<double>>();
    network.target.stddev = golden["stddev"].get<std::vector<double>>();
  }
  NetworkRequest request{.name = network.name,
                         .settings = network.settings,
                         .input = network.input,
                         .num_classes = network.num_classes,
                         .target = network.target};
  if (golden.contains("file")) request.file = NetworkSource{.name = golden["file"], .text = read_text(golden["file"])};
  network.list = std::make_shared<const NetworkList>(build_network_list(request).list);
  network.settings = {};
}

void set_network(const nlohmann::json& golden, NetworkSpec& network) {
  if (golden.contains("settings")) network.settings = golden["settings"].get<NetworkSettings>();
  if (reads_arrays(golden)) return set_network_of_arrays(golden, network);
  if (!reads_texts(golden)) {
    const std::int64_t size = golden["image_size"];
    network.input = ImageShape{size, size, 3};
    return;
  }
  const nlohmann::json& shape = golden["transformer"];
  network.input = TextShape{.length = shape["length"], .vocabulary = shape["words"]};
  network.settings = network_settings({.layers = shape["layers"],
                                       .heads = shape["heads"],
                                       .width = shape["width"],
                                       .feedforward = shape["feedforward"],
                                       .dropout = 0,
                                       .activation = choice_of<ActivationKind>(shape["activation"]),
                                       .positions = choice_of<PositionKind>(shape["positions"]),
                                       .norm = choice_of<NormPlace>(shape["norm"])});
}

}  // namespace

RuntimeSpec golden_runtime_spec(const nlohmann::json& golden, ScheduleKind schedule) {
  const std::int64_t micro = golden["microbatch"];
  RuntimeSpec spec{
      .network = {.name = golden["model"], .micro_batch = micro, .num_classes = golden.value("classes", 0)},
      .batch = {.global = golden["batch"], .micro = micro},
      .schedule = schedule,
      .run = {.bucket_mib = 0.25}};  // several buckets even in small networks
  set_network(golden, spec.network);
  if (reads_arrays(golden)) {
    spec.train.loss = choice_of<LossKind>(golden["loss"]);
    spec.train.huber_delta = golden.value("huber_delta", 1.0);
    spec.output_weights = golden.value("weights", std::vector<float>());
  }
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
      } else if (spec.role == ParameterRole::kNormOrBias) {
        tensor.values = golden_fill(spec.name, spec.count(), -0.1, 0.1);
      } else {
        tensor.values = golden_fill(spec.name, spec.count(), -bound, bound);
      }
      checkpoint.model.push_back(std::move(tensor));
    }
  }
  return checkpoint;
}

GoldenSource::GoldenSource(const nlohmann::json& golden, const RankRuntime& runtime)
    : first_(runtime.micro_batches().begin),
      micro_(golden["microbatch"]),
      batch_(golden["batch"]),
      type_(runtime.plan().spec().network.type),
      inputs_(runtime.plan().spec().network.input),
      elementwise_(runtime.operations().elementwise()) {
  if (reads_arrays(golden)) {
    keep_arrays(golden, runtime.device());
    return;
  }
  if (!reads_texts(golden)) {
    labels_ = golden["labels"].get<std::vector<std::int32_t>>();
    keep_images(batch_, golden["image_size"], runtime.device());
    return;
  }
  for (const auto& [name, of_samples] : golden["features"].items()) {
    std::vector<std::int32_t> values;
    for (const auto& row : of_samples) {  // a number, or a list of them
      const auto flat = row.is_array() ? row.get<std::vector<std::int32_t>>() : std::vector{row.get<std::int32_t>()};
      values.insert(values.end(), flat.begin(), flat.end());
    }
    if (name == features::kLabel) labels_ = values;
    keep(name, values, runtime.device());
  }
}

void GoldenSource::keep_arrays(const nlohmann::json& golden, Device& device) {
  for (const NamedShape& array : std::get<ArrayShapes>(inputs_).inputs)
    keep(array.name, golden_fill(array.name, batch_ * array.shape.count(), -1.5, 1.5), device);
  std::vector<float> targets;
  for (const auto& row : golden["targets"])
    for (const auto& value : row) targets.push_back(value);
  keep(features::kTarget, targets, device);
}

void GoldenSource::keep_images(std::int64_t n, std::int64_t size, Device& device) {
  const std::int64_t area = size * size, count = 3 * area;
  const std::vector<float> nchw = golden_fill("input", n * count, -1.5, 1.5);
  std::vector<float> nhwc(nchw.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t c = 0; c < 3; ++c)
      for (std::int64_t p = 0; p < area; ++p) nhwc[i * count + p * 3 + c] = nchw[i * count + c * area + p];
  keep(features::kImage, nhwc, device);
}

template <typename T>
void GoldenSource::keep(const std::string& feature, const std::vector<T>& values, Device& device) {
  Buffer& buffer = kept_[feature] = Buffer(device, std::ssize(values) * static_cast<std::int64_t>(sizeof(T)));
  device.copy_to_device(buffer.data(), values.data(), buffer.size_bytes());
}

void GoldenSource::load(std::string_view feature, std::int64_t micro_batch, void* to) {
  const std::int64_t m = first_ + micro_batch;
  if (feature == features::kLabel) {
    std::copy_n(labels_.begin() + m * micro_, micro_, static_cast<std::int32_t*>(to));
    return;
  }
  const Buffer& all = kept_.at(std::string(feature));
  const std::int64_t bytes = all.size_bytes() / batch_ * micro_;
  const std::byte* const from = all.data() + m * bytes;
  const auto* const arrays = std::get_if<ArrayShapes>(&inputs_);
  if (feature == features::kImage || (arrays != nullptr && feature != features::kTarget)) {
    elementwise_.round_to(type_, reinterpret_cast<const float*>(from), to, bytes / kFloatBytes);
  } else {
    elementwise_.copy(from, to, bytes);
  }
}

}  // namespace convoy::test
