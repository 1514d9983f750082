/// Sharing changes no bit: a replica reads another's copy only where its own would have the same bytes.
#include "step/shared_weights.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"

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

// Nothing, and a warning, where the system does not allow it. All sharers.
std::optional<SharedMemory> try_to_share(const mpi::Communicator& sharers, std::int64_t size_bytes) {
  try {
    return std::optional<SharedMemory>(std::in_place, sharers, size_bytes);
  } catch (const Error& error) {
    if (sharers.rank() == 0)
      log_warning(fmt::format("each replica keeps its own copy of the weights: {}", error.what()));
    return std::nullopt;
  }
}

/// Where each of the writer's packed weights lies in the memory that all share.
class PackedParts {
 public:
  /// By the writer's stage; that of others is not read. All sharers.
  PackedParts(const mpi::Communicator& sharers, const Stage& stage) {
    if (sharers.rank() == 0)
      for (const Cell* cell : stage.cells())
        for (const Buffer* buffer : cell->packed_weights()) sizes_.push_back(buffer->size_bytes());
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
  /// Number i's, counted over the cells; empty where the writer has no such.
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

// On another number of threads an operation may have chosen another layout.
void exchange_for_same_bytes(std::span<std::byte> part, Buffer& buffer) {
  if (std::ssize(part) == buffer.size_bytes() && std::memcmp(part.data(), buffer.data(), part.size()) == 0)
    buffer = Buffer::part_of(part.data(), std::ssize(part));
}

}  // namespace

mpi::Communicator find_weight_sharers(const ProcessGrid& grid, const Device& device) {
  return device.is_host() ? split_by_memory(grid.data()) : grid.data().split(grid.data().rank(), 0);
}

SharedWeights::SharedWeights(const ProcessGrid& grid, Device& device, const StagePlan& plan)
    : sharers_(find_weight_sharers(grid, device)), device_(device), plan_(plan) {
  const ArenaSizes sizes(plan);
  if (sharers_.size() > 1) arenas_ = try_to_share(sharers_, sizes.master_bytes + sizes.copy_bytes);
}

WeightArenas SharedWeights::arenas() const {
  if (!arenas_) return make_weight_arenas(device_, plan_);
  const ArenaSizes sizes(plan_);
  return {.masters = Buffer::part_of(arenas_->data(), plan_.layout.count * kFloatBytes),
          .copies = Buffer::part_of(arenas_->data() + sizes.master_bytes, sizes.copy_bytes)};
}

void SharedWeights::publish(Stage& stage) {
  if (sharers_.size() == 1) return stage.reload_weights();
  if (is_published_) throw std::logic_error("weights that replicas share are published once");
  is_published_ = true;
  if (arenas_) {
    share_packed(stage);
  } else {
    take_message(stage);
  }
}

void SharedWeights::take_message(Stage& stage) const {
  sharers_.broadcast(stage.parameters().masters, plan_.layout.count * kFloatBytes, 0);
  stage.reload_weights();
}

// A reader packs one cell's weights at a time, so that it never holds more than these.
void SharedWeights::share_packed(Stage& stage) {
  if (is_writer()) stage.reload_weights();
  const PackedParts parts(sharers_, stage);
  packed_ = try_to_share(sharers_, parts.size_bytes());
  std::size_t number = 0;
  if (is_writer() && packed_)
    for (const Cell* cell : stage.cells())
      for (Buffer* buffer : cell->packed_weights()) move_to(parts.in(*packed_, number++), *buffer);
  sharers_.barrier();
  if (is_writer()) return;
  for (std::int64_t i = 0; i < std::ssize(stage.cells()); ++i) {
    Cell& cell = *stage.cells()[i];
    cell.load_weights(stage.weights_of(i));
    if (!packed_) continue;
    for (Buffer* buffer : cell.packed_weights()) exchange_for_same_bytes(parts.in(*packed_, number++), *buffer);
  }
}

std::string SharedWeights::describe(const mpi::Communicator& world) const {
  const std::int64_t readers = arenas_ ? sharers_.size() : 1;
  const std::int64_t max = world.max(readers), min = -world.max(-readers);
  if (max == 1) return "";
  return fmt::format("weights: one copy in memory for {} {} replicas\n", min == max ? "each" : "up to", max);
}

}  // namespace convoy
