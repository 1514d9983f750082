/// Cuts a stream of frames into windows of a few steps, and sends each replica its share.
#include <algorithm>
#include <cstring>
#include <limits>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/text.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/tags.h"
#include "convoy/data/frames.h"
#include "convoy/io/atomic_file.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "data/images/decode_image.h"

namespace convoy {

namespace {

constexpr std::int64_t kColours = 3;  // bytes of a pixel of the stream
// The first micro-batch of a window is resized while nothing computes. In a window of more steps this matters less.
constexpr std::int64_t kMaxSteps = 8;
// The memory of rank 0 holds three windows: one that is computed, one that is sent and one that is read.
constexpr std::int64_t kWindowsInMemory = 3;
// If three windows of kMaxSteps would be larger than this, they get fewer steps.
constexpr std::int64_t kMaxBufferBytes = std::int64_t{1} << 30;
constexpr double kWaitSeconds = 0.05;  // the longest time without a call of on_wait()

/// What rank 0 says of the stream to each rank when a window begins.
struct WindowHead {
  std::int64_t num_frames = 0;       ///< frames of the window; 0: the stream has ended
  std::int64_t num_next_frames = 0;  ///< frames of the next one, if it is sent at once; 0: it is announced later
  StreamEnd end;
};

// Returns the number of steps of the largest window.
std::int64_t steps_of_window(std::int64_t step_bytes) {
  return std::clamp<std::int64_t>(kMaxBufferBytes / (kWindowsInMemory * step_bytes), 1, kMaxSteps);
}

// Called on rank 0. Throws RequestError if the frames of a step are too many for its memory, or for a message.
void check_size(const FrameWindow::Spec& spec, std::int64_t frame_bytes) {
  const std::int64_t step_bytes = spec.step_frames * frame_bytes;
  std::int64_t share_bytes = 0;
  for (const FrameWindow::Share& share : spec.shares) share_bytes = std::max(share_bytes, share.count * frame_bytes);
  const std::int64_t max_share_bytes = std::numeric_limits<int>::max();  // MPI counts with an int
  const auto max_bytes = static_cast<std::int64_t>(io::memory_of_machine() / 2);
  if (share_bytes <= max_share_bytes && kWindowsInMemory * step_bytes <= max_bytes) return;
  refuse(
      "batch.global = {}: the frames of a step, {} x {} pixels each, are {}, and those of one replica {}. Rank 0 holds "
      "three steps in memory, for which at most {} are used, and a replica's frames must be below 2 GiB. Give a "
      "smaller batch.global",
      spec.step_frames, spec.width, spec.height, human_bytes(step_bytes), human_bytes(share_bytes),
      human_bytes(max_bytes));
}

}  // namespace

FrameWindow::FrameWindow(const ProcessGrid& grid, const Spec& spec)
    : grid_(grid),
      spec_(spec),
      frame_bytes_(spec.width * spec.height * kColours),
      max_steps_(steps_of_window(spec.step_frames * frame_bytes_)) {
  mpi::on_root(grid.world(), [&] { check_size(spec_, frame_bytes_); });
  info_.kind = input_kinds::kImages;
  info_.image = {spec.height, spec.width, spec.channels};
  info_.source = "the standard input";
  if (!grid_.is_root()) return;
  reader_ =
      std::make_unique<FrameReader>(spec.descriptor, FrameReader::Spec{.frame_bytes = frame_bytes_,
                                                                       .block_frames = spec.step_frames,
                                                                       .num_blocks = kWindowsInMemory * max_steps_});
}

FrameWindow::~FrameWindow() = default;

bool FrameWindow::advance() {
  first_frame_ += info_.num_samples;
  std::swap(now_, next_);
  next_.num_frames = 0;
  if (grid_.is_root())
    lead();
  else
    follow();
  for (mpi::Request& message : now_.messages) wait(message);
  now_.messages.clear();
  info_.num_samples = now_.num_frames;
  return now_.num_frames > 0;
}

// Moves the window on rank 0. Its frames were taken at the move before, if they had been read by then.
void FrameWindow::lead() {
  if (now_.num_frames == 0) take(now_, /*waits=*/true);
  reader_->release_before(now_.num_frames == 0 ? num_taken_ : now_.first_block);
  take(next_, /*waits=*/false);
  if (now_.num_frames == 0) end_ = reader_->end();
  const WindowHead head{.num_frames = now_.num_frames, .num_next_frames = next_.num_frames, .end = end_};
  std::vector<mpi::Request> heads;
  for (int rank = 1; rank < grid_.world().size(); ++rank)
    heads.push_back(grid_.beside_steps().start_send(&head, sizeof head, rank, tags::kFrameWindows));
  for (mpi::Request& message : heads) wait(message);
}

void FrameWindow::follow() {
  WindowHead head;
  mpi::Request message = grid_.beside_steps().start_receive(&head, sizeof head, 0, tags::kFrameWindows);
  wait(message);
  if (now_.num_frames == 0) start_receives(now_, head.num_frames);
  start_receives(next_, head.num_next_frames);
  end_ = head.end;
}

// Takes the steps that have been read, at most as many as a window has, and starts to send the shares of other ranks.
void FrameWindow::take(Part& part, bool waits) {
  while (waits && !reader_->wait_for(num_taken_, kWaitSeconds)) spec_.on_wait();
  const std::int64_t end = std::min(reader_->num_read(), num_taken_ + max_steps_);
  part.first_block = num_taken_;
  part.num_frames = 0;
  for (; num_taken_ < end; ++num_taken_) {
    const std::span<const std::byte> block = reader_->block(num_taken_);
    const std::int64_t num_frames = std::ssize(block) / frame_bytes_;
    part.num_frames += num_frames;
    for (std::size_t replica = 1; replica < spec_.shares.size(); ++replica) {
      const Share& share = spec_.shares[replica];
      const std::int64_t count = frames_of_share(share, num_frames);
      if (count == 0) continue;
      part.messages.push_back(
          grid_.beside_steps().start_send(block.data() + share.first * frame_bytes_, count * frame_bytes_,
                                          grid_.world_rank(static_cast<std::int64_t>(replica), 0), tags::kFrames));
    }
  }
}

void FrameWindow::start_receives(Part& part, std::int64_t num_frames) {
  part.num_frames = num_frames;
  if (!grid_.is_first_stage()) return;
  const Share& share = own_share();
  part.memory.resize(static_cast<std::size_t>(max_steps_ * share.count * frame_bytes_));
  std::byte* to = part.memory.data();
  for (std::int64_t first = 0; first < num_frames; first += spec_.step_frames, to += share.count * frame_bytes_) {
    const std::int64_t count = frames_of_share(share, std::min(spec_.step_frames, num_frames - first));
    if (count > 0)
      part.messages.push_back(grid_.beside_steps().start_receive(to, count * frame_bytes_, 0, tags::kFrames));
  }
}

// Waits without a limit, because a camera may pause.
void FrameWindow::wait(mpi::Request& message) const {
  mpi::wait_until([&] {
    spec_.on_wait();
    return message.test();
  });
}

// Returns how many frames of a step with `num_frames` frames are in a share.
std::int64_t FrameWindow::frames_of_share(const Share& share, std::int64_t num_frames) {
  return std::clamp<std::int64_t>(num_frames - share.first, 0, share.count);
}

const FrameWindow::Share& FrameWindow::own_share() const {
  return spec_.shares[static_cast<std::size_t>(grid_.replica())];
}

// Returns the first byte of a frame of this replica's share.
const std::byte* FrameWindow::frame(std::int64_t sample) const {
  const std::int64_t step = sample / spec_.step_frames, in_step = sample % spec_.step_frames;
  if (grid_.is_root()) return reader_->block(now_.first_block + step).data() + in_step * frame_bytes_;
  const Share& share = own_share();
  return now_.memory.data() + (step * share.count + in_step - share.first) * frame_bytes_;
}

void FrameWindow::read_pixels(std::int64_t sample, std::span<std::byte> pixels) const {
  const std::byte* const from = frame(sample);
  if (spec_.channels == kColours) {
    std::memcpy(pixels.data(), from, pixels.size());
    return;
  }
  const auto* const colours = reinterpret_cast<const std::uint8_t*>(from);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = std::byte{luma(colours[3 * i], colours[3 * i + 1], colours[3 * i + 2])};
}

std::int32_t FrameWindow::label(std::int64_t) const {
  return ops::kNoLabel;
}

}  // namespace convoy
