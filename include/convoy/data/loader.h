/// Reads ahead: background threads prepare the next micro-batches while the step computes.
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

/// What a rank reads of its samples, as it expects it.
struct WantedFeature {
  std::string name;
  TensorSpec spec;
  bool by_host = false;  ///< it is loaded to memory of the host (the loss's labels), else of the device
};

struct LoaderSpec {
  std::int64_t batch_global = 0;
  std::int64_t batch_micro = 0;
  std::int64_t first_micro_batch = 0;  ///< of this replica within the step
  std::int64_t num_micro_batches = 0;  ///< of this replica a step
  std::int64_t first_step = 0;         ///< where to begin (restart)
  std::int64_t num_steps = 0;          ///< to give in all
  std::int64_t steps_per_epoch = 0;    ///< step / steps_per_epoch is the epoch; positions past the data are kNoSample
  std::vector<WantedFeature> features;
  std::int64_t threads = 1;     ///< for each feature that is read ahead
  std::int64_t read_ahead = 3;  ///< micro-batches held ready, beside the one that each thread fills
  bool skips_bad = false;       ///< a sample that cannot be used counts for nothing and is listed; else an error

  /// Micro-batches of such a feature in memory.
  std::int64_t num_slots() const { return threads + read_ahead; }
};

struct BadSample {
  std::int64_t sample = 0;
  std::string reason;  ///< "it is ..."
};

/// Micro-batch m of step t holds the samples at positions (t mod steps_per_epoch) * batch_global + m * batch_micro + i.
/// Threads start on construction and end on destruction, also in the middle; they sleep while all is read ahead. An
/// error in a thread is thrown by the load of its micro-batch. What is read ahead must be asked for once, in ascending
/// order, step after step; what is looked up, in any order within a step and as often as it is read. By one thread.
/// path, sampler and backend must outlive the loader.
class Loader final : public BatchSource {
 public:
  /// Throws Error where a feature is wanted that the path does not give, or gives in another shape or type.
  Loader(const SamplePath& path, const Sampler& sampler, ops::Backend& backend, const LoaderSpec& spec);
  ~Loader() override;

  void begin_step() override;
  void load(std::string_view feature, std::int64_t micro_batch, void* to) override;

  /// Where bad samples are skipped: 1 for each of this replica's samples of a step that was bad, as far as they have
  /// been loaded. Read between steps.
  std::span<const std::uint8_t> bad_flags() const;
  /// The bad ones among what was loaded since the last call.
  std::vector<BadSample> take_bad();

  double wait_seconds() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy
