/// Logits are written without HDF5. Its metadata is made in memory, with a hole for the logits, and comes before them.
#include "convoy/io/predictions.h"

#include <algorithm>
#include <bit>

#include "convoy/base/error.h"

#include "io/hdf5.h"

namespace convoy::io {

namespace {

static_assert(std::endian::native == std::endian::little, "logits are written as they are in memory");

constexpr std::uint64_t kNamesBytes = std::uint64_t{64} << 10;  // HDF5 keeps the names of a file's members there

std::vector<std::byte> encode_head(const PredictedSamples& samples) {
  const std::int64_t count = std::ssize(samples.names), num_classes = std::ssize(samples.class_names);
  std::vector<std::byte> bytes;
  std::uint64_t logits_offset = 0;
  {
    const hdf5::File file = hdf5::create_in_memory(bytes);
    hdf5::write_texts(file, "class_names", samples.class_names);
    hdf5::write_texts(file, "names", samples.names);
    hdf5::write_list(file, "labels", samples.labels);
    const std::int64_t dims[] = {count, num_classes};
    const hdf5::Array logits = hdf5::create_array(file, "logits", H5T_IEEE_F32LE, dims);
    hdf5::allocate(logits, H5T_IEEE_F32LE);
    logits_offset = static_cast<std::uint64_t>(H5Dget_offset(logits.dataset));
    const auto size_bytes = static_cast<std::uint64_t>(logits.count()) * sizeof(float);
    if (hdf5::flushed_size(file) != logits_offset + size_bytes)
      fail(
          "HDF5 laid out predictions of {} bytes with {} bytes of logits at {}: the logits are not at the end of the "
          "file",
          hdf5::flushed_size(file), size_bytes, logits_offset);
  }
  bytes.resize(logits_offset);
  return bytes;
}

}  // namespace

bool is_predictions_file(const std::string& path) {
  const FileDescriptor file = open_for_reading(path);
  const std::uint64_t size_bytes = file_size(file, path);
  std::vector<std::byte> begin(std::min(size_bytes, kNamesBytes));
  read_at(file, 0, begin, path);
  try {
    const hdf5::File opened = hdf5::open_in_memory(begin, size_bytes);
    const auto has = [&](const char* member) { return hdf5::exists(opened, member); };
    return has("class_names") && has("names") && has("labels") && has("logits");
  } catch (const Error&) {
    return false;
  }
}

PredictionsWriter::PredictionsWriter(const std::string& path, const PredictedSamples& all_samples)
    : head_bytes_(encode_head(all_samples).size()),
      max_logits_(std::ssize(all_samples.names) * std::ssize(all_samples.class_names)),
      file_(path, head_bytes_ + static_cast<std::uint64_t>(max_logits_) * sizeof(float)) {}

void PredictionsWriter::append(std::span<const float> logits) {
  if (num_logits_ + std::ssize(logits) > max_logits_)
    fail("predictions: {} logits were added, but there is room for only {}", logits.size(), max_logits_ - num_logits_);
  file_.write_at(head_bytes_ + logits_bytes(), std::as_bytes(logits));
  num_logits_ += std::ssize(logits);
}

void PredictionsWriter::finish(const PredictedSamples& samples) {
  const std::int64_t wanted = std::ssize(samples.names) * std::ssize(samples.class_names);
  if (num_logits_ != wanted) fail("predictions: {} logits were written, but {} are expected", num_logits_, wanted);
  file_.write_head("predictions", encode_head(samples), head_bytes_, logits_bytes());
  file_.finish();
}

}  // namespace convoy::io
