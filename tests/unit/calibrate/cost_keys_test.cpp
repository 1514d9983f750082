/// Measured costs are found by a key: it must differ in all that changes the costs.
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "calibrate/calibration.h"
#include "unit/messages.h"

namespace convoy {

namespace {

const NetworkSpec kImages{.name = "resnet20", .input = ImageShape{16, 16, 3}, .micro_batch = 4, .num_classes = 10};
const NetworkSpec kTexts{.name = "transformer",
                         .input = TextShape{.length = 16, .vocabulary = 100},
                         .transformer = {.layers = 1, .heads = 1, .width = 16, .feedforward = 16},
                         .micro_batch = 4,
                         .num_classes = 2};

std::unique_ptr<ops::Backend> backend(std::int64_t threads = 1) {
  return ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
}

template <typename Change>
NetworkSpec changed(NetworkSpec network, const Change& change) {
  change(network);
  return network;
}

}  // namespace

TEST(CostKeys, DifferForNetworksWhoseCellsTakeAnotherTime) {
  const std::vector<NetworkSpec> networks = {kImages,
                                             kTexts,
                                             changed(kImages, [](NetworkSpec& n) { n.name = "resnet32"; }),
                                             changed(kImages,
                                                     [](NetworkSpec& n) {
                                                       n.input = ImageShape{32, 32, 3};
                                                     }),
                                             changed(kImages, [](NetworkSpec& n) { n.micro_batch = 8; }),
                                             changed(kImages, [](NetworkSpec& n) { n.num_classes = 100; }),
                                             changed(kImages, [](NetworkSpec& n) { n.type = DataType::kBfloat16; }),
                                             changed(kImages, [](NetworkSpec& n) { n.freeze = {"conv1.*"}; }),
                                             changed(kImages, [](NetworkSpec& n) { n.stochastic_depth = 0.1; }),
                                             changed(kTexts, [](NetworkSpec& n) { n.transformer.layers = 2; }),
                                             changed(kTexts, [](NetworkSpec& n) { n.transformer.heads = 2; }),
                                             changed(kTexts, [](NetworkSpec& n) { n.transformer.width = 32; }),
                                             changed(kTexts, [](NetworkSpec& n) { n.transformer.feedforward = 32; }),
                                             changed(kTexts, [](NetworkSpec& n) { n.transformer.dropout = 0.5; })};
  const auto ops = backend();
  std::set<std::string> keys;
  for (const NetworkSpec& network : networks) {
    const std::string key = costs_key(network, *ops, 4, {});
    EXPECT_TRUE(keys.insert(key).second) << key;
    EXPECT_EQ(key.find('\n'), std::string::npos) << "a key is a line of costs.txt";
  }
}

TEST(CostKeys, DifferForDevicesRanksAndSharedCores) {
  const RatesSpec sizes{.message_bytes = 1 << 16, .arena_bytes = 1 << 20};
  const auto one_thread = backend(), two_threads = backend(2);
  const NodeLoad apart{.ranks = 4, .ranks_at_once = 4}, shared{.ranks = 4, .ranks_at_once = 2};
  std::set<std::string> costs, rates;
  for (const auto& [ops, ranks, node] : {std::tuple(&one_thread, 4, apart), std::tuple(&two_threads, 4, apart),
                                         std::tuple(&one_thread, 8, apart), std::tuple(&one_thread, 4, shared)}) {
    costs.insert(costs_key(kImages, **ops, ranks, node));
    rates.insert(rates_key(sizes, **ops, ranks, node));
  }
  EXPECT_EQ(costs.size(), 4u);
  EXPECT_EQ(rates.size(), 4u);
  EXPECT_NE(rates_key(sizes, *one_thread, 4, apart),
            rates_key({.message_bytes = 1 << 17, .arena_bytes = 1 << 20}, *one_thread, 4, apart));
  EXPECT_NE(rates_key(sizes, *one_thread, 4, apart),
            rates_key({.message_bytes = 1 << 16, .arena_bytes = 1 << 21}, *one_thread, 4, apart));
}

// The costs of earlier runs stay valid only if their keys stay as they are.
TEST(CostKeys, AreThoseOfEarlierVersions) {
  const auto ops = backend();
  const std::string device = ops->device().description();
  EXPECT_EQ(costs_key(kImages, *ops, 8, {.ranks = 4, .ranks_at_once = 1.5}),
            "resnet20 on 16x16x3 for 10 classes, micro-batch 4, f32, frozen []; " + device +
                "; 1.5 of 4 ranks at once on a node, 8 in all");
  EXPECT_EQ(rates_key({.message_bytes = 7, .arena_bytes = 9}, *ops, 2, {.ranks = 2, .ranks_at_once = 2}),
            "messages of 7 bytes, arenas of 9; " + device + "; 2 ranks at once, 2 on a node");
}

}  // namespace convoy
