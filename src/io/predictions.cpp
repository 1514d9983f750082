/// Logits are written past HDF5, whose metadata is made in memory, with a hole where they go, and comes before them.
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
  Impl(const std::string& path, const PredictedSamples& most)
      : head_bytes(encode_head(most).size()),
        most_logits(std::ssize(most.names) * std::ssize(most.class_names)),
        file(path, head_bytes + static_cast<std::uint64_t>(most_logits) * sizeof(float)) {}

  std::uint64_t logits_bytes() const { return static_cast<std::uint64_t>(num_logits) * sizeof(float); }

  std::uint64_t head_bytes;  ///< kept for it, until the end shows that less is enough
  std::int64_t most_logits;
  std::int64_t num_logits = 0;
  AtomicFile file;
};

PredictionsWriter::PredictionsWriter(const std::string& path, const PredictedSamples& most)
    : impl_(std::make_unique<Impl>(path, most)) {}
PredictionsWriter::~PredictionsWriter() = default;
PredictionsWriter::PredictionsWriter(PredictionsWriter&&) noexcept = default;

void PredictionsWriter::append(std::span<const float> logits) {
  if (impl_->num_logits + std::ssize(logits) > impl_->most_logits)
    fail("predictions: {} logits more, where {} are left", logits.size(), impl_->most_logits - impl_->num_logits);
  impl_->file.write_at(impl_->head_bytes + impl_->logits_bytes(), std::as_bytes(logits));
  impl_->num_logits += std::ssize(logits);
}

void PredictionsWriter::finish(const PredictedSamples& samples) {
  const std::int64_t wanted = std::ssize(samples.names) * std::ssize(samples.class_names);
  if (impl_->num_logits != wanted) fail("predictions: {} logits, where {} are due", impl_->num_logits, wanted);
  const std::vector<std::byte> head = encode_head(samples);
  if (head.size() > impl_->head_bytes)
    fail("the head of predictions takes {} bytes, {} were kept for it", head.size(), impl_->head_bytes);
  if (head.size() < impl_->head_bytes) impl_->file.move_down(impl_->head_bytes, head.size(), impl_->logits_bytes());
  impl_->file.write_at(0, head);
  impl_->file.finish();
}

void PredictionsWriter::commit() {
  impl_->file.commit();
}

}  // namespace convoy::io
