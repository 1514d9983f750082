/// Implements the thread that reads frames from a pipe. It waits in poll() with a time limit, so that it can be ended.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/data/frames.h"

namespace convoy {

namespace {

constexpr int kPollMilliseconds = 100;  // the longest time until the thread sees that it should end
// mpirun passes the stream on in pieces of 4 KiB. After a small piece the thread sleeps, so that it reads many at once
// and leaves the processor to the steps: 16,000 wake-ups per second cost a rank a tenth of its speed.
constexpr ssize_t kSmallPiece = 1 << 16;
constexpr std::chrono::microseconds kPauseAfterSmallPiece(200);
constexpr int kPipeBytes = 1 << 20;  // the largest pipe that Linux gives to any user

// Whether the process was started with a standard input. If not, the first file that is opened gets its number, so this
// must be known before main().
const bool kHasStandardInput = fcntl(STDIN_FILENO, F_GETFD) >= 0;

constexpr const char* kPipeFrames =
    "Give it the frames: ffmpeg -i film.mp4 -f rawvideo -pix_fmt rgb24 - | convoy predict ... --predict.data=- "
    "--predict.frames=1280x720";

}  // namespace

void check_standard_input() {
  if (!kHasStandardInput)
    refuse("predict.data = - reads frames from the standard input, which is closed. {}", kPipeFrames);
  if (isatty(STDIN_FILENO) != 0)
    refuse("predict.data = - reads frames from the standard input, which is a terminal. {}", kPipeFrames);
}

FrameReader::FrameReader(int descriptor, const Spec& spec)
    : descriptor_(descriptor), spec_(spec), blocks_(static_cast<std::size_t>(spec.num_blocks)) {
  const auto block_bytes = static_cast<std::size_t>(spec.block_frames * spec.frame_bytes);
  for (Block& one : blocks_) one.memory = std::make_unique_for_overwrite<std::byte[]>(block_bytes);
  fcntl(descriptor, F_SETPIPE_SZ, kPipeBytes);  // fails, and changes nothing, if it is no pipe
  thread_ = std::thread([this] { work(); });
}

FrameReader::~FrameReader() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FrameReader::work() {
  for (bool is_whole = true; is_whole;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stops_ || num_read_ - num_released_ < spec_.num_blocks; });
    Block& block = blocks_[static_cast<std::size_t>(num_read_ % spec_.num_blocks)];
    lock.unlock();
    is_whole = fill(block);
    lock.lock();
    if (stops_) return;
    if (block.size_bytes > 0) ++num_read_;
    has_ended_ = !is_whole;
    changed_.notify_all();
  }
}

// Returns whether the block is full. If it is not, the stream has ended, or the reader is being destroyed.
bool FrameReader::fill(Block& block) {
  const std::int64_t wanted = spec_.block_frames * spec_.frame_bytes;
  std::int64_t filled = 0;
  StreamEnd end;
  while (filled < wanted) {
    pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
    const int num_ready = poll(&ready, 1, kPollMilliseconds);
    {
      const std::scoped_lock lock(mutex_);
      if (stops_) return false;
    }
    if (num_ready == 0) continue;
    const ssize_t count = read(descriptor_, block.memory.get() + filled, static_cast<std::size_t>(wanted - filled));
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) end.error_number = errno;
    if (count <= 0) break;
    filled += count;
    if (count < kSmallPiece) std::this_thread::sleep_for(kPauseAfterSmallPiece);
  }
  end.rest_bytes = filled % spec_.frame_bytes;
  block.size_bytes = filled - end.rest_bytes;
  const std::scoped_lock lock(mutex_);
  end_ = end;
  return filled == wanted;
}

bool FrameReader::wait_for(std::int64_t number, double seconds) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return num_read_ > number || has_ended_; });
}

std::int64_t FrameReader::num_read() const {
  const std::scoped_lock lock(mutex_);
  return num_read_;
}

std::span<const std::byte> FrameReader::block(std::int64_t number) const {
  const Block& block = blocks_[static_cast<std::size_t>(number % spec_.num_blocks)];
  return {block.memory.get(), static_cast<std::size_t>(block.size_bytes)};
}

void FrameReader::release_before(std::int64_t number) {
  {
    const std::scoped_lock lock(mutex_);
    num_released_ = std::max(num_released_, number);
  }
  changed_.notify_all();
}

StreamEnd FrameReader::end() const {
  const std::scoped_lock lock(mutex_);
  return end_;
}

}  // namespace convoy
