/// Outputs are written without HDF5. Its metadata is made in memory, with a hole for the outputs, and comes before
/// them.
#include "convoy/io/predictions.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "convoy/base/error.h"

#include "io/hdf5.h"

namespace convoy::io {

namespace {

static_assert(std::endian::native == std::endian::little, "outputs are written as they are in memory");

constexpr std::uint64_t kNamesBytes = std::uint64_t{64} << 10;  // HDF5 keeps the names of a file's members there

// Writes everything but the outputs, and returns the name of their array.
const char* write_samples(const hdf5::File& file, const PredictedSamples& samples) {
  if (samples.kind == TargetKind::kClass) {
    hdf5::write_texts(file, "class_names", samples.class_names);
    hdf5::write_texts(file, "names", samples.names);
    hdf5::write_list(file, "labels", samples.labels);
    return "logits";
  }
  const std::string kind = to_string(samples.kind);
  hdf5::write_texts(file, "target_kind", {&kind, 1});
  hdf5::write_texts(file, "output_names", samples.class_names);
  hdf5::write_texts(file, "names", samples.names);
  if (const std::string axis = to_string(samples.channel_axis); !samples.dims.empty())
    hdf5::write_texts(file, "target_channel_axis", {&axis, 1});
  if (!samples.targets.empty()) hdf5::write_table(file, "targets", samples.targets, std::ssize(samples.class_names));
  return samples.kind == TargetKind::kLabels ? "logits" : "outputs";
}

std::vector<std::byte> encode_head(const PredictedSamples& samples) {
  std::vector<std::byte> bytes;
  std::uint64_t offset = 0;
  {
    const hdf5::File file = hdf5::create_in_memory(bytes);
    const char* const name = write_samples(file, samples);
    std::vector<std::int64_t> dims = {std::ssize(samples.names), std::ssize(samples.class_names)};
    if (!samples.dims.empty()) dims = samples.dims, dims.insert(dims.begin(), std::ssize(samples.names));
    std::vector<hdf5::Array> arrays;
    arrays.push_back(hdf5::create_array(file, name, H5T_IEEE_F32LE, dims));
    if (samples.appends_targets) arrays.push_back(hdf5::create_array(file, "targets", H5T_IEEE_F32LE, dims));
    for (const hdf5::Array& array : arrays) hdf5::allocate(array, H5T_IEEE_F32LE);
    offset = static_cast<std::uint64_t>(H5Dget_offset(arrays.front().dataset));
    std::uint64_t end = offset;
    for (const hdf5::Array& array : arrays) {
      if (const auto begin = static_cast<std::uint64_t>(H5Dget_offset(array.dataset)); begin != end)
        fail("HDF5 laid out predictions with an array at {}, and not at {}", begin, end);
      end += static_cast<std::uint64_t>(array.count()) * sizeof(float);
    }
    if (hdf5::flushed_size(file) != end)
      fail("HDF5 laid out predictions of {} bytes with {} bytes of {} at {}: they are not at the end of the file",
           hdf5::flushed_size(file), end - offset, name, offset);
  }
  bytes.resize(offset);
  return bytes;
}

}  // namespace

std::int64_t PredictedSamples::num_outputs() const {
  return dims.empty() ? std::ssize(class_names)
                      : std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

bool is_predictions_file(const std::string& path) {
  const FileDescriptor file = open_for_reading(path);
  const std::uint64_t size_bytes = file_size(file, path);
  std::vector<std::byte> begin(std::min(size_bytes, kNamesBytes));
  read_at(file, 0, begin, path);
  try {
    const hdf5::File opened = hdf5::open_in_memory(begin, size_bytes);
    const auto has = [&](const char* member) { return hdf5::exists(opened, member); };
    const bool is_of_classes = has("class_names") && has("labels") && has("logits");
    const bool is_of_others = has("target_kind") && has("output_names") && (has("logits") || has("outputs"));
    return has("names") && (is_of_classes || is_of_others);
  } catch (const Error&) {
    return false;
  }
}

PredictionsWriter::PredictionsWriter(const std::string& path, const PredictedSamples& all_samples)
    : head_bytes_(encode_head(all_samples).size()),
      max_outputs_(std::ssize(all_samples.names) * all_samples.num_outputs()),
      appends_targets_(all_samples.appends_targets),
      file_(path, head_bytes_ + (appends_targets_ ? 2 : 1) * static_cast<std::uint64_t>(max_outputs_) * sizeof(float)) {
}

void PredictionsWriter::append(std::span<const float> outputs, std::span<const float> targets) {
  if (targets.size() != (appends_targets_ ? outputs.size() : 0))
    fail("predictions: {} targets were added to {} outputs", targets.size(), outputs.size());
  if (num_outputs_ + std::ssize(outputs) > max_outputs_)
    fail("predictions: {} outputs were added, but there is room for only {}", outputs.size(),
         max_outputs_ - num_outputs_);
  file_.write_at(head_bytes_ + outputs_bytes(), std::as_bytes(outputs));
  if (appends_targets_) file_.write_at(targets_begin() + outputs_bytes(), std::as_bytes(targets));
  num_outputs_ += std::ssize(outputs);
}

void PredictionsWriter::finish(const PredictedSamples& samples) {
  const std::int64_t wanted = std::ssize(samples.names) * samples.num_outputs();
  if (num_outputs_ != wanted) fail("predictions: {} outputs were written, but {} are expected", num_outputs_, wanted);
  if (appends_targets_ && num_outputs_ < max_outputs_)
    file_.move_down(targets_begin(), head_bytes_ + outputs_bytes(), outputs_bytes());
  file_.write_head("predictions", encode_head(samples), head_bytes_, (appends_targets_ ? 2 : 1) * outputs_bytes());
  file_.finish();
}

}  // namespace convoy::io
