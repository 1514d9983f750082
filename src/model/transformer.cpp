/// The Transformer's encoder for classes of texts: embedding, layers, mean over the words.
#include "model/network_families.h"
#include "model/transformer_cells.h"

namespace convoy {

namespace {

constexpr const char* kName = "transformer";

std::optional<Network> find_transformer(const NetworkSpec& spec) {
  if (spec.name != kName) return std::nullopt;
  const EncoderSpec encoder = encoder_spec(spec);
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
              "Vaswani et al. 2017: the encoder, with a mean over the words, for texts. model.layers, model.heads, "
              "model.width and model.feedforward set its size",
          .make = find_transformer};
}

}  // namespace convoy
