/// Turns samples into a network's input: one implementation for each kind of input, one loader for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/tensor_spec.h"
#include "convoy/ops/backend.h"

namespace convoy {

inline constexpr std::int64_t kNoSample = -1;  ///< sample index at a position after the last sample of an epoch

/// The samples of a micro-batch. All random numbers for it are computed from these numbers, so every rank gets the
/// same.
struct BatchSamples {
  std::int64_t epoch = 0;
  std::int64_t micro_batch = 0;       ///< index of the micro-batch within the epoch, over all replicas
  std::vector<std::int64_t> samples;  ///< (N) indices of the samples in the data set, or kNoSample
};

/// Fills buffers: a buffer is host memory that holds one feature of one micro-batch (FeatureReader). Each thread has
/// its own writer, which may reuse its memory for the next sample.
class BufferWriter {
 public:
  virtual ~BufferWriter() = default;

  /// Writes sample i of the micro-batch into its part of the buffer. Throws Error with a reason ("it is ...") if the
  /// sample cannot be used, or io::StoreError if the data cannot be read.
  virtual void write(const BatchSamples& batch, std::int64_t i, std::byte* buffer) = 0;
  /// Fills the part of sample i with padding, which does not count: after the last sample of an epoch, or instead of a
  /// sample that cannot be used.
  virtual void write_padding(std::int64_t i, std::byte* buffer) = 0;
  /// Completes the buffer after all its parts have been written, for instance with the mixing of images.
  virtual void finish(const BatchSamples& batch, std::byte* buffer) = 0;
};

/// Moves a feature that threads prepare ahead to the device. A buffer is host memory that holds the feature for one
/// micro-batch. Each thread fills its own buffers. One thread hands the filled buffers to the device, one after the
/// other, by start() and then finish(). It may start a buffer before the device has read the one before.
class FeatureReader {
 public:
  virtual ~FeatureReader() = default;

  virtual std::int64_t buffer_bytes() const = 0;
  /// Makes the writer of one thread. Called before any thread starts.
  virtual std::unique_ptr<BufferWriter> make_writer() const = 0;

  /// Whether start() would return without waiting.
  virtual bool ready() const = 0;
  /// Starts the copy of a filled buffer to the device; waits until ready().
  virtual void start(const std::byte* buffer) = 0;
  /// Queues the work that writes the buffer that was started last to `to`, memory of the device, on the device's
  /// stream.
  virtual void finish(void* to) = 0;
  /// Whether the device has read the buffer that was finished last, so that a thread may fill the buffer again.
  virtual bool has_left() const = 0;
};

struct FeatureSpec {
  std::string name;  ///< a name of convoy/base/features.h
  TensorSpec spec;   ///< shape and type of the feature for a micro-batch
  /// True: prepared by threads through a FeatureReader; false: written when asked for, by look_up().
  bool read_ahead = false;
};

/// Provides the features of samples for one kind of input. All members may be called from any thread.
class SamplePath {
 public:
  virtual ~SamplePath() = default;

  /// The features that this path provides.
  virtual const std::vector<FeatureSpec>& features() const = 0;
  /// Opens a reader of a feature whose FeatureSpec::read_ahead is true, for one loader. The path and the backend must
  /// outlive the reader.
  virtual std::unique_ptr<FeatureReader> open(std::string_view feature, ops::Backend& backend) const = 0;
  /// Writes a feature whose FeatureSpec::read_ahead is false to `to`, in host memory. The values of such a feature are
  /// in memory already, so writing them takes less time than a transfer between threads.
  virtual void look_up(std::string_view feature, const BatchSamples& batch, void* to) const = 0;
  /// Describes a sample for messages: "sample 6 ('ant/6') of the images from photos".
  virtual std::string describe(std::int64_t sample) const = 0;
};

}  // namespace convoy
