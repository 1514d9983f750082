/// Turns samples into what a network reads: one implementation for each kind of input, one loader for all.
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

inline constexpr std::int64_t kNoSample = -1;  ///< marks a position past the data's end

/// The samples of a micro-batch. All random draws for it are keyed by these numbers, so that every rank draws the same.
struct BatchSamples {
  std::int64_t epoch = 0;
  std::int64_t micro_batch = 0;       ///< number within the epoch
  std::vector<std::int64_t> samples;  ///< (N): numbers in the data set; kNoSample
};

/// Fills slots (see FeatureReader). Each thread has its own writer, which may keep memory from sample to sample.
class SlotWriter {
 public:
  virtual ~SlotWriter() = default;

  /// Puts sample i of the micro-batch into its part of the slot. Throws Error with a reason ("it is ...") if the sample
  /// cannot be used, or io::StoreError if the data cannot be read.
  virtual void write(const BatchSamples& batch, std::int64_t i, std::byte* slot) = 0;
  /// Fills the part of sample i with values that count for nothing: past the data's end, and instead of a sample that
  /// cannot be used.
  virtual void write_padding(std::int64_t i, std::byte* slot) = 0;
  /// Completes the slot, after all its parts are written.
  virtual void finish(const BatchSamples& batch, std::byte* slot) = 0;
};

/// Reads a feature that threads prepare ahead of the step. A slot is memory of the host that holds the feature for one
/// micro-batch. Each thread fills slots of its own; one thread hands them to the device, one after the other: start(),
/// then finish(), then the next. A slot may be started before the one before it has left.
class FeatureReader {
 public:
  virtual ~FeatureReader() = default;

  virtual std::int64_t slot_bytes() const = 0;
  /// Makes the writer of one thread. Called before any thread starts.
  virtual std::unique_ptr<SlotWriter> make_writer() const = 0;

  /// Whether start() would return without waiting.
  virtual bool ready() const = 0;
  virtual void start(const std::byte* slot) = 0;
  /// Writes the slot that was started last to the feature's memory on the device, in order with the device's work.
  virtual void finish(void* to) = 0;
  /// Whether the device no longer reads the slot that was finished last, so that its thread may fill it again.
  virtual bool has_left() const = 0;
};

struct FeatureSpec {
  std::string name;         ///< a name of convoy/base/features.h
  TensorSpec spec;          ///< shape and type for a micro-batch
  bool read_ahead = false;  ///< read by a FeatureReader; else written at once by look_up()
};

/// Gives the features of samples for one kind of input. All members may be called from any thread.
class SamplePath {
 public:
  virtual ~SamplePath() = default;

  /// The features that the path gives.
  virtual const std::vector<FeatureSpec>& features() const = 0;
  /// Opens a reader of a feature that is read ahead, for one loader. The path and the backend outlive it.
  virtual std::unique_ptr<FeatureReader> open(std::string_view feature, ops::Backend& backend) const = 0;
  /// Writes a feature that is not read ahead to `to`, in memory of the host. Such features lie in memory, so that
  /// looking them up takes less time than passing them between threads.
  virtual void look_up(std::string_view feature, const BatchSamples& batch, void* to) const = 0;
  /// Describes a sample for messages: "sample 6 ('ant/6') of the images from photos".
  virtual std::string describe(std::int64_t sample) const = 0;
};

}  // namespace convoy
