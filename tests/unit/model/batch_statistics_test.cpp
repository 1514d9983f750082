/// The layers that average over a micro-batch, and the number of values, for every network.
#include "convoy/model/batch_statistics.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace convoy {

namespace {

NetworkSpec resnet_spec(const std::string& name) {
  return {.name = name, .input = ImageShape{32, 32, 3}, .micro_batch = 2, .num_classes = 10};
}

std::int64_t count_running_variances(const Network& network) {
  std::int64_t count = 0;
  for (const auto& cell : network)
    count += std::ranges::count_if(cell->memory().parameters(), [](const CellMemory::Entry& entry) {
      return entry.spec.name.ends_with(".running_var");
    });
  return count;
}

}  // namespace

TEST(BatchStatistics, OfEveryNetworkOfImagesAreAllFound) {
  std::vector<std::string> names = {"pyramidnet20-a27", "wrn16-2"};
  for (const std::string& name : network_names())
    if (name.starts_with("resne") || name.starts_with("convnext") || name.starts_with("vit")) names.push_back(name);
  ASSERT_GT(names.size(), 10u);
  for (const std::string& name : names) {
    const Network network = make_network(resnet_spec(name));
    const std::vector<BatchStatistics> found = trained_batch_statistics(network);
    EXPECT_EQ(std::ssize(found), count_running_variances(network)) << name;
    EXPECT_EQ(found.empty(), name.starts_with("convnext") || name.starts_with("vit")) << name;
    for (const BatchStatistics& norm : found) EXPECT_EQ(norm.x.n, 2) << norm.layer;
  }
}

TEST(BatchStatistics, AreOverTheSamplesRowsAndColumnsThatTheLayerSees) {
  const std::vector<BatchStatistics> found = trained_batch_statistics(make_network(resnet_spec("resnet18")));
  const auto values_of = [&](const std::string& layer) {
    const auto norm = std::ranges::find(found, layer, &BatchStatistics::layer);
    return norm == found.end() ? 0 : norm->num_values();
  };
  EXPECT_EQ(values_of("bn1"), 2 * 16 * 16) << "fused with the max pooling that halves its output";
  EXPECT_EQ(values_of("layer2.0.bn1"), 2 * 4 * 4);
  EXPECT_EQ(values_of("layer2.0.bn2"), 2 * 4 * 4) << "one layer with the next";
  EXPECT_EQ(values_of("layer2.0.downsample.1"), 2 * 4 * 4);
  EXPECT_EQ(values_of("layer4.1.bn2"), 2 * 1 * 1);
}

TEST(BatchStatistics, OfFrozenCellsDoNotCount) {
  NetworkSpec spec = resnet_spec("resnet18");
  const auto has_layer4 = [&] {
    return std::ranges::any_of(trained_batch_statistics(make_network(spec)),
                               [](const BatchStatistics& norm) { return norm.layer.starts_with("layer4."); });
  };
  spec.freeze = {"layer4.*.bn*"};
  EXPECT_TRUE(has_layer4()) << "the cells still train their convolutions, with the micro-batch's statistics";
  spec.freeze = {"layer4.*"};
  EXPECT_FALSE(has_layer4());
}

}  // namespace convoy
