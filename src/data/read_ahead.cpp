/// Implements the threads that fill buffers, and the step that empties them.
#include "data/read_ahead.h"

#include <iterator>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/io/sample_store.h"

namespace convoy {

namespace {

constexpr std::uint32_t kStop = 0xffffffff;  ///< odd, and of a use that no run reaches

}  // namespace

ReadAhead::ReadAhead(const SamplePath& path, std::unique_ptr<FeatureReader> reader, Device& device,
                     SamplesOf samples_of, const LoaderSpec& spec)
    : path_(path),
      reader_(std::move(reader)),
      samples_of_(std::move(samples_of)),
      spec_(spec),
      buffers_(static_cast<std::size_t>(spec.num_buffers())) {
  for (BatchBuffer& one : buffers_) one.memory = HostBuffer(device, reader_->buffer_bytes());
  for (std::int64_t i = 0; i < spec.threads; ++i) writers_.push_back(reader_->make_writer());
}

void ReadAhead::start() {
  for (const auto& writer : writers_) threads_.emplace_back([this, &writer] { work(*writer); });
}

// The order of the lines matters: a thread within a micro-batch sees `stopping_`, one that waits sees kStop.
ReadAhead::~ReadAhead() {
  stopping_ = true;
  for (BatchBuffer& one : buffers_) {
    one.turn = kStop;
    one.turn.notify_all();
  }
  threads_.clear();  // joins
}

void ReadAhead::work(BufferWriter& writer) {
  for (;;) {
    const std::int64_t s = next_to_fill_++;
    if (s >= num_micro_batches()) return;
    BatchBuffer& mine = buffer(s);
    std::uint32_t expected = filling_turn(s);
    for (std::uint32_t turn = mine.turn; turn != expected; turn = mine.turn) {
      if (turn == kStop) return;
      mine.turn.wait(turn);
    }
    try {
      samples_of_(s, mine.samples);
      fill(mine, writer);
    } catch (...) {
      mine.error = std::current_exception();
    }
    if (!mine.turn.compare_exchange_strong(expected, expected + 1)) return;  // kStop was set in between
    mine.turn.notify_all();
  }
}

void ReadAhead::fill(BatchBuffer& mine, BufferWriter& writer) const {
  const BatchSamples& batch = mine.samples;
  std::byte* const memory = mine.memory.data();
  mine.bad.assign(spec_.skips_bad ? batch.samples.size() : 0, 0);
  for (std::size_t place = 0; place < batch.samples.size(); ++place) {
    if (stopping_.load(std::memory_order_relaxed)) return;
    const auto i = static_cast<std::int64_t>(place);
    const std::int64_t sample = batch.samples[place];
    if (sample == kNoSample) {
      writer.write_padding(i, memory);
      continue;
    }
    try {
      writer.write(batch, i, memory);
    } catch (const io::StoreError&) {
      throw;  // the data cannot be read: no sample is bad, but none of the next could be trusted
    } catch (const Error& error) {
      if (!spec_.skips_bad) fail("{} cannot be used: {}", path_.describe(sample), error.what());
      mine.bad[place] = 1;
      mine.why_bad.push_back({.sample = sample, .reason = error.what()});
      writer.write_padding(i, memory);
    }
  }
  writer.finish(batch, memory);
}

void ReadAhead::note_bad(BatchBuffer& taken) {
  if (!spec_.skips_bad) return;
  bad_ = taken.bad;
  std::move(taken.why_bad.begin(), taken.why_bad.end(), std::back_inserter(why_bad_));
  taken.why_bad.clear();
}

std::vector<BadSample> ReadAhead::take_bad() {
  return std::exchange(why_bad_, {});
}

void ReadAhead::wait_until_filled(const BatchBuffer& filled, std::uint32_t turn) {
  if (filled.turn == turn + 1) return;
  const ScopedTimer timer(wait_seconds_);
  while (filled.turn != turn + 1) filled.turn.wait(turn);
}

// Waits until the next buffer is filled, then starts its way to the device.
void ReadAhead::start_next() {
  const std::int64_t s = num_started_;
  BatchBuffer& filled = buffer(s);
  wait_until_filled(filled, filling_turn(s));
  ++num_started_;
  if (!filled.error) reader_->start(filled.memory.data());
}

// Releases the buffers of micro-batches that were loaded before. They have left their buffers by now, or will soon: the
// step is that far ahead of the device.
void ReadAhead::release_taken() {
  for (; num_released_ < next_; ++num_released_) {
    while (!reader_->has_left()) std::this_thread::yield();
    BatchBuffer& left = buffer(num_released_);
    left.turn = filling_turn(num_released_) + 2;
    left.turn.notify_all();
  }
}

void ReadAhead::load(void* to) {
  release_taken();
  const std::int64_t s = next_++;
  if (num_started_ == s) start_next();
  std::swap(samples_, buffer(s).samples);  // the buffer may be filled again before the next one is loaded
  if (const auto error = std::exchange(buffer(s).error, nullptr)) std::rethrow_exception(error);
  note_bad(buffer(s));
  reader_->finish(to);
  if (reader_->has_left()) release_taken();
  // The next micro-batch may start its way while the device works on this one.
  const std::int64_t after = s + 1;
  if (after < num_micro_batches() && buffer(after).turn == filling_turn(after) + 1 && reader_->ready()) start_next();
}

}  // namespace convoy
