/// A ring buffer of micro-batches of a feature. Threads fill it ahead of the training step, which empties it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "convoy/data/loader.h"
#include "convoy/data/sample_path.h"
#include "convoy/device/device.h"

namespace convoy {

/// Reads a feature ahead of the training step. Micro-batches of the replica are numbered from 0, over all steps.
class ReadAhead {
 public:
  /// A function that sets `batch` to the samples of micro-batch s. Any thread may call it.
  using SamplesOf = std::function<void(std::int64_t s, BatchSamples& batch)>;

  /// Reads the feature of `reader`, which belongs to `path`. `path`, `device` and `spec` must outlive the object.
  ReadAhead(const SamplePath& path, std::unique_ptr<FeatureReader> reader, Device& device, SamplesOf samples_of,
            const LoaderSpec& spec);
  /// Stops the threads, even if they have not completed a micro-batch.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Starts the threads. It is separate from the constructor, so that the destructor stops those that run if another
  /// thread cannot be started.
  void start();
  /// The number of the micro-batch that load() will load.
  std::int64_t next() const { return next_; }
  /// Copies micro-batch next() to the feature's memory `to` on the device, queued on the device's stream. Waits until a
  /// thread has read it. Throws the error that the thread met in it; the micro-batch after it can still be loaded.
  void load(void* to);
  /// Returns the samples of the micro-batch that was loaded last.
  const BatchSamples& samples() const { return samples_; }
  /// Returns a flag for each sample of the micro-batch that was loaded last: 1 if the sample could not be used. Empty
  /// if the spec does not say that bad samples are skipped.
  std::span<const std::uint8_t> bad() const { return bad_; }
  /// Returns the bad samples of the micro-batches that were loaded since the last call.
  std::vector<BadSample> take_bad();
  /// The time in seconds that load() has waited for the threads, in total.
  double wait_seconds() const { return wait_seconds_; }

 private:
  /// Host memory for one micro-batch of the feature. Micro-batch s uses buffer s mod R of the R buffers. This is the
  /// buffer's use number r = floor(s / R). The value of `turn` says who may use the buffer:
  ///   2r      the thread that claimed s, to fill it
  ///   2r + 1  the step, to load it
  ///   2r + 2  the thread of use r + 1: the buffer is empty again
  struct BatchBuffer {
    HostBuffer memory;
    BatchSamples samples;
    std::exception_ptr error;       ///< the error because of which the buffer could not be filled; null: none
    std::vector<std::uint8_t> bad;  ///< for each sample, 1 if it cannot be used; empty if bad samples are not skipped
    std::vector<BadSample> why_bad;
    std::atomic<std::uint32_t> turn{0};
  };

  void work(BufferWriter& writer);
  void fill(BatchBuffer& mine, BufferWriter& writer) const;
  void note_bad(BatchBuffer& taken);
  void start_next();
  void release_taken();
  BatchBuffer& buffer(std::int64_t s) { return buffers_[static_cast<std::size_t>(s % std::ssize(buffers_))]; }
  std::uint32_t filling_turn(std::int64_t s) const {
    return static_cast<std::uint32_t>(2 * (s / std::ssize(buffers_)));
  }
  std::int64_t num_micro_batches() const { return spec_.num_steps * spec_.num_micro_batches; }
  void wait_until_filled(const BatchBuffer& filled, std::uint32_t turn);

  const SamplePath& path_;
  const std::unique_ptr<FeatureReader> reader_;
  const SamplesOf samples_of_;
  const LoaderSpec& spec_;
  std::vector<BatchBuffer> buffers_;
  std::atomic<std::int64_t> next_to_fill_{0};  ///< next micro-batch that a thread claims
  std::int64_t next_ = 0;                      ///< next micro-batch that load() loads
  std::int64_t num_started_ = 0;               ///< number of micro-batches whose copy to the device has been started
  std::int64_t num_released_ = 0;              ///< number of micro-batches whose buffers may be filled again
  double wait_seconds_ = 0;
  std::atomic<bool> stopping_{false};
  BatchSamples samples_;
  std::vector<std::uint8_t> bad_;
  std::vector<BadSample> why_bad_;
  std::vector<std::unique_ptr<BufferWriter>> writers_;  ///< the writer of each thread
  std::vector<std::jthread> threads_;
};

}  // namespace convoy
