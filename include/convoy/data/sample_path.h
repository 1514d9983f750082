/// How samples become what a network reads: one implementation for each kind of input, one loader for all.
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

inline constexpr std::int64_t kNoSample = -1;  ///< past the data's end

/// What stands in a micro-batch. Whatever is drawn for it is keyed by these numbers, so that every rank draws the same.
struct BatchSamples {
  std::int64_t epoch = 0;
  std::int64_t micro_batch = 0;       ///< of the epoch
  std::vector<std::int64_t> samples;  ///< (N): numbers in the data set; kNoSample
};

/// Fills slots. One per thread: it may keep memory from sample to sample.
class SlotWriter {
 public:
  virtual ~SlotWriter() = default;

  /// Puts sample i of the micro-batch into its part of the slot. Throws Error saying what is wrong with the sample
  /// ("it is ..."), or io::StoreError.
  virtual void write(const BatchSamples& batch, std::int64_t i, std::byte* slot) = 0;
  /// Puts there what counts for nothing: past the data's end, and instead of a sample that cannot be used.
  virtual void write_padding(std::int64_t i, std::byte* slot) = 0;
  /// All parts of the slot are written.
  virtual void finish(const BatchSamples& batch, std::byte* slot) = 0;
};

/// A feature that threads prepare ahead of the step. A slot is memory of the host that holds it for one micro-batch.
/// Threads fill slots, each its own; one thread hands them to the device, one after the other: start(), then finish(),
/// then the next. A slot may be started before the one before has left.
class FeatureReader {
 public:
  virtual ~FeatureReader() = default;

  virtual std::int64_t slot_bytes() const = 0;
  /// Called before any thread starts.
  virtual std::unique_ptr<SlotWriter> make_writer() const = 0;

  /// Whether start() would not wait.
  virtual bool ready() const = 0;
  virtual void start(const std::byte* slot) = 0;
  /// What was started last becomes the feature, in memory of the device and in order with its work.
  virtual void finish(void* to) = 0;
  /// Whether the slot that was finished last may be filled again.
  virtual bool has_left() const = 0;
};

struct FeatureSpec {
  std::string name;         ///< convoy/base/features.h
  TensorSpec spec;          ///< of a micro-batch
  bool read_ahead = false;  ///< made by a FeatureReader; else at once by look_up()
};

/// All members may be called from any thread.
class SamplePath {
 public:
  virtual ~SamplePath() = default;

  /// What it gives of the samples.
  virtual const std::vector<FeatureSpec>& features() const = 0;
  /// Of a feature that is read ahead, for one loader. The path and the backend outlive it.
  virtual std::unique_ptr<FeatureReader> open(std::string_view feature, ops::Backend& backend) const = 0;
  /// Of another: what lies in memory anyway, so that looking it up takes less time than handing it from thread to
  /// thread. Writes it to memory of the host.
  virtual void look_up(std::string_view feature, const BatchSamples& batch, void* to) const = 0;
  /// For messages: "sample 6 ('ant/6') of the images from photos".
  virtual std::string describe(std::int64_t sample) const = 0;
};

}  // namespace convoy
