/// BERT: pre-training on masked words and next sentences, and classification, which begins with the weights of
/// pre-training.
#include "convoy/base/error.h"
#include "convoy/base/special_tokens.h"

#include "model/bert_cells.h"
#include "model/network_families.h"

namespace convoy {

namespace {

constexpr const char *kPretraining = "bert", *kClassifier = "bert_classifier";
constexpr std::int64_t kMinLength = 8;  // three marks, and some words of each span

EncoderSpec checked_spec(const NetworkSpec& spec) {
  EncoderSpec encoder = encoder_spec(spec);
  if (encoder.length < kMinLength)
    refuse(
        "model.length = {} is too short for {}, which reads two spans and their special tokens. Allowed: {} and more.",
        encoder.length, spec.name, kMinLength);
  if (encoder.num_words <= special_tokens::kCount)
    refuse("{} has no words to predict: the data's vocabulary has {} tokens, {} of which are special tokens.",
           spec.name, encoder.num_words, special_tokens::kCount);
  return encoder;
}

std::optional<Network> find_bert(const NetworkSpec& spec) {
  const bool classifies = spec.name == kClassifier;
  if (!classifies && spec.name != kPretraining) return std::nullopt;
  EncoderSpec encoder = checked_spec(spec);
  encoder.lengths = classifies ? features::kMarkedLength : features::kPairLength;
  Network network;
  network.push_back(classifies ? bert_embedding(encoder, features::kMarkedTokens, features::kMarkedSegments)
                               : bert_embedding(encoder, features::kPairTokens, features::kPairSegments));
  for (std::int64_t i = 0; i < encoder.shape.layers; ++i) network.push_back(encoder_layer(encoder, i));
  network.push_back(classifies ? bert_classifier(encoder, spec.num_classes) : bert_heads(encoder));
  return network;
}

}  // namespace

NetworkFamily bert_family() {
  return {.names = {kPretraining, kClassifier},
          .reads_texts = true,
          .about =
              "Devlin et al. 2018, BERT; its size is given by the same keys as transformer's. bert predicts masked "
              "words and whether one span of a text follows another; bert_classifier starts from the weights of bert "
              "(init.weights) and predicts classes",
          .make = find_bert};
}

}  // namespace convoy
