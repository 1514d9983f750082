/// Sharing changes no bit: a replica reads another's copy only if its own would have the same bytes.
#include "step/shared_weights.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/on_root.h"

namespace convoy {

namespace {

constexpr std::int64_t kAlignmentBytes = 64;

/// Masters, then their copies in the network's type.
struct ArenaSizes {
  explicit ArenaSizes(const StagePlan& plan)
      : master_bytes(round_up(plan.layout.count * kFloatBytes, kAlignmentBytes)),
        copy_bytes(plan.type == DataType::kFloat32 ? 0 : plan.layout.count * size_of(plan.type)) {}

  std::int64_t master_bytes, copy_bytes;
};

std::vector<Buffer*> packed_weights_of(const Stage& stage) {
  std::vector<Buffer*> packed;
  for (const Cell* cell : stage.cells())
    for (Buffer* buffer : cell->packed_weights()) packed.push_back(buffer);
  return packed;
}

/// Offsets of the writer's packed weights in the memory that all sharers read.
class PackedParts {
 public:
  /// Takes the sizes from the writer's stage; the stage of other sharers is not read. All sharers call it.
  PackedParts(const mpi::Communicator& sharers, const Stage& stage) {
    if (sharers.rank() == 0)
      for (const Buffer* buffer : packed_weights_of(stage)) sizes_.push_back(buffer->size_bytes());
    auto count = std::ssize(sizes_);
    sharers.broadcast(&count, sizeof count, 0);
    sizes_.resize(static_cast<std::size_t>(count));
    sharers.broadcast(sizes_.data(), count * static_cast<std::int64_t>(sizeof(std::int64_t)), 0);
    for (const std::int64_t size : sizes_) {
      offsets_.push_back(size_bytes_);
      size_bytes_ += round_up(size, kAlignmentBytes);
    }
  }

  std::int64_t size_bytes() const { return size_bytes_; }
  /// The part of packed weights number i, counted over the cells; empty if the writer has fewer.
  std::span<std::byte> in(const SharedMemory& memory, std::size_t i) const {
    if (i >= sizes_.size()) return {};
    return {memory.data() + offsets_[i], static_cast<std::size_t>(sizes_[i])};
  }

 private:
  std::vector<std::int64_t> sizes_, offsets_;
  std::int64_t size_bytes_ = 0;
};

void move_to(std::span<std::byte> part, Buffer& buffer) {
  std::memcpy(part.data(), buffer.data(), part.size());
  buffer = Buffer::part_of(part.data(), std::ssize(part));
}

// Returns false if the bytes differ: for another processor or number of threads an operation may have chosen another
// layout.
bool exchange_for_same_bytes(std::span<std::byte> part, Buffer& buffer) {
  if (std::ssize(part) != buffer.size_bytes() || std::memcmp(part.data(), buffer.data(), part.size()) != 0)
    return false;
  buffer = Buffer::part_of(part.data(), std::ssize(part));
  return true;
}

}  // namespace

mpi::Communicator find_weight_sharers(const ProcessGrid& grid, const Device& device) {
  return device.is_host() ? split_by_memory(grid.data()) : grid.data().split(grid.data().rank(), 0);
}

SharedWeights::SharedWeights(const ProcessGrid& grid, Device& device, const StagePlan& plan)
    : world_(grid.world()), sharers_(find_weight_sharers(grid, device)), device_(device), plan_(plan) {
  const ArenaSizes sizes(plan);
  arenas_ = try_to_share(sizes.master_bytes + sizes.copy_bytes, "the weights");
}

// Returns nothing if the system does not allow it; only the reason of the lowest such rank is told. All ranks of the
// grid call it.
std::optional<SharedMemory> SharedWeights::try_to_share(std::int64_t size_bytes, const std::string& what) const {
  std::optional<SharedMemory> memory;
  std::string reason;
  try {
    if (sharers_.size() > 1 && size_bytes > 0) memory.emplace(sharers_, size_bytes);
  } catch (const Error& error) {
    reason = error.what();
  }
  try {
    mpi::on_all(world_, [&] {
      if (!reason.empty()) fail("replicas keep their own copies of {}: {}", what, reason);
    });
  } catch (const Error& error) {
    if (world_.rank() == 0) log_warning(error.what());
  }
  return memory;
}

WeightArenas SharedWeights::arenas() const {
  if (!arenas_) return make_weight_arenas(device_, plan_);
  const ArenaSizes sizes(plan_);
  return {.masters = Buffer::part_of(arenas_->data(), plan_.layout.count * kFloatBytes),
          .copies = Buffer::part_of(arenas_->data() + sizes.master_bytes, sizes.copy_bytes)};
}

void SharedWeights::publish(Stage& stage) {
  if (is_published_) throw std::logic_error("weights of a network that does not train are published once");
  is_published_ = true;
  if (!arenas_ && sharers_.size() > 1)
    sharers_.broadcast(stage.parameters().masters, plan_.layout.count * kFloatBytes, 0);
  if (!arenas_ || is_writer()) stage.reload_weights();
  share_packed(stage);
}

// A reader packs one cell's weights at a time, so that it never holds more than these.
void SharedWeights::share_packed(Stage& stage) {
  const PackedParts parts(sharers_, stage);
  packed_ = try_to_share(arenas_ ? parts.size_bytes() : 0, "convolutions' packed weights");
  std::size_t number = 0;
  if (packed_ && is_writer())
    for (Buffer* buffer : packed_weights_of(stage)) move_to(parts.in(*packed_, number++), *buffer);
  sharers_.barrier();
  if (!arenas_ || is_writer()) return;
  for (std::int64_t i = 0; i < std::ssize(stage.cells()); ++i) {
    Cell& cell = *stage.cells()[i];
    cell.load_weights(stage.weights_of(i));
    if (!packed_) continue;
    for (Buffer* buffer : cell.packed_weights())
      if (!exchange_for_same_bytes(parts.in(*packed_, number++), *buffer)) keeps_own_packed_ = true;
  }
}

std::int64_t SharedWeights::shared_bytes() const {
  return (arenas_ ? arenas_->size_bytes() : 0) + (packed_ ? packed_->size_bytes() : 0);
}

std::string SharedWeights::describe() const {
  const std::int64_t readers = arenas_ ? sharers_.size() : 1;
  const std::int64_t max = world_.max(readers), min = -world_.max(-readers);
  const std::int64_t others = world_.sum(keeps_own_packed_ ? 1 : 0);
  if (max == 1) return "";
  const char* const keep = others == 1 ? "rank keeps its" : "ranks keep their";
  const std::string but =
      others == 0 ? "" : fmt::format("; {} {} own copies for convolutions, in other layouts", others, keep);
  return fmt::format("weights: one copy in memory for {}{} replicas{}\n", min == max ? "" : "up to ", max, but);
}

}  // namespace convoy
