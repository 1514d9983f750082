/// Vision transformers: Dosovitskiy et al. 2020, "An image is worth 16x16 words", figure 1 and table 1, with parameters
/// named as torchvision's. The two sizes below the paper's: Touvron et al. 2020, "Training data-efficient image
/// transformers", table 1.
#include <cmath>

#include <fmt/format.h>

#include "convoy/base/error.h"

#include "model/layers/activation.h"
#include "model/layers/attention.h"
#include "model/layers/class_token.h"
#include "model/layers/convolution.h"
#include "model/layers/dropout.h"
#include "model/layers/embedding.h"
#include "model/layers/gather.h"
#include "model/layers/layer_norm.h"
#include "model/layers/linear.h"
#include "model/layers/sum.h"
#include "model/network_families.h"

namespace convoy {

namespace {

constexpr std::int64_t kHeadWidth = 64;
constexpr std::int64_t kPatches[] = {2, 4, 7, 8, 14, 16, 28, 32};  // sides in pixels; they divide 224
constexpr float kEpsilon = 1e-6f;
constexpr const char* kForm = "vit_SIZE_PATCH";

struct VitSize {
  std::string_view name;
  std::int64_t num_layers = 0;
  std::int64_t width = 0;  // C, in heads of 64
};
constexpr VitSize kSizes[] = {{"ti", 12, 192}, {"s", 12, 384}, {"b", 12, 768}, {"l", 24, 1024}};

struct Vit {
  VitSize size;
  std::int64_t patch = 0;  // side in pixels
};

Value norm(const std::string& name, const Value& x) {
  return layer_norm(name, x, kEpsilon);
}

// Weights are uniform within sqrt(6 / (fan-in + fan-out)): Glorot, Bengio 2010. Biases are almost 0.
Value fully_connected(const std::string& name, const Value& x, std::int64_t num_outputs) {
  const double within = std::sqrt(6.0 / static_cast<double>(x.shape().c + num_outputs));
  return linear(x, {.weight = name + ".weight",
                    .bias = name + ".bias",
                    .num_outputs = num_outputs,
                    .initial_weight = InitialValues{InitialValues::Kind::kUniform, within},
                    .initial_bias = InitialValues{InitialValues::Kind::kNormal, 1e-6}});
}

std::unique_ptr<Cell> vit_embedding(const Shape& images, const Vit& vit, DataType type) {
  CellBuilder cell({.name = "embedding", .type = type});
  const Value x = cell.feature(features::kImage, {images, type});  // (N,H,W,I)
  const double fan_in = static_cast<double>(vit.patch * vit.patch * images.c);
  const Value patches =
      convolution("conv_proj", x,
                  {.num_filters = vit.size.width,
                   .kernel = vit.patch,
                   .stride = vit.patch,
                   .bias = true,
                   .initial_weight = InitialValues{InitialValues::Kind::kNormal, std::sqrt(1 / fan_in)}});
  const Value words = class_token("class_token", patches);  // (N,T,1,C), T = 1 + patches
  return cell.finish(words + position_table("encoder.pos_embedding", words, /*deviation=*/0.02));
}

struct VitLayer {
  std::int64_t index = 0;
  Shape x;
  double drop = 0;  // share of samples for which each half of the layer is left out
  DataType type = DataType::kFloat32;
};

std::unique_ptr<Cell> vit_layer(const VitLayer& spec) {
  const std::string name = fmt::format("encoder.layers.encoder_layer_{}", spec.index);
  CellBuilder cell({.name = name, .parameters = name + ".", .type = spec.type});
  const std::int64_t c = spec.x.c;
  const Value x = cell.input(spec.x);  // (N,T,1,C)
  const Value a = x + stochastic_depth(self_attention("self_attention", norm("ln_1", x), {.num_heads = c / kHeadWidth}),
                                       spec.drop);                                                     // (N,T,1,C)
  const Value h = activate(ops::Activation::kGelu, fully_connected("mlp.0", norm("ln_2", a), 4 * c));  // (N,T,1,4C)
  return cell.finish(a + stochastic_depth(fully_connected("mlp.3", h, c), spec.drop));
}

// The output of the class token represents the image.
std::unique_ptr<Cell> vit_head(const Shape& shape, std::int64_t num_classes, DataType type) {
  CellBuilder cell({.name = "head", .type = type});
  const Value first = first_word(cell.input(shape));                                 // (N,1,1,C)
  return cell.finish(logits("heads.head", norm("encoder.ln", first), num_classes));  // (N,1,1,K)
}

// Returns nothing if the name is of another family. Throws RequestError if SIZE or PATCH is not possible.
std::optional<Vit> parse_vit(std::string_view name) {
  constexpr std::string_view kPrefix = "vit_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  for (const VitSize& size : kSizes)
    for (const std::int64_t patch : kPatches)
      if (name == fmt::format("{}{}_{}", kPrefix, size.name, patch)) return Vit{size, patch};
  refuse("model.name = {}: a vision transformer is {} with SIZE ti, s, b or l and PATCH {} pixels, as in vit_b_16.",
         name, kForm, fmt::join(kPatches, ", "));
}

Network make_vit(const Vit& vit, const NetworkSpec& spec) {
  const ImageShape& image = image_of(spec);
  if (image.h % vit.patch != 0 || image.w % vit.patch != 0)
    refuse(
        "model.name = {}: patches of {} x {} pixels do not divide the data's {} images. Give augment.size a multiple "
        "of {}, or take other patches.",
        spec.name, vit.patch, vit.patch, to_string(image), vit.patch);
  Network network;
  network.push_back(vit_embedding(image.batch(spec.micro_batch), vit, spec.type));
  for (std::int64_t i = 0; i < vit.size.num_layers; ++i)
    network.push_back(vit_layer(
        {.index = i,
         .x = network.back()->y().shape,
         .drop = spec.stochastic_depth * static_cast<double>(i) / static_cast<double>(vit.size.num_layers - 1),
         .type = spec.type}));
  network.push_back(vit_head(network.back()->y().shape, spec.num_classes, spec.type));
  return network;
}

std::optional<Network> find_vit(const NetworkSpec& spec) {
  const auto vit = parse_vit(spec.name);
  return vit ? std::optional(make_vit(*vit, spec)) : std::nullopt;
}

}  // namespace

NetworkFamily vit_family() {
  return {.names = {},
          .form = kForm,
          .drops_blocks = true,
          .about =
              "Dosovitskiy et al. 2020, SIZE b or l, and Touvron et al. 2020, SIZE ti or s; PATCH divides the image's "
              "sides. vit_b_16, vit_b_32 and vit_l_16 have torchvision's names of parameters and counts; vit_ti_4 is "
              "for small images",
          .make = find_vit};
}

}  // namespace convoy
