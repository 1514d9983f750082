/// One micro-batch after the other through all stages, by way of the host's memory: nothing here has to be fast.
#include "step/find_bad_numbers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "convoy/comm/gather.h"
#include "convoy/comm/tags.h"
#include "convoy/device/device.h"
#include "convoy/ops/dropout.h"

namespace convoy {

namespace {

class Search {
 public:
  explicit Search(const TrainingStep& training)
      : training_(training),
        runtime_(training.runtime()),
        plan_(runtime_.plan()),
        grid_(runtime_.grid()),
        stage_(runtime_.stage()) {}

  void look_at_losses();
  void look_at_gradients();
  void look_at_parameters();
  void run_forward(BatchSource& source);

  const std::vector<BadNumbers>& found() const { return found_; }

 private:
  using Kind = BadNumbers::Kind;
  /// What a micro-batch has shown on this rank; after the first bad cell all others are bad, too.
  struct Seen {
    bool feature = false, output = false;
  };

  template <typename Visit>
  void for_each_parameter(Visit&& visit) const;
  void look_at_arena(Kind kind, const Slice& range, const float* values);
  std::span<const std::byte> to_host(const void* data, std::int64_t size_bytes);
  void load(BatchSource& source, const FrameId& frame, std::int64_t m) const;
  void look_at_features(const FrameId& frame, std::int64_t cell, std::int64_t m, Seen& seen);
  void look_at_output(const FrameId& frame, std::int64_t cell, std::int64_t m, Seen& seen);
  void receive_input(const FrameId& frame);
  void send_output(const FrameId& frame);
  void run_chunk(const FrameId& frame, std::int64_t m, Seen& seen);
  void set_draw_key(const FrameId& frame, std::int64_t m);
  int rank_of_stage(std::int64_t stage) const {
    return grid_.world_rank(grid_.replica(), (stage + grid_.num_stages()) % grid_.num_stages());
  }

  const TrainingStep& training_;
  const RankRuntime& runtime_;
  const StepPlan& plan_;
  const ProcessGrid& grid_;
  const Stage& stage_;
  std::vector<std::byte> host_;
  HostBuffer draw_key_;
  std::vector<BadNumbers> found_;
};

void Search::look_at_losses() {
  const StepLoss* loss = training_.loss();
  if (loss == nullptr) return;
  for (std::int64_t m = 0; m < loss->num_micro_batches(); ++m)
    if (loss->is_bad(m, plan_.spec().train.loss_limit))
      found_.push_back(
          {.kind = Kind::kLoss, .micro_batch = runtime_.micro_batches().begin + m, .loss = loss->mean_loss(m)});
}

void Search::look_at_gradients() {
  for (std::int64_t b = 0; b < std::ssize(stage_.plan().layout.buckets); ++b) {
    const ShardedUpdate::GradientSlice slice = training_.update().gradient(b);
    look_at_arena(Kind::kGradient, slice.range, slice.values);
  }
}

// All replicas have the same.
void Search::look_at_parameters() {
  if (grid_.replica() == 0)
    look_at_arena(Kind::kParameter, {.begin = 0, .end = stage_.plan().layout.count}, stage_.parameters().masters);
}

// visit(cell, index in it, its range in the arena)
template <typename Visit>
void Search::for_each_parameter(Visit&& visit) const {
  const ArenaLayout& layout = stage_.plan().layout;
  for (const ArenaRun& run : layout.runs) {
    for (std::int64_t cell = run.cells.begin; cell < run.cells.end; ++cell) {
      const std::int64_t first = layout.cell_offsets[run.first_cell + cell - run.cells.begin];
      const auto& entries = plan_.network()[cell]->memory().parameters();
      for (std::int64_t i = 0; i < std::ssize(entries); ++i) {
        const std::int64_t begin = first + entries[i].ref.offset;
        visit(cell, i, Slice{.begin = begin, .end = begin + entries[i].spec.count()});
      }
    }
  }
}

// `values` are those of the range.
void Search::look_at_arena(Kind kind, const Slice& range, const float* values) {
  const std::span<const std::byte> copy = to_host(values, range.count() * kFloatBytes);
  for_each_parameter([&](std::int64_t cell, std::int64_t index, const Slice& parameter) {
    const std::int64_t begin = std::max(parameter.begin, range.begin), end = std::min(parameter.end, range.end);
    if (begin >= end) return;
    const auto part = copy.subspan((begin - range.begin) * kFloatBytes, (end - begin) * kFloatBytes);
    const NumberCount count = count_numbers(DataType::kFloat32, part);
    if (count.num_bad > 0) found_.push_back({.kind = kind, .cell = cell, .index = index, .count = count});
  });
}

// Returns a copy in the host's memory, which is valid until the next call.
std::span<const std::byte> Search::to_host(const void* data, std::int64_t size_bytes) {
  host_.resize(std::max<std::size_t>(host_.size(), static_cast<std::size_t>(size_bytes)));
  runtime_.device().copy_to_host(host_.data(), data, size_bytes);
  return std::span(host_).first(static_cast<std::size_t>(size_bytes));
}

void Search::run_forward(BatchSource& source) {
  source.begin_step();
  for (std::int64_t m = 0; m < runtime_.micro_batches().size(); ++m) {
    Seen seen;
    for (std::int64_t chunk = 0; chunk < plan_.num_chunks(); ++chunk) {
      const FrameId frame{.chunk = chunk, .number = 0};
      load(source, frame, m);
      if (!stage_.plan().chunks[chunk].is_first) receive_input(frame);
      run_chunk(frame, m, seen);
      if (!stage_.plan().chunks[chunk].is_last) send_output(frame);
    }
  }
}

void Search::load(BatchSource& source, const FrameId& frame, std::int64_t m) const {
  stage_.for_each_feature(frame, [&](const Feature& feature, void* to) { source.load(feature.name, m, to); });
}

void Search::run_chunk(const FrameId& frame, std::int64_t m, Seen& seen) {
  if (stage_.plan().chunks[frame.chunk].draws) set_draw_key(frame, m);
  std::int64_t cell = stage_.plan().chunks[frame.chunk].cells.begin;
  look_at_features(frame, cell, m, seen);
  stage_.forward(frame, true, [&] {
    look_at_output(frame, cell++, m, seen);
    if (cell < stage_.plan().chunks[frame.chunk].cells.end) look_at_features(frame, cell, m, seen);
  });
}

// Sets the key as the executor does.
void Search::set_draw_key(const FrameId& frame, std::int64_t m) {
  Device& device = runtime_.device();
  if (draw_key_.data() == nullptr) draw_key_ = HostBuffer(device, sizeof(ops::DrawKey));
  device.synchronize();  // the key before was read
  draw_key_.as<ops::DrawKey>().front() = {
      .seed = plan_.spec().train.seed,
      .step = static_cast<std::uint64_t>(training_.counts().steps - 1),
      .micro_batch = static_cast<std::uint64_t>(runtime_.micro_batches().begin + m)};
  stage_.set_draw_key(frame, draw_key_.as<ops::DrawKey>().data());
}

void Search::look_at_features(const FrameId& frame, std::int64_t cell, std::int64_t m, Seen& seen) {
  if (seen.feature) return;
  std::int64_t index = 0;
  stage_.for_each_feature_of(
      frame, cell - stage_.plan().chunks[frame.chunk].cells.begin, [&](const Feature& feature, const void* data) {
        const NumberCount count = count_numbers(feature.spec.type, to_host(data, feature.spec.bytes()));
        if (count.num_bad > 0 && !seen.feature) {
          seen.feature = true;
          found_.push_back({.kind = Kind::kFeature,
                            .micro_batch = runtime_.micro_batches().begin + m,
                            .cell = cell,
                            .index = index,
                            .count = count});
        }
        ++index;
      });
}

void Search::look_at_output(const FrameId& frame, std::int64_t cell, std::int64_t m, Seen& seen) {
  if (seen.output) return;
  const TensorSpec& y = plan_.network()[cell]->y();
  const void* output = stage_.output_of(frame, cell - stage_.plan().chunks[frame.chunk].cells.begin);
  const NumberCount count = count_numbers(y.type, to_host(output, y.bytes()));
  if (count.num_bad == 0) return;
  seen.output = true;
  found_.push_back(
      {.kind = Kind::kOutput, .micro_batch = runtime_.micro_batches().begin + m, .cell = cell, .count = count});
}

// Virtual stages follow each other around the stages.
void Search::receive_input(const FrameId& frame) {
  const std::int64_t size_bytes = stage_.plan().chunks[frame.chunk].boundary_in_bytes;
  host_.resize(std::max<std::size_t>(host_.size(), static_cast<std::size_t>(size_bytes)));
  grid_.world().receive(host_.data(), size_bytes, rank_of_stage(grid_.stage() - 1), tags::kRepeatedActivation);
  runtime_.device().copy_to_device(stage_.input(frame), host_.data(), size_bytes);
}

void Search::send_output(const FrameId& frame) {
  const std::int64_t size_bytes = stage_.plan().chunks[frame.chunk].boundary_out_bytes;
  grid_.world().send(to_host(stage_.output(frame), size_bytes).data(), size_bytes, rank_of_stage(grid_.stage() + 1),
                     tags::kRepeatedActivation);
}

}  // namespace

std::vector<BadNumbers> find_bad_numbers(TrainingStep& training, BatchSource& source) {
  training.runtime().finish();  // the last messages have left the frames
  Search search(training);
  search.look_at_losses();
  search.look_at_gradients();
  search.look_at_parameters();
  search.run_forward(source);
  return sorted(mpi::gather_values(training.runtime().grid().world(), search.found()));
}

}  // namespace convoy
