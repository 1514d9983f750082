/// HDF5's metadata in memory first, with a hole where the logits go; they are written past HDF5.
#include "convoy/io/predictions.h"

#include <bit>

#include "convoy/base/error.h"

#include "io/atomic_file.h"
#include "io/hdf5.h"
#include "io/memory_driver.h"

namespace convoy::io {

namespace {

static_assert(std::endian::native == std::endian::little, "logits are written as they are in memory");

std::vector<std::byte> encode_head(const PredictedSamples& samples) {
  const std::int64_t count = std::ssize(samples.names), num_classes = std::ssize(samples.class_names);
  std::vector<std::byte> bytes;
  std::uint64_t logits_offset = 0;
  {
    const hdf5::File file = hdf5::create_in_memory(bytes);
    hdf5::write_texts(file, "class_names", samples.class_names);
    hdf5::write_texts(file, "names", samples.names);
    const hdf5::Array labels = hdf5::create_array(file, "labels", H5T_STD_I32LE, {&count, 1});
    CONVOY_CHECK_HDF5(H5Dwrite(labels.dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, samples.labels.data()));
    const std::int64_t dims[] = {count, num_classes};
    const hdf5::Array logits = hdf5::create_array(file, "logits", H5T_IEEE_F32LE, dims);
    hdf5::place(logits, H5T_IEEE_F32LE);
    logits_offset = static_cast<std::uint64_t>(H5Dget_offset(logits.dataset));
    const auto size_bytes = static_cast<std::uint64_t>(logits.count()) * sizeof(float);
    if (hdf5::flushed_size(file) != logits_offset + size_bytes)
      fail("HDF5 laid out predictions of {} bytes with {} bytes of logits at {}: they do not stand last",
           hdf5::flushed_size(file), size_bytes, logits_offset);
  }
  bytes.resize(logits_offset);
  return bytes;
}

}  // namespace

struct PredictionsWriter::Impl {
  Impl(const std::string& path, const PredictedSamples& samples)
      : head(encode_head(samples)),
        num_left(std::ssize(samples.names) * std::ssize(samples.class_names)),
        file(path, head.size() + static_cast<std::uint64_t>(num_left) * sizeof(float)) {
    file.write(head);
    head = {};
  }

  std::vector<std::byte> head;  ///< until it is written
  std::int64_t num_left;        ///< logits
  AtomicFile file;
};

PredictionsWriter::PredictionsWriter(const std::string& path, const PredictedSamples& samples)
    : impl_(std::make_unique<Impl>(path, samples)) {}
PredictionsWriter::~PredictionsWriter() = default;
PredictionsWriter::PredictionsWriter(PredictionsWriter&&) noexcept = default;

void PredictionsWriter::append(std::span<const float> logits) {
  if (std::ssize(logits) > impl_->num_left)
    fail("predictions: {} logits more, where {} are left", logits.size(), impl_->num_left);
  impl_->file.write(std::as_bytes(logits));
  impl_->num_left -= std::ssize(logits);
}

void PredictionsWriter::finish() {
  if (impl_->num_left != 0) fail("predictions: {} logits are missing", impl_->num_left);
  impl_->file.finish();
}

void PredictionsWriter::commit() {
  finish();
  impl_->file.commit();
}

}  // namespace convoy::io
