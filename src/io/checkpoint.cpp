/// Checkpoints to bytes and back: HDF5 in memory, then a trailer with the hash.
#include "convoy/io/checkpoint.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/version.h"

#include "io/hdf5.h"
#include "io/parts_list.h"
#include "io/stored_arrays.h"
#include "io/trailer.h"

namespace convoy::io {

namespace {

constexpr std::int64_t kFormat = 2;

/// Fields of the state that files of older versions lack.
constexpr std::string_view kLaterFields[] = {
    "threads",          "train_hash", "metric_hash", "loss_average",     "loss_lowest", "loss_left_step", "bad_steps",
    "bad_steps_in_row", "rollbacks",  "rate_factor", "epoch_num_labels", "best_loss",   "improved_step"};

/// The list of fields, the same for writing and reading, so that they cannot differ.
template <typename State, typename Visit>
void for_each_field(State& state, const Visit& visit) {
  visit("step", state.step);
  visit("samples", state.samples);
  visit("seed", state.seed);
  visit("batch_global", state.batch_global);
  visit("batch_micro", state.batch_micro);
  visit("num_samples", state.num_samples);
  visit("train_hash", state.train_hash);
  visit("metric_hash", state.metric_hash);
  visit("evaluated_step", state.evaluated_step);
  visit("best_metric", state.best_value);
  visit("best_step", state.best_step);
  visit("best_loss", state.best_loss);
  visit("improved_step", state.improved_step);
  visit("updates", state.updates);
  visit("loss_scale", state.loss_scale);
  visit("loss_scale_steps", state.loss_scale_steps);
  visit("epoch_loss_sum", state.epoch.front().loss);
  visit("epoch_num_correct", state.epoch.front().num_correct);
  visit("epoch_num_samples", state.epoch.front().num_samples);
  visit("epoch_num_labels", state.epoch.front().num_labels);
  visit("loss_average", state.loss_average);
  visit("loss_lowest", state.loss_lowest);
  visit("loss_left_step", state.loss_left_step);
  visit("bad_steps", state.bad_steps);
  visit("bad_steps_in_row", state.bad_steps_in_row);
  visit("rollbacks", state.rollbacks);
  visit("rate_factor", state.rate_factor);
}

constexpr const char* kMetric = "metric";  // a text; older files lack it, and their best value is of top-1
constexpr const char* kNumObjectives = "num_objectives";
constexpr std::int64_t kMaxObjectives = 16;

// Calls visit(name, value) for each field of the objectives after the first; the first's fields are older.
template <typename State, typename Visit>
void for_each_other_objective(State& state, const Visit& visit) {
  for (std::size_t o = 1; o < state.epoch.size(); ++o) {
    const auto field = [&](const char* name, auto& value) { visit(fmt::format("{}_{}", name, o + 1).c_str(), value); };
    field("epoch_loss_sum", state.epoch[o].loss);
    field("epoch_num_correct", state.epoch[o].num_correct);
    field("epoch_num_samples", state.epoch[o].num_samples);
    field("epoch_num_labels", state.epoch[o].num_labels);
  }
}

void write_state(hid_t file, const TrainingState& content) {
  const hdf5::Group state = hdf5::create_group(file, "state");
  const auto write = [&](const char* name, const auto& value) { hdf5::write_attribute(state, name, value); };
  for_each_field(content, write);
  if (content.epoch.size() > 1) write(kNumObjectives, static_cast<std::int64_t>(content.epoch.size()));
  for_each_other_objective(content, write);
  hdf5::write_texts(state, kMetric, {&content.metric, 1});
}

/// More channels than any image has.
constexpr std::int64_t kMaxChannels = 4096;

void write_image(hid_t group, const ImageInput& input) {
  hdf5::write_attribute(group, "rows", input.shape.h);
  hdf5::write_attribute(group, "columns", input.shape.w);
  hdf5::write_attribute(group, "channels", input.shape.c);
  hdf5::write_attribute(group, "resizes", std::int64_t{input.resizes});
  hdf5::write_attribute(group, "short_side", input.short_side);
  if (input.orients) hdf5::write_attribute(group, "orients", std::int64_t{1});
  hdf5::write_attribute(group, "normalizes", std::int64_t{input.normalizes});
  hdf5::write_attribute(group, "channel_mean", std::span(input.channel_mean));
  hdf5::write_attribute(group, "channel_deviation", std::span(input.channel_stddev));
}

ImageInput read_image(hid_t group) {
  const auto is_set = [&](const char* name) {
    std::int64_t value = 0;
    hdf5::read_attribute(group, name, value);
    return value != 0;
  };
  ImageInput input;
  hdf5::read_attribute(group, "rows", input.shape.h);
  hdf5::read_attribute(group, "columns", input.shape.w);
  hdf5::read_attribute(group, "channels", input.shape.c);
  if (input.shape.c < 1 || input.shape.c > kMaxChannels)
    fail("its network reads images of {} channels, which is not possible", input.shape.c);
  input.resizes = is_set("resizes");
  hdf5::read_attribute(group, "short_side", input.short_side);
  input.orients = hdf5::has_attribute(group, "orients") && is_set("orients");
  input.normalizes = is_set("normalizes");
  input.channel_mean.resize(static_cast<std::size_t>(input.shape.c));
  input.channel_stddev.resize(input.channel_mean.size());
  hdf5::read_attribute(group, "channel_mean", std::span(input.channel_mean));
  hdf5::read_attribute(group, "channel_deviation", std::span(input.channel_stddev));
  return input;
}

TextInput read_text(hid_t group, std::uint64_t limit_bytes) {
  TextInput input;
  hdf5::read_attribute(group, "length", input.length);
  if (input.length < 1) fail("its network reads texts of {} tokens, which is not possible", input.length);
  input.tokenization = hdf5::read_tokenization(group, limit_bytes);
  input.columns = hdf5::read_columns(group, limit_bytes);
  return input;
}

// The type of a sample says which arrays the network reads, and the form of a target that is stored with them.
void write_arrays(hid_t group, const ArraysInput& input, const Target& target) {
  hdf5::commit(group, "sample", record_type(record_of(input.inputs, target)));
  hdf5::write_attribute(group, "normalizes", std::int64_t{input.normalizes});
  write_arrays(group, input.inputs, target);
}

ArraysInput read_arrays(hid_t group, std::uint64_t limit_bytes, Target& target) {
  Record record = read_record_type(hdf5::open_type(group, "sample"));
  target = std::move(record.target);
  ArraysInput input{.inputs = std::move(record.arrays)};
  read_array_statistics(group, limit_bytes, input.inputs);
  std::int64_t normalizes = 0;
  hdf5::read_attribute(group, "normalizes", normalizes);
  input.normalizes = normalizes != 0;
  return input;
}

// Reads the parameters of a network of texts from a checkpoint that does not hold the network itself.
std::map<std::string, std::string> read_settings(hid_t group, std::uint64_t limit_bytes) {
  std::map<std::string, std::string> settings;
  for (const char* const name : {"layers", "heads", "width", "feedforward"}) {
    std::int64_t number = 0;
    hdf5::read_attribute(group, name, number);
    settings[name] = fmt::format("{}", number);
  }
  double dropout = 0;
  hdf5::read_attribute(group, "dropout", dropout);
  settings["dropout"] = fmt::format("{}", dropout);
  for (const char* const name : {"activation", "positions", "norm"})
    settings[name] = hdf5::read_text(group, name, limit_bytes);
  return settings;
}

void write_metadata(hid_t file, const ModelMetadata& metadata) {
  const hdf5::Group group = hdf5::create_group(file, "card");
  hdf5::write_texts(group, "name", {&metadata.name, 1});
  hdf5::write_kind(group, metadata.kind());
  if (const TextInput* const text = metadata.text()) {
    hdf5::write_attribute(group, "length", text->length);
    hdf5::write_tokenization(group, text->tokenization);
    hdf5::write_columns(group, text->columns);
  } else if (const ArraysInput* const arrays = metadata.arrays()) {
    write_arrays(group, *arrays, metadata.target);
  } else {
    write_image(group, metadata.image());
  }
  hdf5::write_texts(group, "class_names", metadata.class_names);
  hdf5::write_texts(group, "network", {&metadata.network, 1});
  hdf5::write_texts(group, "network_file", {&metadata.network_file, 1});
}

ModelMetadata read_metadata(hid_t file, std::uint64_t limit_bytes) {
  const hdf5::Group group = hdf5::open_group(file, "card");
  ModelMetadata metadata;
  metadata.name = hdf5::read_text(group, "name", limit_bytes);
  const std::string kind = hdf5::read_kind(group, "its network reads", limit_bytes);
  if (kind == input_kinds::kText) {
    metadata.input = read_text(group, limit_bytes);
  } else if (kind == input_kinds::kArrays) {
    metadata.input = read_arrays(group, limit_bytes, metadata.target);
  } else {
    metadata.input = read_image(group);
  }
  metadata.class_names = hdf5::read_texts(group, "class_names", limit_bytes);
  for (const std::string& name : metadata.class_names) check_is_name(name, "the name of a class, label or number");
  if (metadata.arrays() != nullptr)
    metadata.target = read_target(group, limit_bytes, std::ssize(metadata.class_names), metadata.target);
  if (!hdf5::exists(group, "network")) {  // written by an earlier version
    if (metadata.text() != nullptr) metadata.settings = read_settings(group, limit_bytes);
    return metadata;
  }
  metadata.network = hdf5::read_text(group, "network", limit_bytes);
  metadata.network_file = hdf5::read_text(group, "network_file", limit_bytes);
  return metadata;
}

std::uint64_t size_of_values(const Checkpoint& checkpoint) {
  std::uint64_t bytes = 0;
  const auto add = [&](const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& tensor : tensors) bytes += tensor.values.size() * sizeof(float);
  };
  add(checkpoint.model);
  add(checkpoint.ema);
  for (const auto& [state, tensors] : checkpoint.optimizer) add(tensors);
  return bytes;
}

void write_tensor(hid_t group, const NamedTensor& tensor) {
  const hdf5::Array array = hdf5::create_array(group, tensor.name, H5T_IEEE_F32LE, tensor.dims);
  if (array.count() != static_cast<std::int64_t>(tensor.values.size())) {
    fail("checkpoint: tensor '{}' has {} values, but its shape needs {}", tensor.name, tensor.values.size(),
         array.count());
  }
  hdf5::write_values(array, tensor.values);
}

// Writes in the order of the names: the same content gives the same bytes, in whatever order it was gathered.
void write_tensors(hid_t parent, const std::string& name, const std::vector<NamedTensor>& tensors) {
  const hdf5::Group group = hdf5::create_group(parent, name);
  std::vector<const NamedTensor*> sorted;
  sorted.reserve(tensors.size());
  for (const NamedTensor& tensor : tensors) sorted.push_back(&tensor);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  for (const NamedTensor* tensor : sorted) write_tensor(group, *tensor);
}

std::vector<NamedTensor> read_tensors(hid_t parent, const std::string& name, std::uint64_t limit_bytes) {
  const hdf5::Group group = hdf5::open_group(parent, name);
  std::vector<NamedTensor> tensors;
  for (const std::string& tensor_name : hdf5::member_names(group)) {
    check_is_name(tensor_name, "the name of a tensor");
    const hdf5::Array array = hdf5::open_array(group, tensor_name, H5T_IEEE_F32LE, limit_bytes);
    tensors.push_back({tensor_name, array.dims, hdf5::read_values<float>(array)});
  }
  return tensors;
}

void write_content(hid_t file, const Checkpoint& checkpoint) {
  hdf5::write_attribute(file, "format", kFormat);
  const std::string written_by = fmt::format("convoy {}", version());
  hdf5::write_texts(file, "version", {&written_by, 1});
  hdf5::write_texts(file, "parameters", {&checkpoint.parameters, 1});
  write_metadata(file, checkpoint.metadata);
  write_state(file, checkpoint.state);
  if (!checkpoint.parts) {
    write_tensors(file, "model", checkpoint.model);
    if (!checkpoint.ema.empty()) write_tensors(file, "ema", checkpoint.ema);
  }
  if (!checkpoint.counters.empty()) {
    const hdf5::Group counters = hdf5::create_group(file, "counters");
    for (const auto& [name, count] : checkpoint.counters) hdf5::write_attribute(counters, name, count);
  }
  if (checkpoint.parts) return write_parts_list(file, checkpoint);
  const hdf5::Group optimizer = hdf5::create_group(file, "optimizer");
  for (const auto& [state, tensors] : checkpoint.optimizer) write_tensors(optimizer, state, tensors);
}

void check_format(hid_t file) {
  std::int64_t format = 0;
  hdf5::read_attribute(file, "format", format);
  if (format != kFormat)
    refuse(
        "it has format {}, but this program reads format {}. Export its weights with the version of Convoy that wrote "
        "it (convoy export), and start from those weights (init.weights)",
        format, kFormat);
}

// Checkpoints of older versions have no counters: for them every batch norm counts as never frozen.
std::map<std::string, std::int64_t> read_counters(hid_t file, const Checkpoint& checkpoint) {
  std::map<std::string, std::int64_t> counters;
  for (const NamedTensor& tensor : checkpoint.model)
    if (const std::string name = counter_name(tensor.name); !name.empty()) counters[name] = checkpoint.state.step;
  if (!hdf5::exists(file, "counters")) return counters;
  const hdf5::Group group = hdf5::open_group(file, "counters");
  for (auto& [name, count] : counters) hdf5::read_attribute(group, name, count);
  return counters;
}

// Accepts a metric that this program does not know: a newer version may have it.
std::string read_metric(hid_t state, std::uint64_t limit_bytes) {
  if (!hdf5::exists(state, kMetric)) return TrainingState().metric;
  std::string name = hdf5::read_text(state, kMetric, limit_bytes);
  const auto is_of_names = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || !std::ranges::all_of(name, is_of_names)) fail("its best value has no valid name of a metric");
  return name;
}

TrainingState read_state(hid_t file, std::uint64_t limit_bytes) {
  TrainingState content;
  const hdf5::Group state = hdf5::open_group(file, "state");
  for_each_field(content, [&](const char* name, auto& value) {
    const bool is_later = std::find(std::begin(kLaterFields), std::end(kLaterFields), name) != std::end(kLaterFields);
    if (!is_later || hdf5::has_attribute(state, name)) hdf5::read_attribute(state, name, value);
  });
  if (!hdf5::has_attribute(state, "improved_step")) content.improved_step = content.best_step;
  content.metric = read_metric(state, limit_bytes);
  if (!hdf5::has_attribute(state, "epoch_num_labels"))
    content.epoch.front().num_labels = content.epoch.front().num_samples;
  if (!hdf5::has_attribute(state, kNumObjectives)) return content;
  std::int64_t num_objectives = 0;
  hdf5::read_attribute(state, kNumObjectives, num_objectives);
  if (num_objectives < 2 || num_objectives > kMaxObjectives)
    fail("its network has {} objectives, which is not possible", num_objectives);
  content.epoch.resize(static_cast<std::size_t>(num_objectives));
  for_each_other_objective(content, [&](const char* name, auto& value) { hdf5::read_attribute(state, name, value); });
  return content;
}

Checkpoint read_content(hid_t file, std::uint64_t limit_bytes, bool in_parts) {
  Checkpoint checkpoint;
  if (hdf5::exists(file, "version")) checkpoint.written_by = hdf5::read_text(file, "version", limit_bytes);
  checkpoint.parameters = hdf5::read_text(file, "parameters", limit_bytes);
  checkpoint.metadata = read_metadata(file, limit_bytes);
  checkpoint.state = read_state(file, limit_bytes);
  if (in_parts) {
    read_parts_list(file, limit_bytes, checkpoint);
    checkpoint.counters = read_counters(file, checkpoint);
    return checkpoint;
  }
  checkpoint.model = read_tensors(file, "model", limit_bytes);
  checkpoint.counters = read_counters(file, checkpoint);
  if (hdf5::exists(file, "ema")) checkpoint.ema = read_tensors(file, "ema", limit_bytes);
  const hdf5::Group optimizer = hdf5::open_group(file, "optimizer");
  for (const std::string& state : hdf5::member_names(optimizer)) {
    checkpoint.optimizer[state] = read_tensors(optimizer, state, limit_bytes);
  }
  return checkpoint;
}

// Opens verified bytes and reads from them; messages of errors begin with `where`.
template <typename Read>
auto decode(std::span<const std::byte> bytes, const std::string& where, const Read& read) {
  try {
    if (const auto damage = find_damage(bytes, checkpoint_kind())) fail("{}", *damage);
    const std::size_t image_bytes = bytes.size() - kTrailerBytes;
    const hdf5::File file = hdf5::open_in_memory(bytes.first(image_bytes), image_bytes);
    check_format(file);
    return read(file, image_bytes);
  } catch (const RequestError& error) {
    refuse("checkpoint '{}': {}", where, error.what());
  } catch (const Error& error) {
    fail("checkpoint '{}': {}", where, error.what());
  }
}

}  // namespace

std::vector<std::byte> encode_checkpoint(const Checkpoint& checkpoint) {
  std::vector<std::byte> bytes =
      hdf5::encode_in_memory(size_of_values(checkpoint), [&](hid_t file) { write_content(file, checkpoint); });
  append_trailer(bytes, checkpoint.parts ? magic::kCheckpointOfParts : magic::kCheckpoint);
  return bytes;
}

std::optional<std::string> find_damage(std::span<const std::byte> bytes) {
  return find_damage(bytes, checkpoint_kind());
}

bool is_checkpoint_file(const std::string& path) {
  const std::vector<std::byte> trailer = read_trailer(path);
  return std::ranges::any_of(checkpoint_kind().magics, [&](auto magic) { return ends_with(trailer, magic); });
}

std::vector<std::byte> read_checkpoint_file(const std::string& path) {
  std::vector<std::byte> bytes = read_with_trailer(path, checkpoint_kind());
  if (!ends_with(bytes, magic::kCheckpointOfParts)) return bytes;
  if (const auto damage = find_damage_in_parts(path, *decode_checkpoint(bytes, path).parts)) fail("{}", *damage);
  return bytes;
}

std::vector<std::byte> join_parts(std::vector<std::byte> bytes, const std::string& path, bool with_optimizer) {
  if (!ends_with(bytes, magic::kCheckpointOfParts)) return bytes;
  Checkpoint checkpoint = decode_checkpoint(bytes, path);
  if (!with_optimizer) checkpoint.optimizer.clear();
  load_values(checkpoint, path);
  checkpoint.parts.reset();
  return encode_checkpoint(checkpoint);
}

Checkpoint decode_checkpoint(std::span<const std::byte> bytes, const std::string& where) {
  const bool in_parts = ends_with(bytes, magic::kCheckpointOfParts);
  return decode(bytes, where,
                [&](hid_t file, std::size_t limit_bytes) { return read_content(file, limit_bytes, in_parts); });
}

TrainingState decode_state(std::span<const std::byte> bytes, const std::string& where) {
  return decode(bytes, where, [](hid_t file, std::size_t image_bytes) { return read_state(file, image_bytes); });
}

}  // namespace convoy::io
