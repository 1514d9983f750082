/// A ring of micro-batches of a feature, between the threads that fill it and the step that empties it.
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

/// Reads a feature ahead. Micro-batches are counted from 0, over all steps.
class ReadAhead {
 public:
  /// Tells the samples of a micro-batch; called by any thread.
  using SamplesOf = std::function<void(std::int64_t s, BatchSamples& batch)>;

  /// Reads a feature of the path. path, device and spec outlive it.
  ReadAhead(const SamplePath& path, std::unique_ptr<FeatureReader> reader, Device& device, SamplesOf samples_of,
            const LoaderSpec& spec);
  /// Ends the threads, also within a micro-batch.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Starts the threads. Separate from the constructor, so that the destructor stops those that started if one cannot.
  void start();
  std::int64_t next() const { return next_; }
  /// Loads micro-batch next(). Throws the error that a thread met in it; the next one can still be loaded.
  void load(void* to);
  /// Returns, if bad samples are skipped, a flag per sample of the micro-batch that was loaded last: 1 if it was bad.
  std::span<const std::uint8_t> bad() const { return bad_; }
  /// Returns the bad samples since the last call.
  std::vector<BadSample> take_bad();
  double wait_seconds() const { return wait_seconds_; }

 private:
  /// Micro-batch s has slot s mod R in round r = floor(s / R), and `turn` says whose it is:
  ///   2r      to be filled by the thread that claimed s
  ///   2r + 1  to be taken by the step
  ///   2r + 2  empty again, for round r + 1
  struct Slot {
    HostBuffer memory;
    std::exception_ptr error;       ///< error that prevented the samples
    std::vector<std::uint8_t> bad;  ///< flag per sample
    std::vector<BadSample> why_bad;
    std::atomic<std::uint32_t> turn{0};
  };

  void work(SlotWriter& writer);
  void fill(const BatchSamples& batch, Slot& mine, SlotWriter& writer) const;
  void note_bad(Slot& taken);
  void start_next();
  void release_taken();
  Slot& slot(std::int64_t s) { return slots_[static_cast<std::size_t>(s % std::ssize(slots_))]; }
  std::uint32_t filling_turn(std::int64_t s) const { return static_cast<std::uint32_t>(2 * (s / std::ssize(slots_))); }
  std::int64_t num_micro_batches() const { return spec_.num_steps * spec_.num_micro_batches; }
  void wait_until_filled(const Slot& filled, std::uint32_t turn);

  const SamplePath& path_;
  const std::unique_ptr<FeatureReader> reader_;
  const SamplesOf samples_of_;
  const LoaderSpec& spec_;
  std::vector<Slot> slots_;
  std::atomic<std::int64_t> next_to_fill_{0};  ///< next micro-batch that a thread claims
  std::int64_t next_ = 0;                      ///< next micro-batch of the step
  std::int64_t num_started_ = 0;               ///< micro-batches on their way to the device or on it
  std::int64_t num_released_ = 0;              ///< micro-batches whose slots may be filled again
  double wait_seconds_ = 0;
  std::atomic<bool> stopping_{false};
  std::vector<std::uint8_t> bad_;
  std::vector<BadSample> why_bad_;
  std::vector<std::unique_ptr<SlotWriter>> writers_;  ///< one per thread
  std::vector<std::jthread> threads_;
};

}  // namespace convoy
