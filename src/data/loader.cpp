/// Assigns samples to micro-batches, and loads each feature: read ahead or looked up.
#include "convoy/data/loader.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <thread>

#include "convoy/base/error.h"
#include "convoy/device/device.h"

#include "data/read_ahead.h"

namespace convoy {

namespace {

/// A feature that is looked up when it is asked for. Host memory is written at once. Memory of a device is written from
/// one of two buffers in turn, in order with the device's work.
class LookedUpFeature {
 public:
  /// `by_host`: the feature is written to memory of the host. path and device outlive the object.
  LookedUpFeature(const SamplePath& path, const FeatureSpec& feature, Device& device, bool by_host)
      : path_(path), feature_(feature), by_host_(by_host), is_direct_(by_host || device.is_host()) {
    if (is_direct_) return;
    for (Way& way : ways_) way = {HostBuffer(device, feature_.spec.bytes()), device.make_copy_lane()};
  }

  bool by_host() const { return by_host_; }

  void load(const BatchSamples& batch, void* to) {
    if (is_direct_) {
      path_.look_up(feature_.name, batch, to);
      return;
    }
    Way& way = ways_[num_loads_++ % ways_.size()];
    while (!way.lane->done()) std::this_thread::yield();
    path_.look_up(feature_.name, batch, way.memory.data());
    way.lane->mark();  // waits for work that still reads the old values
    way.lane->start_to_device(to, way.memory.data(), feature_.spec.bytes());
    way.lane->join();
  }

 private:
  struct Way {
    HostBuffer memory;
    std::unique_ptr<CopyLane> lane;
  };

  const SamplePath& path_;
  FeatureSpec feature_;
  bool by_host_, is_direct_;
  std::array<Way, 2> ways_;
  std::size_t num_loads_ = 0;
};

}  // namespace

struct Loader::Impl {
  Impl(const SamplePath& path_in, const Sampler& sampler_in, ops::Backend& backend, const LoaderSpec& spec_in);

  void add(const WantedFeature& wanted, ops::Backend& backend);
  const FeatureSpec& given(const WantedFeature& wanted) const;
  void samples_of(std::int64_t s, BatchSamples& batch) const;
  const BatchSamples& samples_to_look_up(std::int64_t s);
  void load_next(ReadAhead& feature, std::string_view name, std::int64_t micro_batch, void* to);

  const SamplePath& path;
  const Sampler& sampler;
  const LoaderSpec spec;

  std::int64_t step = -1;  ///< step of those to be loaded, counted from 0; -1: none has begun
  BatchSamples batch;      ///< samples of features that are looked up
  std::map<std::string, std::unique_ptr<ReadAhead>, std::less<>> read_ahead;
  std::map<std::string, LookedUpFeature, std::less<>> looked_up;
  std::vector<std::uint8_t> bad_flags;  ///< of the step; used if bad samples are skipped
};

Loader::Impl::Impl(const SamplePath& path_in, const Sampler& sampler_in, ops::Backend& backend,
                   const LoaderSpec& spec_in)
    : path(path_in), sampler(sampler_in), spec(spec_in) {
  if (spec.threads < 1 || spec.read_ahead < 1)
    fail("loader: {} threads and {} micro-batches read ahead: at least 1 of each is needed", spec.threads,
         spec.read_ahead);
  if (spec.batch_micro < 1 || spec.num_micro_batches < 1 || spec.steps_per_epoch < 1 || spec.num_steps < 0 ||
      (spec.first_micro_batch + spec.num_micro_batches) * spec.batch_micro > spec.batch_global) {
    fail("loader: {} micro-batches of {} samples, from number {} on, do not fit in a batch of {} samples",
         spec.num_micro_batches, spec.batch_micro, spec.first_micro_batch, spec.batch_global);
  }
  for (const WantedFeature& wanted : spec.features) add(wanted, backend);
  if (spec.skips_bad && !read_ahead.empty())
    bad_flags.resize(static_cast<std::size_t>(spec.num_micro_batches * spec.batch_micro));
}

const FeatureSpec& Loader::Impl::given(const WantedFeature& wanted) const {
  const auto found = std::ranges::find(path.features(), wanted.name, &FeatureSpec::name);
  if (found == path.features().end()) fail("loader: these samples have no {}", wanted.name);
  if (found->spec != wanted.spec)
    fail("loader: {} is read as {}, but these samples provide {}", wanted.name, to_string(wanted.spec),
         to_string(found->spec));
  return *found;
}

void Loader::Impl::add(const WantedFeature& wanted, ops::Backend& backend) {
  const FeatureSpec& feature = given(wanted);
  if (!feature.read_ahead) {
    const auto [same, is_new] = looked_up.try_emplace(feature.name, path, feature, backend.device(), wanted.by_host);
    if (same->second.by_host() != wanted.by_host)
      fail("loader: {} is read by the host and by the device, but only one of them can read it", wanted.name);
    return;
  }
  auto [added, is_new] = read_ahead.try_emplace(feature.name);
  if (!is_new || wanted.by_host) fail("loader: {} can be read by one cell only", feature.name);
  added->second = std::make_unique<ReadAhead>(
      path, path.open(feature.name, backend), backend.device(),
      [this](std::int64_t s, BatchSamples& of) { samples_of(s, of); }, spec);
}

// Writes the samples of the s-th micro-batch of this replica to `of`.
void Loader::Impl::samples_of(std::int64_t s, BatchSamples& of) const {
  const std::int64_t in_run = spec.first_step + s / spec.num_micro_batches;
  const std::int64_t in_step = spec.first_micro_batch + s % spec.num_micro_batches;
  const std::int64_t first = in_run % spec.steps_per_epoch * spec.batch_global + in_step * spec.batch_micro;
  of.epoch = in_run / spec.steps_per_epoch;
  of.micro_batch = first / spec.batch_micro;
  of.samples.resize(static_cast<std::size_t>(spec.batch_micro));
  const auto num = std::clamp<std::int64_t>(sampler.num_samples() - first, 0, spec.batch_micro);
  const auto given = std::span(of.samples).first(static_cast<std::size_t>(num));
  sampler.samples(of.epoch, first, given);
  std::fill(of.samples.begin() + num, of.samples.end(), kNoSample);
}

// Returns the samples of the s-th micro-batch. A feature that is read ahead and was loaded last has them already.
const BatchSamples& Loader::Impl::samples_to_look_up(std::int64_t s) {
  for (const auto& [name, feature] : read_ahead)
    if (feature->next() == s + 1) return feature->samples();
  samples_of(s, batch);
  return batch;
}

void Loader::Impl::load_next(ReadAhead& feature, std::string_view name, std::int64_t micro_batch, void* to) {
  const std::int64_t s = step * spec.num_micro_batches + micro_batch;
  if (s != feature.next())
    fail("loader: {} of micro-batch {} was requested, but that of micro-batch {} comes next", name, micro_batch,
         feature.next() % spec.num_micro_batches);
  feature.load(to);
  const auto bad = feature.bad();
  for (std::size_t i = 0; i < bad.size(); ++i)
    bad_flags[static_cast<std::size_t>(micro_batch * spec.batch_micro) + i] |= bad[i];
}

Loader::Loader(const SamplePath& path, const Sampler& sampler, ops::Backend& backend, const LoaderSpec& spec)
    : impl_(std::make_unique<Impl>(path, sampler, backend, spec)) {
  for (const auto& [name, feature] : impl_->read_ahead) feature->start();
}

Loader::~Loader() = default;

void Loader::begin_step() {
  if (++impl_->step >= impl_->spec.num_steps)
    fail("loader: a step was requested after the last of {} steps", impl_->spec.num_steps);
  std::ranges::fill(impl_->bad_flags, 0);
}

void Loader::load(std::string_view feature, std::int64_t micro_batch, void* to) {
  Impl& own = *impl_;
  if (own.step < 0 || micro_batch < 0 || micro_batch >= own.spec.num_micro_batches)
    fail("loader: {} of micro-batch {} was requested, but no step has begun, or it has only {} micro-batches", feature,
         micro_batch, own.spec.num_micro_batches);
  if (const auto found = own.read_ahead.find(feature); found != own.read_ahead.end()) {
    own.load_next(*found->second, feature, micro_batch, to);
  } else if (const auto other = own.looked_up.find(feature); other != own.looked_up.end()) {
    other->second.load(own.samples_to_look_up(own.step * own.spec.num_micro_batches + micro_batch), to);
  } else {
    fail("loader: this rank does not read {}", feature);
  }
}

std::span<const std::uint8_t> Loader::bad_flags() const {
  return impl_->bad_flags;
}

std::vector<BadSample> Loader::take_bad() {
  std::vector<BadSample> all;
  for (const auto& [name, feature] : impl_->read_ahead) std::ranges::move(feature->take_bad(), std::back_inserter(all));
  return all;
}

double Loader::wait_seconds() const {
  double seconds = 0;
  for (const auto& [name, feature] : impl_->read_ahead) seconds += feature->wait_seconds();
  return seconds;
}

}  // namespace convoy
