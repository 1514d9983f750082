/// Copies a few values per sample.
#include "model/layers/objectives.h"

#include "convoy/ops/elementwise.h"

namespace convoy {

namespace {

class Objectives final : public Layer {
 public:
  std::string operation() const override { return "objectives"; }
  void create_ops(ops::Backend& backend) override { elementwise_ = &backend.elementwise(); }
  void forward(const Frame& frame) const override {
    std::int64_t offset = 0;
    for (const LayerInput& in : inputs) {
      const std::int64_t bytes = in.tensor->spec.bytes();
      elementwise_->copy(frame[in.tensor->location], frame[y().location] + offset, bytes);
      offset += bytes;
    }
  }
  void backward_input(const Frame& frame) const override {
    std::int64_t offset = 0;
    for (const LayerInput& in : inputs) {
      const std::int64_t bytes = in.tensor->spec.bytes();
      if (in.dx != nullptr) elementwise_->copy(frame[dy()] + offset, frame[*in.dx], bytes);
      offset += bytes;
    }
  }

 private:
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace

Value objectives(const std::vector<Objective>& all) {
  CellBuilder& cell = all.front().scores.cell();
  const Shape scores = all.front().scores.shape();
  std::vector<LayerInput> inputs;
  for (const Objective& objective : all) {
    inputs.push_back({&objective.scores.tensor()});
    cell.add_objective(objective.name);
  }
  return cell.add(std::make_unique<Objectives>(), std::move(inputs),
                  {.spec = {Shape::sequences(std::ssize(all), scores.n, scores.c), DataType::kFloat32},
                   .gradient_type = DataType::kFloat32});
}

}  // namespace convoy
