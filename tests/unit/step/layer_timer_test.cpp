/// What a timer notes of the layers of a stage: each piece of work once, in order, with the time that it took.
#include "step/layer_timer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "step/stage.h"

namespace convoy {
namespace {

Network small_network() {
  return make_network({.name = "resnet20", .input = ImageShape{8, 8, 3}, .micro_batch = 2, .num_classes = 4});
}

void pass(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(LayerTimer, CountsAStepAndThenTimesOthers) {
  const auto device = make_cpu_device(1);
  const Network network = small_network();
  LayerTimer timer(*device);
  const auto step = [&](int milliseconds) {
    timer.begin_cell(*network[0]);
    pass(milliseconds);
    timer.end_layer(0, LayerWork::kForward, false);
    pass(5);  // between cells: time of no layer
    timer.begin_cell(*network[1]);
    pass(1);
    timer.end_layer(3, LayerWork::kInputGradient, true);
  };
  step(30);
  EXPECT_TRUE(timer.read().empty()) << "it was only counted";
  timer.start(2);
  for (int i = 0; i < 3; ++i) step(2);
  const std::vector<LayerTime> times = timer.read();
  ASSERT_EQ(times.size(), 4u) << "of two steps: there is no room for a third";
  for (std::size_t i = 0; i < 4; i += 2) {
    EXPECT_EQ(times[i].cell, network[0].get());
    EXPECT_EQ(times[i].layer, 0u);
    EXPECT_EQ(times[i].work, LayerWork::kForward);
    EXPECT_FALSE(times[i].is_split);
    EXPECT_GE(times[i].seconds, 2e-3);
    EXPECT_EQ(times[i + 1].cell, network[1].get());
    EXPECT_EQ(times[i + 1].layer, 3u);
    EXPECT_EQ(times[i + 1].work, LayerWork::kInputGradient);
    EXPECT_TRUE(times[i + 1].is_split);
    EXPECT_GE(times[i + 1].seconds, 1e-3);
  }
}

/// Notes who was told what.
class Notes final : public LayerObserver {
 public:
  struct Note {
    const Cell* cell;
    std::size_t layer;
    LayerWork work;
    bool is_split;
  };
  std::vector<Note> notes;

  void begin_cell(const Cell& cell) override { cell_ = &cell; }
  void end_layer(std::size_t layer, LayerWork work, bool is_split) override {
    notes.push_back({cell_, layer, work, is_split});
  }

  double flop(LayerWork work) const {
    double sum = 0;
    for (const Note& note : notes) {
      const LayerInfo info = note.cell->layers()[note.layer];
      if (note.work == work) sum += (note.is_split ? info.split_flop : info.flop).of(work);
    }
    return sum;
  }

 private:
  const Cell* cell_ = nullptr;
};

class ObservedStage : public testing::Test {
 protected:
  static constexpr FrameId kFrame{};

  // Forward and backward of one micro-batch.
  void run(bool recomputes, bool splits) {
    const CellRange all{0, std::ssize(network_)};
    Stage stage(*backend_, network_,
                plan_stage(network_, {.runs = {all},
                                      .recomputed = std::vector<bool>(network_.size(), recomputes),
                                      .splits_backward = splits}));
    stage.reload_weights();
    const Buffer gradients(backend_->device(), stage.plan().layout.count * kFloatBytes);
    stage.observe_layers(&notes_);
    stage.forward(kFrame, /*training=*/true, [] {});
    Stage::BackwardPiece piece{.frame = kFrame, .cells = all, .dy = stage.output_gradient(kFrame)};
    if (splits) stage.backward_input(piece, [] {});
    piece.gradients = gradients.floats();
    splits ? stage.backward_weight(piece, [] {}) : stage.backward(piece, [] {});
    stage.observe_layers(nullptr);
    const std::size_t told = notes_.notes.size();
    stage.forward(kFrame, /*training=*/true, [] {});
    EXPECT_EQ(notes_.notes.size(), told) << "the stage has no observer any more";
  }

  double sum_of(double (CellMemory::*flop)() const) const {
    double sum = 0;
    for (const auto& cell : network_) sum += (cell->memory().*flop)();
    return sum;
  }

  std::int64_t count(LayerWork work) const { return std::ranges::count(notes_.notes, work, &Notes::Note::work); }

  const std::unique_ptr<ops::Backend> backend_ = ops::make_backend({.device = DeviceKind::kCpu});
  const Network network_ = small_network();
  Notes notes_;
};

TEST_F(ObservedStage, TellsEachLayerInTheOrderOfForward) {
  run(/*recomputes=*/false, /*splits=*/false);
  std::size_t i = 0;
  for (const auto& cell : network_)
    for (std::size_t layer = 0; layer < cell->layers().size(); ++layer, ++i) {
      EXPECT_EQ(notes_.notes[i].cell, cell.get());
      EXPECT_EQ(notes_.notes[i].layer, layer);
      EXPECT_EQ(notes_.notes[i].work, LayerWork::kForward);
    }
  EXPECT_EQ(count(LayerWork::kForward), static_cast<std::int64_t>(i));
  EXPECT_EQ(count(LayerWork::kInputGradient), static_cast<std::int64_t>(i));
  EXPECT_EQ(count(LayerWork::kRecompute), 0);
}

TEST_F(ObservedStage, AccountsForAllProducts) {
  for (const bool splits : {false, true}) {
    notes_.notes.clear();
    run(/*recomputes=*/false, splits);
    EXPECT_EQ(notes_.flop(LayerWork::kForward), sum_of(&CellMemory::forward_flop));
    EXPECT_EQ(notes_.flop(LayerWork::kInputGradient) + notes_.flop(LayerWork::kWeightGradient),
              sum_of(&CellMemory::backward_flop));
  }
}

// In both parts of a backward.
TEST_F(ObservedStage, TellsWhatIsComputedAgain) {
  run(/*recomputes=*/true, /*splits=*/false);
  const std::int64_t once = count(LayerWork::kRecompute);
  EXPECT_GT(once, 0);
  EXPECT_LE(once, count(LayerWork::kForward));
  notes_.notes.clear();
  run(/*recomputes=*/true, /*splits=*/true);
  EXPECT_GT(count(LayerWork::kRecompute), once);
}

}  // namespace
}  // namespace convoy
