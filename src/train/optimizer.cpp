/// Stochastic gradient descent with momentum, as torch.optim.SGD defines it.
#include "train/optimizer.h"

namespace convoy {

namespace {

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerParams& params, ops::ElementwiseOps& elementwise)
      : elementwise_(elementwise),
        spec_{.momentum = static_cast<float>(params.momentum),
              .weight_decay = static_cast<float>(params.weight_decay),
              .nesterov = params.nesterov} {}

  std::vector<std::string> slot_names() const override { return {"momentum"}; }
  void begin_step(double learning_rate) override { spec_.lr = static_cast<float>(learning_rate); }
  void update(const UpdateArguments& args) override {
    elementwise_.sgd(spec_, args.gradient, args.state[0], args.weight, args.count);
  }

 private:
  ops::ElementwiseOps& elementwise_;
  ops::SgdSpec spec_;
};

}  // namespace

std::int64_t num_optimizer_slots(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return 1;
  }
  return 0;
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerParams& params, ops::ElementwiseOps& elementwise) {
  switch (params.kind) {
    case OptimizerKind::kSgd:
      return std::make_unique<Sgd>(params, elementwise);
  }
  return nullptr;
}

}  // namespace convoy
