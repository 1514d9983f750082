/// Reads the frames of a film from a stream, and gives each replica its share of them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/comm/process_grid.h"
#include "convoy/io/sample_store.h"

namespace convoy {

/// How a stream of frames ended.
struct StreamEnd {
  std::int64_t rest_bytes = 0;    ///< bytes of an incomplete frame after the last whole one
  std::int64_t error_number = 0;  ///< errno of the read that failed; 0: the stream came to its end
};

/// Throws RequestError if the standard input of this process cannot be a stream of frames, because it was closed when
/// the process started, or because it is a terminal.
void check_standard_input();

/// Reads frames of equal size from a file descriptor, in a thread of its own, into a ring of blocks. A block has the
/// frames of one step; only the last one may have fewer. Blocks are numbered from 0. One thread calls all members; any
/// thread may call block().
class FrameReader {
 public:
  /// The arguments of a FrameReader.
  struct Spec {
    std::int64_t frame_bytes = 0;
    std::int64_t block_frames = 0;  ///< frames of a whole block
    std::int64_t num_blocks = 0;    ///< blocks that are in memory at the same time
  };

  /// Starts to read. The descriptor stays open, and belongs to the caller.
  FrameReader(int descriptor, const Spec& spec);
  /// Ends the thread, even if it waits for data.
  ~FrameReader();
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  /// Waits at most `seconds` until block `number` has been read, or the stream has ended before it. Returns whether one
  /// of the two is the case.
  bool wait_for(std::int64_t number, double seconds) const;
  /// Number of blocks that have been read, from the beginning of the stream.
  std::int64_t num_read() const;
  /// Returns the frames of a block that has been read and not been released.
  std::span<const std::byte> block(std::int64_t number) const;
  /// Allows the thread to overwrite all blocks before `number`.
  void release_before(std::int64_t number);
  /// Returns how the stream ended. Valid once the stream has ended.
  StreamEnd end() const;

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::int64_t size_bytes = 0;
  };

  void work();
  bool fill(Block& block);

  const int descriptor_;
  const Spec spec_;
  std::vector<Block> blocks_;
  mutable std::mutex mutex_;  ///< guards what follows
  mutable std::condition_variable changed_;
  std::int64_t num_read_ = 0, num_released_ = 0;
  bool has_ended_ = false, stops_ = false;
  StreamEnd end_;
  std::thread thread_;
};

/// A window over a stream of frames: a store whose samples are the frames of one or a few steps, and which moves along
/// the stream. Rank 0 reads the stream, and sends the bytes of each replica's share to the first stage of that replica.
/// Only this stage can read their pixels. While the steps of a window compute, the shares of the next window travel.
class FrameWindow final : public io::SampleStore {
 public:
  /// The frames of a step that one replica computes.
  struct Share {
    std::int64_t first = 0, count = 0;
  };
  /// The arguments of a FrameWindow.
  struct Spec {
    std::int64_t width = 0, height = 0;  ///< of a frame, which has three bytes for each pixel: red, green, blue
    std::int64_t channels = 3;           ///< channels of the samples: 3, or 1 for grey
    std::int64_t step_frames = 0;        ///< frames of a step, over all replicas
    std::vector<Share> shares;           ///< of each replica
    int descriptor = 0;                  ///< the stream; only rank 0 reads it
    /// Called now and then while a rank waits for frames.
    std::function<void()> on_wait = [] {};
  };

  /// Makes the empty window before the first frame. All ranks of the grid call it. Throws RequestError if the frames of
  /// a step need too much memory, or if those of a replica are too large for a message. `grid` must outlive the window.
  FrameWindow(const ProcessGrid& grid, const Spec& spec);
  ~FrameWindow() override;

  /// Moves the window to the frames after its own: to those of all steps that have been read, at least one and at most
  /// eight. Waits until one has been read. Returns false at the end of the stream. All ranks of the grid call it, while
  /// no loader reads the window.
  bool advance();
  /// Number of frames of the stream before those of the window.
  std::int64_t first_frame() const { return first_frame_; }
  /// How the stream ended. Valid after advance() has returned false.
  const StreamEnd& end() const { return end_; }

  const io::DatasetInfo& info() const override { return info_; }
  void read_pixels(std::int64_t sample, std::span<std::byte> pixels) const override;
  /// The class of a frame is not known.
  std::int32_t label(std::int64_t sample) const override;
  /// Frames are numbered from 1, as ffmpeg numbers the pictures that it writes.
  std::string name(std::int64_t sample) const override { return std::to_string(first_frame_ + sample + 1); }

 private:
  /// The frames of a window, and the messages that bring them.
  struct Part {
    std::int64_t num_frames = 0;
    std::int64_t first_block = 0;   ///< rank 0: number of the block of its first step
    std::vector<std::byte> memory;  ///< other ranks: the frames of this replica's share, step after step
    std::vector<mpi::Request> messages;
  };

  void lead();
  void follow();
  void take(Part& part, bool waits);
  void start_receives(Part& part, std::int64_t num_frames);
  void wait(mpi::Request& message) const;
  static std::int64_t frames_of_share(const Share& share, std::int64_t num_frames);
  const Share& own_share() const;
  const std::byte* frame(std::int64_t sample) const;

  const ProcessGrid& grid_;
  const Spec spec_;
  std::int64_t frame_bytes_, max_steps_;
  io::DatasetInfo info_;
  std::int64_t first_frame_ = 0;
  StreamEnd end_;
  Part now_, next_;                      ///< the frames of this window; those of the next one, if they travel already
  std::int64_t num_taken_ = 0;           ///< rank 0: number of blocks that have been sent
  std::unique_ptr<FrameReader> reader_;  ///< rank 0
};

}  // namespace convoy
