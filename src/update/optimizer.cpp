/// Stochastic gradient descent with momentum, Adam and AdamW as torch.optim defines them, LARS and LAMB.
#include "update/optimizer.h"

#include <cmath>

#include "convoy/base/error.h"
#include "convoy/params/optimizer_parameters.h"

namespace convoy {

namespace {

double decay_of(const OptimizerParams& params, const UpdateArguments& args) {
  const bool is_spared = (args.role == ParameterRole::kNormOrBias && !params.decay_norms_and_biases) ||
                         (args.role == ParameterRole::kEmbedding && !params.decay_embeddings);
  return is_spared ? 0 : params.weight_decay;
}

// Whether LARS and LAMB give the tensor a rate of its own.
bool has_own_rate(const UpdateArguments& args) {
  return args.role != ParameterRole::kNormOrBias && args.gradient_square_sum > 0 && args.weight_square_sum > 0;
}

class Sgd : public Optimizer {
 public:
  Sgd(const OptimizerParams& params, DataType copy_type, ops::ElementwiseOps& elementwise)
      : params_(params), copy_type_(copy_type), elementwise_(elementwise) {}

  std::vector<std::string> state_names() const override { return {"momentum"}; }
  void begin_step(const UpdateStep& step) override { step_ = step; }
  void update(const UpdateArguments& args) override {
    elementwise_.sgd(spec_for(args), {.gradient = args.gradient,
                                      .momentum = args.state[0],
                                      .weight = args.weight,
                                      .weight_copy = args.weight_copy,
                                      .count = args.count});
  }

 protected:
  virtual ops::SgdSpec spec_for(const UpdateArguments& args) const {
    return {.lr = static_cast<float>(step_.learning_rate * args.rate_factor),
            .momentum = static_cast<float>(params_.momentum),
            .weight_decay = static_cast<float>(decay_of(params_, args)),
            .nesterov = params_.nesterov,
            .gradient_factor = static_cast<float>(step_.gradient_factor),
            .copy_type = copy_type_};
  }

  OptimizerParams params_;
  DataType copy_type_;
  UpdateStep step_;

 private:
  ops::ElementwiseOps& elementwise_;
};

// Kingma & Ba 2015; with kind = adamw the decay of Loshchilov & Hutter 2019.
class Adam : public Optimizer {
 public:
  Adam(const OptimizerParams& params, DataType copy_type, ops::ElementwiseOps& elementwise)
      : params_(params),
        elementwise_(elementwise),
        spec_{.beta1 = static_cast<float>(params.beta1),
              .one_minus_beta1 = static_cast<float>(1 - params.beta1),
              .beta2 = static_cast<float>(params.beta2),
              .one_minus_beta2 = static_cast<float>(1 - params.beta2),
              .epsilon = static_cast<float>(params.epsilon),
              .copy_type = copy_type} {}

  std::vector<std::string> state_names() const override { return {"mean", "square"}; }
  void begin_step(const UpdateStep& step) override {
    const auto t = static_cast<double>(step.number);
    learning_rate_ = step.learning_rate;
    mean_correction_ = 1 - std::pow(params_.beta1, t);
    spec_.gradient_factor = static_cast<float>(step.gradient_factor);
    spec_.root_correction = static_cast<float>(std::sqrt(1 - std::pow(params_.beta2, t)));
  }
  void update(const UpdateArguments& args) override {
    const double decay = decay_of(params_, args), rate = learning_rate_ * args.rate_factor;
    spec_.step_size = static_cast<float>(rate / mean_correction_);
    if (params_.kind == OptimizerKind::kAdamW) {
      spec_.weight_factor = static_cast<float>(1 - rate * decay);
    } else {
      spec_.weight_decay = static_cast<float>(decay);
    }
    elementwise_.adam(spec_, {.gradient = args.gradient,
                              .mean = args.state[0],
                              .square = args.state[1],
                              .weight = args.weight,
                              .weight_copy = args.weight_copy,
                              .count = args.count});
  }

 protected:
  OptimizerParams params_;
  ops::ElementwiseOps& elementwise_;
  ops::AdamSpec spec_;
  double mean_correction_ = 1;

 private:
  double learning_rate_ = 0;
};

// You et al. 2019, "Large batch optimization for deep learning: training BERT in 76 minutes", algorithm 2, for each
// tensor, with phi(z) = z:
//   d = m^ / (sqrt(v^) + epsilon) + decay * w        m^, v^: Adam's averages, corrected
//   w -= lr * |w| / |d| * d                          lr for norms and biases, as in the authors' code, and where a norm
//   is 0
class Lamb final : public Adam {
 public:
  using Adam::Adam;

  void begin_step(const UpdateStep& step) override {
    rate_ = step.learning_rate;
    Adam::begin_step(step);
  }
  void find_directions(const UpdateArguments& args) override {
    spec_.step_size = static_cast<float>(1 / mean_correction_);
    spec_.weight_decay = static_cast<float>(decay_of(params_, args));
    elementwise_.adam_direction(spec_, {.gradient = args.gradient,
                                        .mean = args.state[0],
                                        .square = args.state[1],
                                        .weight = args.weight,
                                        .count = args.count});
  }
  void update(const UpdateArguments& args) override {
    double rate = rate_ * args.rate_factor;
    if (has_own_rate(args)) rate *= std::sqrt(args.weight_square_sum) / std::sqrt(args.gradient_square_sum);
    elementwise_.descend(
        static_cast<float>(rate), spec_.copy_type,
        {.direction = args.gradient, .weight = args.weight, .weight_copy = args.weight_copy, .count = args.count});
  }

 private:
  double rate_ = 0;
};

// You, Gitman & Ginsburg 2017, "Large batch training of convolutional networks", algorithm 1, for each tensor:
//   rate = lr * trust_coefficient * |w| / (|g| + decay * |w|)      lr for batch norm, biases, and where a norm is 0
//   v = momentum * v + rate * (g + decay * w);  w -= v
// which is SGD's update with the rate taken into its factors.
class Lars final : public Sgd {
 public:
  using Sgd::Sgd;

 private:
  ops::SgdSpec spec_for(const UpdateArguments& args) const override {
    const double decay = decay_of(params_, args);
    const double gradient_norm = std::sqrt(args.gradient_square_sum) * step_.gradient_factor;
    const double weight_norm = std::sqrt(args.weight_square_sum);
    double rate = step_.learning_rate * args.rate_factor;
    if (has_own_rate(args)) rate *= params_.trust_coefficient * weight_norm / (gradient_norm + decay * weight_norm);
    return {.lr = 1,
            .momentum = static_cast<float>(params_.momentum),
            .weight_decay = static_cast<float>(rate * decay),
            .gradient_factor = static_cast<float>(rate * step_.gradient_factor),
            .copy_type = copy_type_};
  }
};

using MakeOptimizer = std::unique_ptr<Optimizer>(const OptimizerParams&, DataType, ops::ElementwiseOps&);

template <typename T>
std::unique_ptr<Optimizer> make(const OptimizerParams& params, DataType copy_type, ops::ElementwiseOps& elementwise) {
  return std::make_unique<T>(params, copy_type, elementwise);
}

// The one list of optimizers.
struct Row {
  OptimizerKind kind;
  MakeOptimizer* make;
  std::int64_t num_states;  // as many as state_names() has
  TensorNorms norms = TensorNorms::kNone;
};
constexpr Row kOptimizers[] = {
    {.kind = OptimizerKind::kSgd, .make = make<Sgd>, .num_states = 1},
    {.kind = OptimizerKind::kAdam, .make = make<Adam>, .num_states = 2},
    {.kind = OptimizerKind::kAdamW, .make = make<Adam>, .num_states = 2},
    {.kind = OptimizerKind::kLars, .make = make<Lars>, .num_states = 1, .norms = TensorNorms::kOfGradients},
    {.kind = OptimizerKind::kLamb, .make = make<Lamb>, .num_states = 2, .norms = TensorNorms::kOfDirections},
};

const Row& row_of(OptimizerKind kind) {
  for (const Row& row : kOptimizers) {
    if (row.kind == kind) return row;
  }
  fail("There is no optimizer number {}.", static_cast<int>(kind));
}

}  // namespace

std::int64_t num_optimizer_states(OptimizerKind kind) {
  return row_of(kind).num_states;
}

std::int64_t memory_accesses_per_update(OptimizerKind kind) {
  constexpr std::int64_t kOfWeight = 3;      // gradient and weight read, weight written
  constexpr std::int64_t kOfNorms = 2;       // gradient or direction, and weight
  constexpr std::int64_t kOfDirections = 3;  // weight read, direction written and read
  const Row& row = row_of(kind);
  return kOfWeight + 2 * row.num_states + (row.norms != TensorNorms::kNone ? kOfNorms : 0) +
         (row.norms == TensorNorms::kOfDirections ? kOfDirections : 0);
}

TensorNorms tensor_norms(OptimizerKind kind) {
  return row_of(kind).norms;
}

bool tells_roles(const OptimizerParams& params) {
  return tensor_norms(params.kind) != TensorNorms::kNone || !params.decay_norms_and_biases || !params.decay_embeddings;
}

void Optimizer::find_directions(const UpdateArguments& /*args*/) {
  fail("this optimizer's steps follow gradients");
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerParams& params, DataType copy_type,
                                          ops::ElementwiseOps& elementwise) {
  return row_of(params.kind).make(params, copy_type, elementwise);
}

}  // namespace convoy
