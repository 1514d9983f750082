/// A ring of micro-batches between worker threads that fill it and the step that empties it.
#include "convoy/data/loader.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <thread>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "data/image_path.h"
#include "data/mixup.h"

namespace convoy {

namespace {

/// One micro-batch's images. Micro-batch number s has slot s mod R in round r = floor(s / R), and `turn` says whose it
/// is:
///   2r      to be filled by the worker that claimed s
///   2r + 1  to be taken by the step
///   2r + 2  empty again, for round r + 1
struct Slot {
  HostBuffer images;              ///< and their cuts, as the image path has them
  std::exception_ptr error;       ///< in place of the images
  std::vector<std::uint8_t> bad;  ///< by place, 1 where the image was bad; empty where that is an error
  std::vector<BadSample> why_bad;
  std::atomic<std::uint32_t> turn{0};
};

/// What a thread keeps from sample to sample.
struct Worker {
  ImagePreparer preparer;
  std::vector<std::byte> memory = {};     ///< a file, or pixels of another size than the network's
  std::vector<ops::ImageMix> mixes = {};  ///< by place
};

constexpr std::uint32_t kStop = 0xffffffff;  ///< odd, and a round that no run reaches

}  // namespace

struct Loader::Impl {
  Impl(const io::SampleStore& samples_in, const Sampler& sampler_in, const Augmenter& augmenter_in,
       ops::Library& library, const LoaderSpec& spec_in);
  ~Impl();
  void start();

  /// Where the i-th sample of the s-th micro-batch of this replica stands.
  struct Place {
    std::int64_t epoch = 0;
    std::int64_t position = 0;
  };
  Place place(std::int64_t s, std::int64_t i) const;
  /// What that place is mixed with; past the data nothing is.
  ops::ImageMix mix(std::int64_t s, std::int64_t i) const;
  bool mixes() const { return augmentation.mixup > 0; }

  void work(Worker& worker);
  void fill(std::int64_t s, Slot& mine, Worker& worker) const;
  std::span<std::byte> place_for_pixels(std::int64_t i, Slot& mine, Worker& worker) const;
  void prepare(const ImageOrder& order, std::int64_t i, Slot& mine, Worker& worker) const;
  void note_bad(std::int64_t s);
  void start_images(std::int64_t s);
  void release_taken();
  Slot& slot(std::int64_t s) { return slots[static_cast<std::size_t>(s % num_slots)]; }
  std::uint32_t filling_turn(std::int64_t s) const { return static_cast<std::uint32_t>(2 * (s / num_slots)); }
  void wait_until_filled(const Slot& filled, std::uint32_t turn);
  std::int64_t advance(std::int64_t& next, std::int64_t micro_batch, std::string_view feature) const;
  void load_images(std::int64_t micro_batch, void* x);
  std::int32_t label(std::int64_t s, std::int64_t i) const;

  const io::SampleStore& samples;
  const Sampler& sampler;
  const AugmentationSpec augmentation;
  const LoaderSpec spec;
  const std::int64_t num_micro_batches_in_all;
  const std::int64_t num_slots;

  std::unique_ptr<ImagePath> path;
  std::vector<Slot> slots;
  std::atomic<std::int64_t> next_to_fill{0};  ///< claimed by the workers
  std::int64_t next_images = 0;               ///< the step's
  std::int64_t num_started = 0;               ///< on their way to the device or there
  std::int64_t num_released = 0;              ///< may be filled again
  std::int64_t next_labels = 0, next_mixed_labels = 0;
  double wait_seconds = 0;
  std::atomic<bool> stopping{false};
  std::vector<std::uint8_t> bad_places;  ///< of the step, where bad images are skipped
  std::vector<BadSample> why_bad;
  std::vector<Worker> workers;
  std::vector<std::jthread> threads;
};

Loader::Impl::Impl(const io::SampleStore& samples_in, const Sampler& sampler_in, const Augmenter& augmenter,
                   ops::Library& library, const LoaderSpec& spec_in)
    : samples(samples_in),
      sampler(sampler_in),
      augmentation(augmenter.spec()),
      spec(spec_in),
      num_micro_batches_in_all(spec_in.num_steps * spec_in.num_micro_batches),
      num_slots(spec_in.num_slots()),
      slots(spec_in.images ? static_cast<std::size_t>(num_slots) : 0) {
  if (spec.threads < 1 || spec.read_ahead < 1) fail("loader: {} threads, {} ahead", spec.threads, spec.read_ahead);
  if (spec.batch_micro < 1 || spec.num_micro_batches < 1 || spec.steps_per_epoch < 1 || spec.num_steps < 0 ||
      (spec.first_micro_batch + spec.num_micro_batches) * spec.batch_micro > spec.batch_global) {
    fail("loader: {} micro-batches of {} from {} on do not lie in a batch of {}", spec.num_micro_batches,
         spec.batch_micro, spec.first_micro_batch, spec.batch_global);
  }
  if (augmenter.stored() != samples.info().image) {
    fail("loader: images of {} cannot be augmented as {}", to_string(samples.info().image),
         to_string(augmenter.stored()));
  }
  if (!spec.images) return;
  path = std::make_unique<ImagePath>(augmenter, ImagePathSpec{.batch_micro = spec.batch_micro, .type = spec.type},
                                     library);
  for (Slot& s : slots) s.images = HostBuffer(library.device(), path->slot_bytes());
  if (spec.skips_bad) {
    for (Slot& s : slots) s.bad.resize(static_cast<std::size_t>(spec.batch_micro));
    bad_places.resize(static_cast<std::size_t>(spec.num_micro_batches * spec.batch_micro));
  }
  for (std::int64_t i = 0; i < spec.threads; ++i)
    workers.push_back({.preparer = ImagePreparer(augmenter, samples.info().oriented)});
  if (mixes())
    for (Worker& worker : workers) worker.mixes.resize(static_cast<std::size_t>(spec.batch_micro));
}

// Apart from the constructor, so that the destructor stops those that started where one cannot.
void Loader::Impl::start() {
  for (Worker& worker : workers) threads.emplace_back([this, &worker] { work(worker); });
}

// The order of the lines matters: a worker in the midst of a micro-batch sees `stopping`, one that waits sees kStop.
Loader::Impl::~Impl() {
  stopping = true;
  for (Slot& s : slots) {
    s.turn = kStop;
    s.turn.notify_all();
  }
  threads.clear();  // joins
}

Loader::Impl::Place Loader::Impl::place(std::int64_t s, std::int64_t i) const {
  const std::int64_t step = spec.first_step + s / spec.num_micro_batches;
  const std::int64_t micro_batch = spec.first_micro_batch + s % spec.num_micro_batches;
  return {step / spec.steps_per_epoch,
          step % spec.steps_per_epoch * spec.batch_global + micro_batch * spec.batch_micro + i};
}

ops::ImageMix Loader::Impl::mix(std::int64_t s, std::int64_t i) const {
  const auto [epoch, position] = place(s, i);
  if (position >= sampler.num_samples()) return {.partner = static_cast<std::int32_t>(i)};
  const ops::ImageMix mix = draw_mix(augmentation, {.epoch = epoch,
                                                    .micro_batch = position / spec.batch_micro,
                                                    .num_places = spec.batch_micro,
                                                    .place = i,
                                                    .sample = sampler.sample(epoch, position)});
  if (place(s, mix.partner).position >= sampler.num_samples()) return {.partner = static_cast<std::int32_t>(i)};
  return mix;
}

void Loader::Impl::work(Worker& worker) {
  for (;;) {
    const std::int64_t s = next_to_fill++;
    if (s >= num_micro_batches_in_all) return;
    Slot& mine = slot(s);
    std::uint32_t expected = filling_turn(s);
    for (std::uint32_t turn = mine.turn; turn != expected; turn = mine.turn) {
      if (turn == kStop) return;
      mine.turn.wait(turn);
    }
    try {
      fill(s, mine, worker);
    } catch (...) {
      mine.error = std::current_exception();
    }
    if (!mine.turn.compare_exchange_strong(expected, expected + 1)) return;  // kStop came in between
    mine.turn.notify_all();
  }
}

void Loader::Impl::fill(std::int64_t s, Slot& mine, Worker& worker) const {
  for (std::int64_t i = 0; i < spec.batch_micro; ++i) {
    if (stopping.load(std::memory_order_relaxed)) return;
    const auto [epoch, position] = place(s, i);
    const bool black = position >= sampler.num_samples();
    const ImageOrder order{.epoch = epoch, .sample = black ? 0 : sampler.sample(epoch, position), .black = black};
    if (spec.skips_bad) mine.bad[static_cast<std::size_t>(i)] = 0;
    try {
      prepare(order, i, mine, worker);
    } catch (const io::StoreError&) {
      throw;  // no image is bad, and none of the next could be trusted
    } catch (const Error& error) {
      if (!spec.skips_bad)
        fail("sample {} ('{}') of the images from {} cannot be used: {}", order.sample, samples.name(order.sample),
             samples.info().source, error.what());
      mine.bad[static_cast<std::size_t>(i)] = 1;
      mine.why_bad.push_back({.sample = order.sample, .reason = error.what()});
      path->prepare(mine.images.data(), i, {.black = true}, worker.preparer);
    }
  }
  if (!mixes()) return;
  for (std::int64_t i = 0; i < spec.batch_micro; ++i) worker.mixes[static_cast<std::size_t>(i)] = mix(s, i);
  ImagePath::mix(mine.images.data(), worker.mixes);
}

// Where they are wanted in the end, if that is large enough: most have the network's size, and need not be moved again.
std::span<std::byte> Loader::Impl::place_for_pixels(std::int64_t i, Slot& mine, Worker& worker) const {
  const auto size = static_cast<std::size_t>(samples.info().image.count());
  const std::span<std::byte> place = path->place(mine.images.data(), i);
  if (size <= place.size()) return place.first(size);
  worker.memory.resize(size);
  return worker.memory;
}

void Loader::Impl::prepare(const ImageOrder& order, std::int64_t i, Slot& mine, Worker& worker) const {
  ImageOrder filled = order;
  if (!order.black) {
    if (samples.info().encoded) {
      filled.file = samples.read_file(order.sample, worker.memory);
    } else {
      const std::span<std::byte> pixels = place_for_pixels(i, mine, worker);
      samples.read_pixels(order.sample, pixels);
      filled.image = reinterpret_cast<const std::uint8_t*>(pixels.data());
    }
  }
  path->prepare(mine.images.data(), i, filled, worker.preparer);
}

// Of a micro-batch that the step takes.
void Loader::Impl::note_bad(std::int64_t s) {
  if (!spec.skips_bad) return;
  Slot& taken = slot(s);
  std::copy(taken.bad.begin(), taken.bad.end(), bad_places.begin() + s % spec.num_micro_batches * spec.batch_micro);
  std::move(taken.why_bad.begin(), taken.why_bad.end(), std::back_inserter(why_bad));
  taken.why_bad.clear();
}

void Loader::Impl::wait_until_filled(const Slot& filled, std::uint32_t turn) {
  if (filled.turn == turn + 1) return;
  const ScopedTimer timer(wait_seconds);
  while (filled.turn != turn + 1) filled.turn.wait(turn);
}

/// The number of the micro-batch that comes next; checks that it is the one asked for.
std::int64_t Loader::Impl::advance(std::int64_t& next, std::int64_t micro_batch, std::string_view feature) const {
  const std::int64_t s = next;
  if (s >= num_micro_batches_in_all) fail("loader: all {} steps were given", spec.num_steps);
  if (micro_batch != s % spec.num_micro_batches) {
    fail("loader: {}s of micro-batch {} asked for, {} comes next", feature, micro_batch, s % spec.num_micro_batches);
  }
  ++next;
  return s;
}

Loader::Loader(const io::SampleStore& samples, const Sampler& sampler, const Augmenter& augmenter,
               ops::Library& library, const LoaderSpec& spec)
    : impl_(std::make_unique<Impl>(samples, sampler, augmenter, library, spec)) {
  impl_->start();
}

Loader::~Loader() = default;

// Waits until micro-batch s is filled, then sends it on its way.
void Loader::Impl::start_images(std::int64_t s) {
  Slot& filled = slot(s);
  wait_until_filled(filled, filling_turn(s));
  ++num_started;
  if (!filled.error) path->start(filled.images.data());
}

// What was given before has left its slot by now, or will in a moment: the step is that far ahead of the device.
void Loader::Impl::release_taken() {
  for (; num_released < next_images; ++num_released) {
    while (!path->has_left()) std::this_thread::yield();
    Slot& left = slot(num_released);
    left.turn = filling_turn(num_released) + 2;
    left.turn.notify_all();
  }
}

void Loader::Impl::load_images(std::int64_t micro_batch, void* x) {
  if (!spec.images) fail("loader: this rank does not read images");
  release_taken();
  const std::int64_t s = advance(next_images, micro_batch, features::kImage);
  if (num_started == s) start_images(s);
  if (const auto error = std::exchange(slot(s).error, nullptr)) std::rethrow_exception(error);
  note_bad(s);
  path->finish(x);
  if (path->has_left()) release_taken();
  // The next one's way may begin while the device works on this one.
  const std::int64_t next = s + 1;
  if (next < num_micro_batches_in_all && slot(next).turn == filling_turn(next) + 1 && path->ready()) start_images(next);
}

// Labels lie in memory: looking them up takes less time than handing them from thread to thread.
std::int32_t Loader::Impl::label(std::int64_t s, std::int64_t i) const {
  const auto [epoch, position] = place(s, i);
  return position >= sampler.num_samples() ? ops::kNoLabel : samples.label(sampler.sample(epoch, position));
}

void Loader::load(std::string_view feature, std::int64_t micro_batch, void* to) {
  Impl& own = *impl_;
  if (feature == features::kImage) return own.load_images(micro_batch, to);
  if (!own.spec.labels) fail("loader: this rank does not read labels");
  const std::int64_t num = own.spec.batch_micro;
  if (feature == features::kLabel) {
    const std::int64_t s = own.advance(own.next_labels, micro_batch, feature);
    auto* labels = static_cast<std::int32_t*>(to);
    for (std::int64_t i = 0; i < num; ++i) labels[i] = own.label(s, i);
  } else if (feature == features::kMixedLabel && own.mixes()) {
    const std::int64_t s = own.advance(own.next_mixed_labels, micro_batch, feature);
    auto* mixed = static_cast<ops::SecondLabel*>(to);
    for (std::int64_t i = 0; i < num; ++i) {
      const auto [partner, share] = own.mix(s, i);
      mixed[i] = {.label = own.label(s, partner), .share = share};
    }
  } else {
    fail("loader: these samples have no {}", feature);
  }
}

std::span<const std::uint8_t> Loader::bad_places() const {
  return impl_->bad_places;
}

std::vector<BadSample> Loader::take_bad() {
  return std::exchange(impl_->why_bad, {});
}

double Loader::wait_seconds() const {
  return impl_->wait_seconds;
}

}  // namespace convoy
