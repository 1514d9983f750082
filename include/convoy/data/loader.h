/// Reads samples ahead: background threads prepare the next micro-batches while the step computes.
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

/// A feature that a rank reads of its samples, with the shape and type that it expects.
struct WantedFeature {
  std::string name;
  TensorSpec spec;
  bool by_host = false;  ///< loaded to memory of the host (the loss's labels), else of the device
};

struct LoaderSpec {
  std::int64_t batch_global = 0;
  std::int64_t batch_micro = 0;
  std::int64_t first_micro_batch = 0;  ///< number of this replica's first one within the step
  std::int64_t num_micro_batches = 0;  ///< micro-batches of this replica per step
  std::int64_t first_step = 0;         ///< first step to load (restart)
  std::int64_t num_steps = 0;          ///< steps to load in all
  std::int64_t steps_per_epoch = 0;    ///< epoch = step / steps_per_epoch; positions past the data: kNoSample
  std::vector<WantedFeature> features;
  std::int64_t threads = 1;     ///< threads per feature that is read ahead
  std::int64_t read_ahead = 3;  ///< micro-batches held ready, in addition to the one that each thread fills
  bool skips_bad = false;       ///< a bad sample counts for nothing and is listed; else it is an error

  /// Number of micro-batches in memory per feature that is read ahead.
  std::int64_t num_slots() const { return threads + read_ahead; }
};

struct BadSample {
  std::int64_t sample = 0;
  std::string reason;  ///< "it is ..."
};

/// Micro-batch m of step t holds the samples at positions (t mod steps_per_epoch) * batch_global + m * batch_micro + i.
/// The constructor starts the threads, and the destructor ends them, also within a micro-batch; they sleep while
/// everything is read ahead. load() throws the error that a thread met in its micro-batch. A feature that is read ahead
/// must be loaded once per micro-batch, in ascending order, step after step; one that is looked up may be loaded in any
/// order within a step, and repeatedly. All members are called by one thread. path, sampler and backend must outlive
/// the loader.
class Loader final : public BatchSource {
 public:
  /// Throws Error if a feature is wanted that the path does not give, or gives with another shape or type.
  Loader(const SamplePath& path, const Sampler& sampler, ops::Backend& backend, const LoaderSpec& spec);
  ~Loader() override;

  void begin_step() override;
  void load(std::string_view feature, std::int64_t micro_batch, void* to) override;

  /// Returns, if bad samples are skipped, a flag for each of this replica's samples of the step: 1 if it was bad, as
  /// far as samples have been loaded. Read between steps.
  std::span<const std::uint8_t> bad_flags() const;
  /// Returns the bad samples among those loaded since the last call.
  std::vector<BadSample> take_bad();

  double wait_seconds() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy
