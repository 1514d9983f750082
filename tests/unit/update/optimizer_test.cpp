/// Optimizers against numbers of torch.optim, and LARS and LAMB against their algorithms in double loops.
#include "update/optimizer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/ops/backend.h"
#include "convoy/params/optimizer_parameters.h"

namespace convoy {

namespace {

constexpr std::size_t kCount = 4;
using Values = std::vector<float>;

const Values kFirstWeights = {0.5f, -1.25f, 2.0f, 0.0f};

// Gradients of a made-up loss: they depend on the step and on the weights.
Values gradient_at(std::int64_t step, const Values& weights) {
  const Values slope = {0.3f, -0.2f, 0.01f, 1.5f};
  Values gradient(kCount);
  for (std::size_t i = 0; i < kCount; ++i) gradient[i] = slope[i] * static_cast<float>(step) - 0.25f * weights[i];
  return gradient;
}

double square_sum(const Values& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum;
}

// What an update is told in addition to the values.
struct Facts {
  ParameterRole role = ParameterRole::kWeight;
  double clip_norm = 0;
  double rate_factor = 1;
  double first_rate = 0.1;
};

// The weights after each of four steps at learning rates of first_rate over 1, 2, 3, 4.
std::vector<Values> four_steps(const OptimizerParams& params, const Facts& facts = {}) {
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  const auto optimizer = make_optimizer(params, DataType::kFloat32, backend->elementwise());
  EXPECT_EQ(std::ssize(optimizer->state_names()), num_optimizer_states(params.kind));
  std::vector<Values> states(optimizer->state_names().size(), Values(kCount, 0.0f)), after;
  std::vector<float*> pointers;
  for (Values& state : states) pointers.push_back(state.data());
  Values weights = kFirstWeights;
  for (std::int64_t step = 1; step <= 4; ++step) {
    Values gradient = gradient_at(step, weights);
    const double norm = std::sqrt(square_sum(gradient));
    optimizer->begin_step({.learning_rate = facts.first_rate / static_cast<double>(step),
                           .gradient_factor = facts.clip_norm > 0 ? std::min(1.0, facts.clip_norm / (norm + 1e-6)) : 1,
                           .number = step});
    UpdateArguments args{.gradient = gradient.data(),
                         .weight = weights.data(),
                         .state = pointers,
                         .role = facts.role,
                         .rate_factor = facts.rate_factor,
                         .count = kCount};
    if (tensor_norms(params.kind) == TensorNorms::kOfDirections) optimizer->find_directions(args);
    args.gradient_square_sum = square_sum(gradient);
    args.weight_square_sum = square_sum(weights);
    optimizer->update(args);
    after.push_back(weights);
  }
  return after;
}

// Weights near 1, about ten float32 operations per step, four steps: 40 * 2^-24 * 2, with the room that another order
// of the same operations takes.
constexpr float kTolerance = 5e-6f;

void expect_near(const std::vector<Values>& got, const std::vector<Values>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t step = 0; step < want.size(); ++step)
    for (std::size_t i = 0; i < kCount; ++i)
      EXPECT_NEAR(got[step][i], want[step][i], kTolerance) << "value " << i << " after step " << step + 1;
}

// What torch would do with LARS, if it had one: You et al. 2017, algorithm 1.
std::vector<Values> lars_in_doubles(double momentum, double decay, double trust) {
  std::vector<double> w(kFirstWeights.begin(), kFirstWeights.end()), v(kCount, 0.0);
  std::vector<Values> after;
  for (std::int64_t step = 1; step <= 4; ++step) {
    const Values gradient = gradient_at(step, Values(w.begin(), w.end()));
    const double w_norm = std::sqrt(square_sum(Values(w.begin(), w.end()))), g_norm = std::sqrt(square_sum(gradient));
    const double rate = 0.1 / static_cast<double>(step) * trust * w_norm / (g_norm + decay * w_norm);
    for (std::size_t i = 0; i < kCount; ++i) {
      v[i] = momentum * v[i] + rate * (gradient[i] + decay * w[i]);
      w[i] -= v[i];
    }
    after.emplace_back(w.begin(), w.end());
  }
  return after;
}

// You et al. 2019, algorithm 2.
std::vector<Values> lamb_in_doubles(double decay, double beta1, double beta2, double epsilon) {
  std::vector<double> w(kFirstWeights.begin(), kFirstWeights.end()), m(kCount, 0.0), v(kCount, 0.0);
  std::vector<Values> after;
  for (std::int64_t step = 1; step <= 4; ++step) {
    const auto t = static_cast<double>(step);
    const Values gradient = gradient_at(step, Values(w.begin(), w.end()));
    double direction[kCount], w_squares = 0, d_squares = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      const double g = gradient[i];
      m[i] = beta1 * m[i] + (1 - beta1) * g;
      v[i] = beta2 * v[i] + (1 - beta2) * g * g;
      const double mean = m[i] / (1 - std::pow(beta1, t)), square = v[i] / (1 - std::pow(beta2, t));
      direction[i] = mean / (std::sqrt(square) + epsilon) + decay * w[i];
      w_squares += w[i] * w[i];
      d_squares += direction[i] * direction[i];
    }
    for (std::size_t i = 0; i < kCount; ++i) w[i] -= 0.1 / t * std::sqrt(w_squares / d_squares) * direction[i];
    after.emplace_back(w.begin(), w.end());
  }
  return after;
}

constexpr OptimizerKind kAllKinds[] = {OptimizerKind::kSgd, OptimizerKind::kAdam, OptimizerKind::kAdamW,
                                       OptimizerKind::kLars, OptimizerKind::kLamb};

// With decay of all parameters, with the role's off, and without any.
void expect_decay_can_be_off(ParameterRole role, bool OptimizerParams::*decays) {
  for (const OptimizerKind kind : kAllKinds) {
    SCOPED_TRACE(name_of(kind));
    const OptimizerParams all = {.kind = kind, .weight_decay = 0.5}, none = {.kind = kind, .weight_decay = 0};
    OptimizerParams spared = all;
    spared.*decays = false;
    EXPECT_TRUE(tells_roles(spared));
    EXPECT_EQ(four_steps(spared, {.role = role}), four_steps(none, {.role = role}));
    EXPECT_NE(four_steps(all, {.role = role}), four_steps(none, {.role = role}));
    for (const ParameterRole other : {ParameterRole::kWeight, ParameterRole::kEmbedding, ParameterRole::kNormOrBias}) {
      if (other == role) continue;
      EXPECT_EQ(four_steps(spared, {.role = other}), four_steps(all, {.role = other}));
    }
  }
}

}  // namespace

// The numbers below are printed by PyTorch 1.13 (float32, CPU), with `make` as each test says:
//   w = torch.nn.Parameter(torch.tensor([0.5, -1.25, 2.0, 0.0]))
//   o = make([w])
//   for t in range(1, 5):
//       o.param_groups[0]["lr"] = 0.1 / t
//       w.grad = torch.tensor([0.3, -0.2, 0.01, 1.5]) * t - 0.25 * w.detach()
//       if clip: torch.nn.utils.clip_grad_norm_([w], clip)
//       o.step()
//       print("{" + ", ".join("%.9gf" % x for x in w.tolist()) + "},")

TEST(Optimizer, SgdHasTheNumbersOfTorch) {
  // torch.optim.SGD(p, lr=1, momentum=0.9, weight_decay=0.01)
  expect_near(four_steps({.momentum = 0.9, .weight_decay = 0.01}),
              {{0.481999993f, -1.25999999f, 2.04699993f, -0.150000006f},
               {0.449683994f, -1.25961995f, 2.09171391f, -0.369300008f},
               {0.403891861f, -1.24946892f, 2.13427591f, -0.653834403f},
               {0.345405519f, -1.23011374f, 2.17481089f, -0.999818146f}});
}

TEST(Optimizer, NesterovHasTheNumbersOfTorch) {
  // torch.optim.SGD(p, lr=1, momentum=0.9, weight_decay=0.01, nesterov=True)
  expect_near(four_steps({.momentum = 0.9, .nesterov = true, .weight_decay = 0.01}),
              {{0.465799987f, -1.26900005f, 2.08929992f, -0.284999996f},
               {0.412130237f, -1.26398325f, 2.15407085f, -0.63724798f},
               {0.34383899f, -1.24504888f, 2.20933247f, -1.05123091f},
               {0.26268667f, -1.21513629f, 2.25896335f, -1.52296233f}});
}

TEST(Optimizer, AdamHasTheNumbersOfTorch) {
  // torch.optim.Adam(p, lr=1, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.01)
  expect_near(
      four_steps({.kind = OptimizerKind::kAdam, .weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-6}),
      {{0.400000542f, -1.34999895f, 2.0999999f, -0.0999999493f},
       {0.353776991f, -1.35414982f, 2.15002942f, -0.148150548f},
       {0.322974861f, -1.33572543f, 2.18339372f, -0.179983214f},
       {0.299658835f, -1.31747353f, 2.20841742f, -0.203896105f}});
}

TEST(Optimizer, AdamWHasTheNumbersOfTorch) {
  // torch.optim.AdamW(p, lr=1, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.01)
  expect_near(
      four_steps({.kind = OptimizerKind::kAdamW, .weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-6}),
      {{0.399500549f, -1.34874904f, 2.09799981f, -0.0999999493f},
       {0.353201181f, -1.35919142f, 2.14698005f, -0.148098752f},
       {0.322338581f, -1.34223902f, 2.17962909f, -0.179881305f},
       {0.298972666f, -1.32428479f, 2.20410872f, -0.203748927f}});
}

TEST(Optimizer, ClippedGradientsGiveTheNumbersOfTorch) {
  // torch.optim.SGD(p, lr=1, momentum=0.9, weight_decay=0.01), clip = 0.75
  expect_near(four_steps({.momentum = 0.9, .weight_decay = 0.01}, {.clip_norm = 0.75}),
              {{0.491253883f, -1.25405109f, 2.02108908f, -0.0706808865f},
               {0.481290162f, -1.25419903f, 2.03544903f, -0.139018834f},
               {0.470946133f, -1.2523247f, 2.04596925f, -0.204434544f},
               {0.460564941f, -1.2492702f, 2.05398846f, -0.266884953f}});
}

TEST(Optimizer, LarsEqualsItsAlgorithmInDoubleLoops) {
  expect_near(
      four_steps({.kind = OptimizerKind::kLars, .momentum = 0.9, .weight_decay = 0.01, .trust_coefficient = 0.5}),
      lars_in_doubles(0.9, 0.01, 0.5));
}

TEST(Optimizer, LarsTreatsNormsAndBiasesAsSgdDoes) {
  // At one learning rate both velocities are the same but for its factor; it falls here, so the first step compares.
  const Facts facts{.role = ParameterRole::kNormOrBias};
  const auto lars = four_steps({.kind = OptimizerKind::kLars, .weight_decay = 0.01, .trust_coefficient = 0.5}, facts);
  const auto sgd = four_steps({.weight_decay = 0.01}, facts);
  expect_near({lars[0]}, {sgd[0]});
}

TEST(Optimizer, LambEqualsItsAlgorithmInDoubleLoops) {
  const OptimizerParams params = {
      .kind = OptimizerKind::kLamb, .weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-6};
  for (const ParameterRole role : {ParameterRole::kWeight, ParameterRole::kEmbedding})
    expect_near(four_steps(params, {.role = role}), lamb_in_doubles(0.01, 0.9, 0.99, 1e-6));
}

// Without a rate of the tensor's own its step is AdamW's.
TEST(Optimizer, LambTreatsNormsAndBiasesAsAdamWDoes) {
  OptimizerParams params = {
      .kind = OptimizerKind::kLamb, .weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-6};
  const auto lamb = four_steps(params, {.role = ParameterRole::kNormOrBias});
  EXPECT_NE(lamb, four_steps(params));
  params.kind = OptimizerKind::kAdamW;
  expect_near(lamb, four_steps(params));
}

TEST(Optimizer, DecayOfNormsAndBiasesCanBeOff) {
  expect_decay_can_be_off(ParameterRole::kNormOrBias, &OptimizerParams::decay_norms_and_biases);
}

TEST(Optimizer, DecayOfEmbeddingsCanBeOff) {
  expect_decay_can_be_off(ParameterRole::kEmbedding, &OptimizerParams::decay_embeddings);
}

// A factor of the rate is another rate, to the bit: a power of two rounds nothing.
TEST(Optimizer, AGroupsFactorIsAnotherLearningRate) {
  for (const OptimizerKind kind :
       {OptimizerKind::kSgd, OptimizerKind::kAdam, OptimizerKind::kAdamW, OptimizerKind::kLars, OptimizerKind::kLamb}) {
    const OptimizerParams params{.kind = kind, .weight_decay = 0.01};
    const auto grouped = four_steps(params, {.rate_factor = 0.25});
    EXPECT_EQ(grouped, four_steps(params, {.first_rate = 0.025})) << name_of(kind);
    EXPECT_NE(grouped, four_steps(params)) << name_of(kind);
  }
}

}  // namespace convoy
