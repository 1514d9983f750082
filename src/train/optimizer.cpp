/// Stochastic gradient descent with momentum, as torch.optim.SGD defines it.
#include "train/optimizer.h"

namespace convoy {

namespace {

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerParams& params, DataType copy_type, ops::ElementwiseOps& elementwise)
      : elementwise_(elementwise),
        spec_{.momentum = static_cast<float>(params.momentum),
              .weight_decay = static_cast<float>(params.weight_decay),
              .nesterov = params.nesterov,
              .copy_type = copy_type} {}

  std::vector<std::string> slot_names() const override { return {"momentum"}; }
  void begin_step(double learning_rate, double gradient_factor) override {
    spec_.lr = static_cast<float>(learning_rate);
    spec_.gradient_factor = static_cast<float>(gradient_factor);
  }
  void update(const UpdateArguments& args) override {
    elementwise_.sgd(spec_, {.gradient = args.gradient,
                             .momentum = args.state[0],
                             .weight = args.weight,
                             .weight_copy = args.weight_copy,
                             .count = args.count});
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

std::unique_ptr<Optimizer> make_optimizer(const OptimizerParams& params, DataType copy_type,
                                          ops::ElementwiseOps& elementwise) {
  switch (params.kind) {
    case OptimizerKind::kSgd:
      return std::make_unique<Sgd>(params, copy_type, elementwise);
  }
  return nullptr;
}

}  // namespace convoy
