/// Reads samples ahead of their use: background threads prepare the next micro-batches while the step computes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/data/batch_source.h"
#include "convoy/data/sample_path.h"
#include "convoy/data/sampler.h"
#include "convoy/ops/backend.h"

namespace convoy {

/// A feature of the samples (convoy/base/features.h) that a rank reads, with the shape and type that it expects.
struct WantedFeature {
  std::string name;
  TensorSpec spec;
  bool by_host = false;  ///< true: load() writes to host memory (for the loss's labels); false: to memory of the device
};

struct LoaderSpec {
  std::int64_t batch_global = 0;
  std::int64_t batch_micro = 0;
  /// Index of this replica's first micro-batch, counted over all replicas of a step.
  std::int64_t first_micro_batch = 0;
  std::int64_t num_micro_batches = 0;  ///< number of micro-batches of this replica per step
  std::int64_t first_step = 0;         ///< index in the run of the first step to load: above 0 after a restart
  std::int64_t num_steps = 0;          ///< number of steps that the loader will provide
  /// Number of steps of an epoch; positions after its last sample are filled with kNoSample.
  std::int64_t steps_per_epoch = 0;
  std::vector<WantedFeature> features;
  std::int64_t threads = 1;  ///< number of threads per feature that is read ahead
  /// Number of micro-batches kept ready, in addition to those that the threads are filling.
  std::int64_t read_ahead = 3;
  /// True: a sample that cannot be used is replaced by padding and listed; false: it is an error.
  bool skips_bad = false;

  /// Number of micro-batches that are in memory at a time, for each feature that is read ahead.
  std::int64_t num_buffers() const { return threads + read_ahead; }
};

struct BadSample {
  std::int64_t sample = 0;  ///< index of the sample in the data set
  std::string reason;       ///< why it cannot be used, beginning with "it is ..."
};

/// Loads the micro-batches of one replica. Micro-batch m of step t holds the samples at positions (t mod
/// steps_per_epoch) * batch_global + m * batch_micro + i of the epoch, with m counted over all replicas.
///
/// The constructor starts the threads, which sleep while enough is read ahead; the destructor ends them, even within a
/// micro-batch. load() throws the error that a thread met in its micro-batch. A feature that is read ahead must be
/// loaded once per micro-batch, in ascending order, step after step. A feature that is looked up may be loaded in any
/// order within a step, and repeatedly. All members must be called by the same thread. path, sampler and backend must
/// outlive the loader.
class Loader final : public BatchSource {
 public:
  /// Starts the threads. Throws Error if spec.features has a feature that the path does not provide, or provides with
  /// another shape or type.
  Loader(const SamplePath& path, const Sampler& sampler, ops::Backend& backend, const LoaderSpec& spec);
  ~Loader() override;

  void begin_step() override;
  void load(std::string_view feature, std::int64_t micro_batch, void* to) override;

  /// Returns a flag for each sample of this replica's micro-batches that have been loaded in this step: 1 if it could
  /// not be used. Empty if LoaderSpec::skips_bad is false, or if no feature is read ahead. Valid until the next
  /// begin_step().
  std::span<const std::uint8_t> bad_flags() const;
  /// Returns the samples that could not be used, among those loaded since the last call.
  std::vector<BadSample> take_bad();

  double wait_seconds() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy
