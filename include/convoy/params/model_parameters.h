/// The sections that describe the network and the weights that it begins with: model and init.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/params/choices.h"

namespace convoy {

struct ModelParams {
  std::string name = "resnet20";
  std::string file;           ///< path of the file of a network of one's own, which takes the place of `name`; or empty
  std::string set;            ///< values of the parameters that the network's file declares: "width=32, depth=20"
  std::int64_t length = 256;  ///< number of tokens that the network reads per text
  double stochastic_depth = 0;  ///< share of samples that skip the last block; earlier blocks have less, the first 0
  bool operator==(const ModelParams&) const = default;
};

/// The shape of the networks transformer, bert and bert_classifier. Its keys are in the section model.
struct TransformerParams {
  std::int64_t layers = 2;
  std::int64_t heads = 4;          ///< number of attention heads, which divides width
  std::int64_t width = 128;        ///< number of values per word between layers (C)
  std::int64_t feedforward = 512;  ///< number of outputs of the first linear layer in each layer (F)
  double dropout = 0.1;
  ActivationKind activation = ActivationKind::kRelu;
  PositionKind positions = PositionKind::kSinusoids;
  NormPlace norm = NormPlace::kAfter;  ///< whether layer norms come after the sums of a layer, or before its parts
  bool operator==(const TransformerParams&) const = default;
};

struct InitParams {
  std::string weights = "random";  ///< "random", or the path of a checkpoint or of a .safetensors file
  std::string strip_prefix;        ///< text that is removed from the beginning of tensors' names: "module."
  bool strict = true;              ///< whether weights of another model are refused; false: those that fit are taken
  bool zero_residual = false;      ///< whether random weights make every block begin as its shortcut
  bool operator==(const InitParams&) const = default;
};

}  // namespace convoy
