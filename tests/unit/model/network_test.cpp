/// Networks have the parameters, names and shapes of the papers and of torchvision.
#include "convoy/model/network.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/model/network_file.h"

#include "unit/messages.h"
#include "unit/model/declared_input.h"

namespace convoy {

namespace {

NetworkSpec photographs(const std::string& name) {
  return {.name = name, .input = ImageShape{224, 224, 3}, .micro_batch = 2, .num_classes = 1000};
}

Network imagenet(const std::string& name) {
  return make_network(photographs(name));
}

Network small(const std::string& name, std::int64_t channels = 3) {
  return make_network({.name = name, .input = ImageShape{32, 32, channels}, .micro_batch = 2, .num_classes = 10});
}

double forward_gigaflop_per_sample(const Network& network) {
  double flop = 0;
  for (const auto& cell : network) flop += cell->memory().forward_flop();
  return flop / static_cast<double>(network.front()->x().shape.n) / 1e9;
}

double gigaflop_a_sample(const Network& network) {
  double flop = 0;
  for (const auto& cell : network) flop += cell->memory().forward_flop() + cell->memory().backward_flop();
  return flop / static_cast<double>(network.front()->x().shape.n) / 1e9;
}

// The message that the user reads.
std::string refusal_of(const NetworkSpec& spec) {
  return test::message_of<RequestError>([&] { make_network(spec); });
}

void expect_refusals(const std::map<const char*, const char*>& message_of_name) {
  for (const auto& [name, message] : message_of_name)
    EXPECT_THAT(refusal_of({.name = name, .input = ImageShape{32, 32, 3}, .micro_batch = 1, .num_classes = 10}),
                testing::HasSubstr(message));
}

}  // namespace

TEST(Network, ParameterCountsAreTorchvisions) {
  const std::map<std::string, std::int64_t> expected = {
      {"resnet18", 11'689'512},          {"resnet34", 21'797'672},        {"resnet50", 25'557'032},
      {"resnet101", 44'549'160},         {"resnet152", 60'192'808},       {"wide_resnet50_2", 68'883'240},
      {"wide_resnet101_2", 126'886'696}, {"resnext50_32x4d", 25'028'904}, {"resnext101_32x8d", 88'791'336}};
  for (const auto& [name, count] : expected) EXPECT_EQ(count_parameters(imagenet(name)), count) << name;
}

TEST(Network, ConvnextsHaveTheParametersOfTorchvisionAndOfThePaper) {
  EXPECT_EQ(count_parameters(imagenet("convnext_tiny")), 28'589'128);
  EXPECT_EQ(count_parameters(imagenet("convnext_small")), 50'223'688);
  EXPECT_EQ(count_parameters(imagenet("convnext_base")), 88'591'464);
  EXPECT_NEAR(static_cast<double>(count_parameters(imagenet("convnext_atto"))), 3.7e6, 0.05e6);
  EXPECT_NEAR(forward_gigaflop_per_sample(imagenet("convnext_tiny")), 2 * 4.46, 0.01);  // torchvision's figure
}

// torchvision's counts and, of multiply-adds, its figures.
TEST(Network, EfficientnetsAndMobilenetsHaveTheParametersOfTorchvision) {
  EXPECT_EQ(count_parameters(imagenet("efficientnet_b0")), 5'288'548);
  EXPECT_EQ(count_parameters(imagenet("efficientnet_b1")), 7'794'184);
  EXPECT_EQ(count_parameters(imagenet("efficientnet_b2")), 9'109'994);
  EXPECT_EQ(count_parameters(imagenet("efficientnet_b4")), 19'341'616);
  EXPECT_EQ(count_parameters(imagenet("efficientnet_b7")), 66'347'960);
  EXPECT_EQ(count_parameters(imagenet("mobilenet_v3_small")), 2'542'856);
  EXPECT_EQ(count_parameters(imagenet("mobilenet_v3_large")), 5'483'032);
  EXPECT_NEAR(forward_gigaflop_per_sample(imagenet("efficientnet_b0")), 2 * 0.386, 0.002);
  EXPECT_NEAR(forward_gigaflop_per_sample(imagenet("mobilenet_v3_small")), 2 * 0.057, 0.001);
}

// Two layers with biases in each block, of C C / 16 weights: Hu et al. 2018, section 4, who give 2.5 million.
TEST(Network, SqueezeAndExcitationAddsTheParametersOfThePaper) {
  std::int64_t added = 0;
  for (const auto& [blocks, c] : {std::pair<std::int64_t, std::int64_t>{3, 256}, {4, 512}, {6, 1024}, {3, 2048}})
    added += blocks * (2 * c * c / 16 + c / 16 + c);
  EXPECT_EQ(count_parameters(imagenet("se_resnet50")), 25'557'032 + added);
}

// Weights and biases: without hidden layers, and with norms of two parameters per value.
TEST(Network, PerceptronsHaveTheParametersOfTheirLayers) {
  EXPECT_EQ(count_parameters(small("mlp")), 3072 * 64 + 64 + 64 * 10 + 10);
  const auto count_with = [](const NetworkSettings& settings) {
    return count_parameters(make_network(
        {.name = "mlp", .input = ImageShape{5, 4, 3}, .settings = settings, .micro_batch = 2, .num_classes = 7}));
  };
  EXPECT_EQ(count_with({{"layers", "0"}}), 60 * 7 + 7);
  EXPECT_EQ(count_with({{"layers", "3"}, {"width", "8"}, {"norm", "layer"}}),
            60 * 8 + 2 * 8 * 8 + 3 * (8 + 2 * 8) + 8 * 7 + 7);
}

TEST(Network, VisionTransformersHaveTheParametersOfTorchvisionAndOfThePapers) {
  EXPECT_EQ(count_parameters(imagenet("vit_b_16")), 86'567'656);
  EXPECT_EQ(count_parameters(imagenet("vit_b_32")), 88'224'232);
  EXPECT_EQ(count_parameters(imagenet("vit_l_16")), 304'326'632);
  EXPECT_NEAR(static_cast<double>(count_parameters(imagenet("vit_s_16"))), 22e6, 0.1e6);
  EXPECT_NEAR(static_cast<double>(count_parameters(imagenet("vit_ti_16"))), 5.7e6, 0.05e6);
  EXPECT_NEAR(forward_gigaflop_per_sample(imagenet("vit_b_16")), 2 * 17.56, 0.05);  // torchvision's figure
}

TEST(Network, AVisionTransformerThatCannotBeIsRefusedWithWhatCan) {
  for (const char* name : {"vit_", "vit_b", "vit_b_"})
    EXPECT_THAT(refusal_of(photographs(name)), testing::HasSubstr("the name of such a network is vit_SIZE_PATCH"))
        << name;
  EXPECT_THAT(refusal_of(photographs("vit_b_5")), testing::HasSubstr("patches of 5 x 5 pixels do not divide"));
  EXPECT_THAT(refusal_of(photographs("vit_x_16")), testing::HasSubstr("size must be one of ti, s, b, l, not x"));
  for (const char* name : {"vit_b_16x", "vit_b_016"})
    EXPECT_THAT(refusal_of(photographs(name)), testing::HasSubstr("patch must be a whole number, not ")) << name;
  EXPECT_THAT(refusal_of({.name = "vit_ti_8", .input = ImageShape{32, 28, 3}, .micro_batch = 1, .num_classes = 10}),
              testing::HasSubstr("patches of 8 x 8 pixels do not divide the data's 32x28x3 images"));
}

TEST(Network, StochasticDepthIsRefusedWhereNoBlockIsLeftOut) {
  NetworkSpec spec = photographs("resnet18");
  spec.settings["stochastic_depth"] = "0.1";
  EXPECT_THAT(
      refusal_of(spec),
      testing::HasSubstr("model.name = resnet18: the network has no parameter 'stochastic_depth', so that it cannot "
                         "be 0.1. It has no parameters"));
}

TEST(Network, AConvnextForSmallImagesIsRefusedWithTheSizeThatItNeeds) {
  EXPECT_THAT(
      refusal_of({.name = "convnext_tiny", .input = ImageShape{28, 32, 1}, .micro_batch = 1, .num_classes = 10}),
      testing::AllOf(testing::HasSubstr("28x32x1"), testing::HasSubstr("at least 32 pixels")));
}

TEST(Network, SmallImageParameterCountsFollowTheFormula) {
  // Convolutions 9 C K, batch norms 2 K, fc 64 * 10 + 10; n = (depth - 2) / 6 blocks per layer.
  for (const std::int64_t depth : {20, 32, 44, 56, 110}) {
    const std::int64_t n = (depth - 2) / 6;
    const auto conv = [](std::int64_t c, std::int64_t k) { return 9 * c * k + 2 * k; };
    const std::int64_t expected = conv(3, 16) + 2 * n * conv(16, 16) + conv(16, 32) + (2 * n - 1) * conv(32, 32) +
                                  conv(32, 64) + (2 * n - 1) * conv(64, 64) + 650;
    EXPECT_EQ(count_parameters(small("resnet" + std::to_string(depth))), expected) << depth;
  }
}

// Convolutions 9 C K or C K, batch norms 2 C before each 3x3 convolution and at the end, fc 64 k * 10 + 10. The paper
// gives 36.5 M for 28 layers of width 10, 17.1 M for 16 of width 10 and 11.0 M for 16 of width 8 (tables 2 and 4).
TEST(Network, WideResnetsHaveTheParametersOfThePaper) {
  EXPECT_EQ(count_parameters(small("wrn28-10")), 36'479'194);
  EXPECT_NEAR(static_cast<double>(count_parameters(small("wrn16-10"))), 17.1e6, 0.05e6);
  EXPECT_NEAR(static_cast<double>(count_parameters(small("wrn16-8"))), 11.0e6, 0.05e6);
}

TEST(Network, AWideResnetThatCannotBeIsRefusedWithWhatCan) {
  expect_refusals({{"wrn", "wrnDEPTH-WIDTH"},
                   {"wrn28", "DEPTH is 6n + 4"},
                   {"wrn28_10", "wrnDEPTH-WIDTH"},
                   {"wrn27-10", "a depth of 6 n + 4, not 27. Nearest: 28"},
                   {"wrn28-0", "width must be a number, at least 1, at most 1000, not 0"},
                   {"wrn28-10x", "width must be a whole number, not 10x"},
                   {"wrn28--1", "at most 1000, not -1"},
                   {"wrn4-1", "depth must be a number, at least 10, at most 2000, not 4"},
                   {"wrn99999999999999999999-1", "depth must be a whole number, not 99999999999999999999"}});
}

// 24,253,410 is the number in a public comparison of PyramidNets; the paper gives 28.5 M for the other (table 4).
TEST(Network, PyramidnetsHaveTheParametersOfThePaper) {
  EXPECT_EQ(count_parameters(small("pyramidnet104-a255")), 24'253'410);
  EXPECT_NEAR(static_cast<double>(count_parameters(small("pyramidnet110-a270"))), 28.5e6, 0.05e6);
}

TEST(Network, PyramidnetsWidenEvenlyAndHalveTwice) {
  const Network network = small("pyramidnet20-a27");
  std::vector<std::int64_t> channels, sides;
  for (const auto& cell : network) channels.push_back(cell->y().shape.c), sides.push_back(cell->y().shape.h);
  EXPECT_EQ(channels, (std::vector<std::int64_t>{16, 19, 22, 25, 28, 31, 34, 37, 40, 43, 10}));
  EXPECT_EQ(sides, (std::vector<std::int64_t>{32, 32, 32, 32, 16, 16, 16, 8, 8, 8, 1}));
}

TEST(Network, APyramidnetThatCannotBeIsRefusedWithWhatCan) {
  expect_refusals({{"pyramidnet", "pyramidnetDEPTH-aALPHA"},
                   {"pyramidnet110", "DEPTH is 6n + 2"},
                   {"pyramidnet109-a270", "a depth of 6 n + 2, not 109. Nearest: 110"},
                   {"pyramidnet110-a0", "alpha must be a number, at least 1, at most 100000, not 0"},
                   {"pyramidnet110-a27x", "alpha must be a whole number, not 27x"},
                   {"pyramidnet110-a-3", "not -3"},
                   {"pyramidnet99999999999999999999-a1", "depth must be a whole number"},
                   {"pyramidnet2-a3", "depth must be a number, at least 8, at most 2000, not 2"}});
  EXPECT_THAT(
      refusal_of({.name = "pyramidnet20-a27", .input = ImageShape{30, 32, 3}, .micro_batch = 1, .num_classes = 10}),
      testing::HasSubstr("divisible by 4"));
}

TEST(Network, Resnet50CostsWhatThePaperSays) {
  // 4.09 G multiply-adds of v1.5 at 224 x 224 (torchvision's figure), two operations each.
  EXPECT_NEAR(forward_gigaflop_per_sample(imagenet("resnet50")), 2 * 4.09, 0.01);
  // torchvision's figure for a network with groups.
  EXPECT_NEAR(forward_gigaflop_per_sample(imagenet("resnext50_32x4d")), 2 * 4.23, 0.01);
  // Backward needs twice as much again, except for the gradient of the images.
  EXPECT_NEAR(gigaflop_a_sample(imagenet("resnet50")), 24.30, 0.01);
}

TEST(Network, CellsAreStemBlocksHead) {
  const Network network = imagenet("resnet50");
  ASSERT_EQ(network.size(), 18u);
  EXPECT_EQ(network.front()->name(), "stem");
  EXPECT_EQ(network[4]->name(), "layer2.0");
  EXPECT_EQ(network.back()->name(), "head");
  EXPECT_EQ(network[3]->y().shape, Shape::images(2, 56, 56, 256));
  EXPECT_EQ(network[16]->y().shape, Shape::images(2, 7, 7, 2048));
  EXPECT_EQ(network.back()->y().shape, Shape::vectors(2, 1000));
}

TEST(Network, EachCellReadsWhatTheOneBeforeWrites) {
  for (const std::string& name : network_names()) {
    const InputShape input = test::declared_input(name, {45, 37, 3}, {.length = 45, .vocabulary = 37});
    const Network network =
        make_network({.name = name, .input = input, .micro_batch = 3, .num_classes = test::kDeclaredOutputs});
    for (std::size_t i = 1; i < network.size(); ++i)
      EXPECT_EQ(network[i]->x().shape, network[i - 1]->y().shape) << name << i;
  }
}

TEST(Network, ParameterNamesAreTorchvisionsAndUnique) {
  std::set<std::string> names;
  std::size_t count = 0;
  for (const auto& cell : imagenet("resnet50"))
    for (const auto& entry : cell->memory().parameters()) names.insert(entry.spec.name), ++count;
  EXPECT_EQ(names.size(), count);
  EXPECT_EQ(count, 267u);  // 161 parameters, 53 x 2 running statistics
  for (const char* name :
       {"conv1.weight", "bn1.running_var", "layer1.0.downsample.0.weight", "layer1.0.downsample.1.bias",
        "layer3.5.conv3.weight", "layer4.2.bn2.running_mean", "fc.weight", "fc.bias"})
    EXPECT_TRUE(names.contains(name)) << name;
}

// Devlin et al. 2018, with separate weights of the decoder (the embedding's are on another stage).
TEST(Network, BertHasTheParametersOfItsPaper) {
  constexpr std::int64_t kV = 500, kT = 40, kC = 32, kF = 48, kLayers = 3;
  const auto make = [&](const char* name) {
    return make_network({.name = name,
                         .input = TextShape{.length = kT, .vocabulary = kV},
                         .settings = network_settings({.layers = kLayers,
                                                       .heads = 2,
                                                       .width = kC,
                                                       .feedforward = kF,
                                                       .activation = ActivationKind::kGelu,
                                                       .positions = PositionKind::kLearned}),
                         .micro_batch = 2,
                         .num_classes = 5});
  };
  constexpr std::int64_t kEmbedding = (kV + kT + 2 + 2) * kC,
                         kLayer = 4 * (kC * kC + kC) + (kC * kF + kF) + (kF * kC + kC) + 4 * kC, kPooler = kC * kC + kC,
                         kBody = kEmbedding + kLayers * kLayer + kPooler;
  const Network bert = make("bert"), classifier = make("bert_classifier");
  EXPECT_EQ(count_parameters(bert), kBody + kC * kC + 3 * kC + kV * kC + kV + 2 * kC + 2);
  EXPECT_EQ(count_parameters(classifier), kBody + 5 * kC + 5);
  EXPECT_EQ(bert.back()->objectives(), (std::vector<std::string>{"masked words", "next sentence"}));
  EXPECT_EQ(bert.back()->y(), (TensorSpec{.shape = Shape::sequences(2, 2, 3)}));
  EXPECT_TRUE(classifier.back()->objectives().empty());

  // The body's parameters have the same names in both, so that one can begin with the other's weights.
  const auto names = [](const Network& network) {
    std::set<std::string> all;
    for (const auto& cell : network)
      for (const auto& entry : cell->memory().parameters()) all.insert(entry.spec.name);
    return all;
  };
  std::vector<std::string> own;
  std::ranges::set_difference(names(classifier), names(bert), std::back_inserter(own));
  EXPECT_EQ(own, (std::vector<std::string>{"classifier.bias", "classifier.weight"}));
  for (const char* name : {"segment_embedding.weight", "embedding_norm.bias", "layers.2.linear2.weight",
                           "pooler.weight", "word_transform.bias", "word_norm.weight", "word_decoder.bias"})
    EXPECT_TRUE(names(bert).contains(name)) << name;
}

TEST(Network, ABertIsRefusedWhereItHasNoRoomOrNoWords) {
  const auto refusal = [](const TextShape& text) {
    return refusal_of({.name = "bert", .input = text, .micro_batch = 2, .num_classes = 2});
  };
  EXPECT_CONTAINS(refusal({.length = 7, .vocabulary = 100}), "model.length = 7 is too short for bert");
  EXPECT_CONTAINS(refusal({.length = 8, .vocabulary = 5}), "bert has no words to predict");
}

TEST(Network, GreyImagesAndOddSizesPass) {
  const Network grey =
      make_network({.name = "resnet20", .input = ImageShape{28, 28, 1}, .micro_batch = 1, .num_classes = 10});
  EXPECT_EQ(grey[9]->y().shape, Shape::images(1, 7, 7, 64));
  const Network pixel =
      make_network({.name = "resnet18", .input = ImageShape{1, 1, 1}, .micro_batch = 1, .num_classes = 2});
  EXPECT_EQ(pixel.back()->y().shape, Shape::vectors(1, 2));
}

TEST(Network, UnknownNameIsRefusedWithTheNearest) {
  const std::string refusal = test::message_of<RequestError>([] { small("resnet21"); });
  EXPECT_CONTAINS(refusal, "model.name = resnet21");
  EXPECT_CONTAINS(refusal, "Nearest: resnet");
}

}  // namespace convoy
