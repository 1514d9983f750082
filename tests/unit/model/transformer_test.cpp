/// The encoder has the parameters of torch.nn.TransformerEncoder, by name and shape, and their roles for optimizers.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/model/network.h"
#include "convoy/model/network_file.h"

namespace convoy {

namespace {

constexpr std::int64_t kWords = 1000, kLength = 24, kWidth = 64, kInner = 96, kClasses = 3;

NetworkSpec spec_of(NormPlace norm, PositionKind positions) {
  return {.name = "transformer",
          .input = TextShape{.length = kLength, .vocabulary = kWords},
          .settings = network_settings(
              {.layers = 2, .heads = 4, .width = kWidth, .feedforward = kInner, .positions = positions, .norm = norm}),
          .micro_batch = 2,
          .num_classes = kClasses};
}

std::map<std::string, ParameterSpec> parameters_of(const NetworkSpec& spec) {
  std::map<std::string, ParameterSpec> parameters;
  for (const auto& cell : make_network(spec))
    for (const auto& entry : cell->memory().parameters()) parameters[entry.spec.name] = entry.spec;
  return parameters;
}

using Dims = std::vector<std::int64_t>;

// Names and shapes in torch.nn.TransformerEncoderLayer(kWidth, 4, kInner).state_dict().
const std::map<std::string, Dims> kLayer = {{"self_attn.in_proj_weight", {3 * kWidth, kWidth}},
                                            {"self_attn.in_proj_bias", {3 * kWidth}},
                                            {"self_attn.out_proj.weight", {kWidth, kWidth}},
                                            {"self_attn.out_proj.bias", {kWidth}},
                                            {"linear1.weight", {kInner, kWidth}},
                                            {"linear1.bias", {kInner}},
                                            {"linear2.weight", {kWidth, kInner}},
                                            {"linear2.bias", {kWidth}},
                                            {"norm1.weight", {kWidth}},
                                            {"norm1.bias", {kWidth}},
                                            {"norm2.weight", {kWidth}},
                                            {"norm2.bias", {kWidth}}};

}  // namespace

TEST(Transformer, HasTheParametersOfTorchsEncoder) {
  for (const NormPlace norm : {NormPlace::kAfter, NormPlace::kBefore}) {
    for (const PositionKind positions : {PositionKind::kSinusoids, PositionKind::kLearned}) {
      std::map<std::string, Dims> want = {{"embedding.weight", {kWords, kWidth}},
                                          {"classifier.weight", {kClasses, kWidth}},
                                          {"classifier.bias", {kClasses}}};
      for (const std::string layer : {"layers.0.", "layers.1."})
        for (const auto& [name, dims] : kLayer) want[layer + name] = dims;
      if (norm == NormPlace::kBefore) want["norm.weight"] = want["norm.bias"] = {kWidth};
      if (positions == PositionKind::kLearned) want["position_embedding.weight"] = {kLength, kWidth};
      std::map<std::string, Dims> got;
      for (const auto& [name, spec] : parameters_of(spec_of(norm, positions))) got[name] = spec.dims;
      EXPECT_EQ(got, want);
    }
  }
}

TEST(Transformer, TellsEmbeddingsAndNormsAndBiasesFromWeights) {
  for (const auto& [name, spec] : parameters_of(spec_of(NormPlace::kBefore, PositionKind::kLearned))) {
    const bool is_embedding = name.find("embedding") != std::string::npos;
    const ParameterRole want = is_embedding            ? ParameterRole::kEmbedding
                               : spec.dims.size() == 1 ? ParameterRole::kNormOrBias
                                                       : ParameterRole::kWeight;
    EXPECT_EQ(spec.role, want) << name;
  }
}

}  // namespace convoy
