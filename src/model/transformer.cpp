/// The Transformer's encoder for classes of texts: embedding, layers, mean over the words.
#include "convoy/base/error.h"

#include "model/network_families.h"
#include "model/transformer_cells.h"

namespace convoy {

namespace {

constexpr const char* kName = "transformer";

void check(const NetworkSpec& spec) {
  const TransformerParams& shape = spec.transformer;
  if (shape.width % shape.heads != 0)
    refuse("model.heads = {} does not divide model.width = {}: each head has the same share of the width.", shape.heads,
           shape.width);
  const std::int64_t head_width = shape.width / shape.heads;
  if (head_width != 16 && head_width != 32 && head_width != 64 && head_width != 128)
    refuse("model.width = {} and model.heads = {} give heads of {} values; 16, 32, 64 and 128 are possible.",
           shape.width, shape.heads, head_width);
}

std::optional<Network> find_transformer(const NetworkSpec& spec) {
  if (spec.name != kName) return std::nullopt;
  check(spec);
  const TextShape& text = text_of(spec);
  const EncoderSpec encoder{.n = spec.micro_batch,
                            .length = text.length,
                            .num_words = text.vocabulary,
                            .shape = spec.transformer,
                            .type = spec.type};
  Network network;
  network.push_back(text_embedding(encoder));
  for (std::int64_t i = 0; i < encoder.shape.layers; ++i) network.push_back(encoder_layer(encoder, i));
  network.push_back(text_classifier(encoder, spec.num_classes));
  return network;
}

}  // namespace

NetworkFamily transformer_family() {
  return {.names = {kName},
          .reads_texts = true,
          .about =
              "Vaswani et al. 2017, the encoder with a mean over the words, for texts; its size by model.layers, "
              "heads, width and feedforward",
          .make = find_transformer};
}

}  // namespace convoy
