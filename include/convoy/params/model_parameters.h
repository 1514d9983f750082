/// The sections that describe the network and the weights that it begins with: model and init.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/params/choices.h"

namespace convoy {

struct ModelParams {
  std::string name = "resnet20";
  std::int64_t length = 256;    ///< tokens that the network reads per text
  double stochastic_depth = 0;  ///< share of samples that skip the last block; it falls to 0 for the first block
  bool operator==(const ModelParams&) const = default;
};

/// The shape of the networks transformer, bert and bert_classifier. Its keys are in the section model.
struct TransformerParams {
  std::int64_t layers = 2;
  std::int64_t heads = 4;          ///< divides width
  std::int64_t width = 128;        ///< C: values per word between layers
  std::int64_t feedforward = 512;  ///< F: outputs of the first linear layer in each layer
  double dropout = 0.1;
  ActivationKind activation = ActivationKind::kRelu;
  PositionKind positions = PositionKind::kSinusoids;
  NormPlace norm = NormPlace::kAfter;  ///< layer norm after the sums of a layer, or before its parts
  bool operator==(const TransformerParams&) const = default;
};

struct InitParams {
  std::string weights = "random";  ///< random, or the path of a checkpoint or a .safetensors file
  std::string strip_prefix;        ///< removed from the names of tensors that begin with it, as in "module."
  bool strict = true;              ///< true: refuses weights of another model; false: takes those that fit
  bool zero_residual = false;      ///< for random weights: every block begins as its shortcut
  bool operator==(const InitParams&) const = default;
};

}  // namespace convoy
