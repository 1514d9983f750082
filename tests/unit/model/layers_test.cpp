/// A cell's description of its layers, for people who look for the time that they take.
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/model/cell.h"
#include "convoy/model/network.h"

#include "model/cell_builder.h"
#include "model/layers/activation.h"
#include "model/layers/batch_norm.h"
#include "model/layers/convolution.h"
#include "model/layers/sum.h"

namespace convoy {
namespace {

const Cell& cell_named(const Network& network, const std::string& name) {
  for (const auto& cell : network)
    if (cell->name() == name) return *cell;
  throw std::logic_error("no cell " + name);
}

std::vector<std::string> shown_layers(const Cell& cell) {
  std::vector<std::string> lines;
  for (const LayerInfo& layer : cell.layers())
    lines.push_back(fmt::format("{} {} {}: {} -> {}", layer.operation, layer.name, layer.weight_shape,
                                to_string(layer.x.shape), to_string(layer.y.shape)));
  return lines;
}

TEST(Layers, HaveTheNamesOfTheirParameters) {
  const Network network =
      make_network({.name = "resnet18", .input = ImageShape{64, 64, 3}, .micro_batch = 2, .num_classes = 10});
  EXPECT_EQ(shown_layers(cell_named(network, "layer2.0")),
            (std::vector<std::string>{
                "convolution layer2.0.conv1 128x64x3x3: 2x16x16x64 -> 2x8x8x128",
                "batch normalisation layer2.0.bn1 128: 2x8x8x128 -> 2x8x8x128",
                "convolution layer2.0.conv2 128x128x3x3: 2x8x8x128 -> 2x8x8x128",
                "convolution layer2.0.downsample.0 128x64x1x1: 2x16x16x64 -> 2x8x8x128",
                "two batch normalisations layer2.0.downsample.1 + layer2.0.bn2 128: 2x8x8x128 -> 2x8x8x128",
            }));
}

TEST(Layers, OfOneOperationHaveTheNameOfTheFirst) {
  const Network network =
      make_network({.name = "resnet18", .input = ImageShape{64, 64, 3}, .micro_batch = 2, .num_classes = 10});
  EXPECT_EQ(shown_layers(*network.front()), (std::vector<std::string>{
                                                "convolution conv1 64x3x7x7: 2x64x64x3 -> 2x32x32x64",
                                                "batch normalisation and max pooling bn1 64: 2x32x32x64 -> 2x16x16x64",
                                            }));
}

TEST(Layers, WithoutParametersHaveNoName) {
  const Network network =
      make_network({.name = "resnet18", .input = ImageShape{64, 64, 3}, .micro_batch = 2, .num_classes = 10});
  const std::vector<LayerInfo> head = network.back()->layers();
  EXPECT_EQ(head.front().operation, "global average pooling");
  EXPECT_EQ(head.front().name, "");
  EXPECT_EQ(head.back().operation, "linear layer");
  EXPECT_EQ(head.back().name, "fc");
}

TEST(Layers, OfTwoBatchNormsAreOneOperationOnlyIfTheyAddTheSameEpsilon) {
  const auto operations = [](float epsilon) {
    CellBuilder cell({.name = "cell", .parameters = "cell."});
    const Value x = cell.input(Shape::images(2, 4, 4, 8));
    const auto finished = cell.finish(relu(batch_norm("bn1", x, {.epsilon = 0.125f}) +
                                           batch_norm("bn2", convolution_1x1("conv", x, 8), {.epsilon = epsilon})));
    std::vector<std::string> names;
    for (const LayerInfo& layer : finished->layers()) names.push_back(layer.operation);
    return names;
  };
  EXPECT_EQ(operations(0.125f), (std::vector<std::string>{"convolution", "two batch normalisations"}));
  EXPECT_EQ(operations(0.25f), (std::vector<std::string>{"convolution", "batch normalisation", "batch normalisation"}));
}

// The first layer computes no gradient of the images.
TEST(Layers, CountTheOperationsOfTheirProducts) {
  const Network network =
      make_network({.name = "resnet18", .input = ImageShape{64, 64, 3}, .micro_batch = 2, .num_classes = 10});
  const LayerInfo first = network.front()->layers().front();
  EXPECT_EQ(first.flop.forward, 2.0 * 2 * 32 * 32 * 64 * 7 * 7 * 3);
  EXPECT_EQ(first.flop.input_gradient, 0);
  EXPECT_EQ(first.flop.weight_gradient, first.flop.forward);
  const LayerInfo last = network.back()->layers().back();
  EXPECT_EQ(last.flop.forward, 2.0 * 2 * 512 * 10);
  EXPECT_EQ(last.flop.backward(), 2 * last.flop.forward);
  EXPECT_EQ(last.flop.of(LayerWork::kRecompute), last.flop.forward);
  EXPECT_EQ(last.flop.of(LayerWork::kGradientSum), 0);
}

}  // namespace
}  // namespace convoy
