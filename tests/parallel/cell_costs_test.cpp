/// What cells cost is the same for equal cells and on all ranks, and found again.
#include <algorithm>
#include <limits>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"
#include "convoy/model/network_file.h"

#include "calibrate/calibration.h"
#include "calibrate/measure_cell_costs.h"
#include "calibrate/measure_rates.h"
#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"

namespace convoy::test {

namespace {

const NetworkSpec kNetwork{.name = "resnet20",
                           .input = ImageShape{16, 16, 3},
                           .micro_batch = 4,
                           .num_classes = 10,
                           .freeze = {"conv1.*", "bn1.*", "layer2.1.*"}};

std::unique_ptr<ops::Backend> backend() {
  return ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
}

}  // namespace

TEST(CellCosts, AreTheSameForEqualCellsAndOnAllRanks) {
  const auto ops = backend();
  const CellCosts costs = measure_cell_costs(kNetwork, {}, world(), *ops);
  ASSERT_EQ(costs.cells.size(), 11u);
  EXPECT_EQ(costs.cells[1], costs.cells[2]) << "layer1.0 and layer1.1";
  EXPECT_NE(costs.cells[3], costs.cells[4]) << "layer1.2 and layer2.0";
  for (std::size_t i = 0; i < costs.cells.size(); ++i) {
    const CellCost& c = costs.cells[i];
    EXPECT_GT(c.forward_seconds, 0) << i;
    EXPECT_GT(c.evaluation_seconds, 0) << i;
    for (const double backward : {c.backward_seconds, c.backward_input_seconds})
      EXPECT_EQ(backward > 0, i > 0) << i << ": nothing before is trained";
    EXPECT_EQ(c.backward_weight_seconds > 0, i != 0 && i != 5) << i << ": frozen";
    if (i < 10) {
      EXPECT_GT(c.load_weights_seconds, 0) << i << ", frozen or not";
    }
    if (i > 0 && i < 10) {
      EXPECT_GT(c.recompute_seconds, 0) << i;
    }
  }
  EXPECT_EQ(costs.serialise(), world().broadcast(costs.serialise(), 0));
}

// As many words in few long texts as in many short ones: the products cost the same, attention 32 times as much.
// Other programs can only lengthen a time, so the least of several is compared.
TEST(CellCosts, OfTextsAreThoseOfLongOnes) {
  const auto layer_seconds = [ops = backend()](std::int64_t micro_batch, std::int64_t length) {
    const NetworkSpec network{.name = "transformer",
                              .input = TextShape{.length = length, .vocabulary = 100},
                              .settings = network_settings({.layers = 1, .heads = 1, .width = 16, .feedforward = 16}),
                              .micro_batch = micro_batch,
                              .num_classes = 2};
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i)
      least = std::min(least, measure_cell_costs(network, {}, world(), *ops).cells[1].forward_seconds);
    return least;
  };
  EXPECT_GT(layer_seconds(1, 2048), 2 * layer_seconds(32, 64));
}

TEST(CellCosts, AreReadBackAsWritten) {
  CellCosts costs{.key = "resnet20 on this", .cells = {{1e-3, 2.0 / 3, 0.1, 0.2, 1e-9}, {}}};
  EXPECT_EQ(CellCosts::parse(costs.serialise(), costs.key, costs.cells.size()), costs);
  EXPECT_EQ(CellCosts::parse(costs.serialise(), "resnet20 on that", costs.cells.size()), std::nullopt);
  EXPECT_EQ(CellCosts::parse("", costs.key, costs.cells.size()), std::nullopt);
}

TEST(Calibration, OfTheSameKeyIsFoundInTheFile) {
  const SharedDirectory directory;
  const std::string file = directory / "costs.txt";
  const auto ops = backend();
  const auto find = [&](const NetworkSpec& network) {
    return find_machine_costs({.network = network, .file = file}, world(), *ops);  // no cores are shared
  };
  const auto keep = [&](const std::string& text) {
    if (world().rank() == 0) io::write_file_atomically(file, std::as_bytes(std::span(text)));
    world().barrier();
  };
  MachineCosts kept = find(kNetwork);
  EXPECT_EQ(kept.cells.key, costs_key(kNetwork, *ops, world().size(), {}));
  EXPECT_GT(kept.rates.memory_bytes_per_second, 0);
  kept.cells.cells[5].forward_seconds = 42;  // no measurement gives that
  kept.rates.on_node.latency_seconds = 43;
  keep(with_costs("", kept));
  EXPECT_EQ(find(kNetwork), kept);
  NetworkSpec other = kNetwork;
  other.micro_batch = 5;
  const MachineCosts of_other = find(other);
  EXPECT_LT(of_other.cells.cells[5].forward_seconds, 42);
  EXPECT_LT(of_other.rates.on_node.latency_seconds, 43) << "other messages";
  keep(with_costs(with_costs("", kept), of_other));
  EXPECT_EQ(find(kNetwork), kept) << "beside another's";
  EXPECT_EQ(find(other), of_other);
  const std::string whole = with_costs("", kept);
  keep(whole.substr(0, whole.size() / 4));  // lost its end
  EXPECT_LT(find(kNetwork).cells.cells[5].forward_seconds, 42);
  keep(std::string(5000, '\0') + "\n\n\n\n");
  EXPECT_LT(find(kNetwork).cells.cells[5].forward_seconds, 42);
}

// What was measured while all ranks computed is no measure of those that share cores, and the other way round.
TEST(Calibration, OfRanksThatShareCoresIsAnotherOne) {
  const SharedDirectory directory;
  const auto ops = backend();
  CalibrationSpec spec{.network = kNetwork, .file = directory / "costs.txt"};
  const MachineCosts apart = find_machine_costs(spec, world(), *ops);
  EXPECT_NE(apart.cells.key.find(fmt::format("; {} ranks at once", world().size())), std::string::npos);
  spec.node = {.ranks = 4, .ranks_at_once = 2};
  const MachineCosts shared = find_machine_costs(spec, world(), *ops);
  EXPECT_EQ(shared.node, spec.node);
  for (const std::string& key : {shared.cells.key, shared.rates.key})
    EXPECT_NE(key.find(fmt::format("; 2 of 4 ranks at once on a node, {} in all", world().size())), std::string::npos)
        << key;
  EXPECT_EQ(shared.cells.serialise(), world().broadcast(shared.cells.serialise(), 0));
}

// On nodes of different processors every rank would look for a key of its own.
TEST(Calibration, IsFoundByTheRootsKeyWhateverTheOthersComputeWith) {
  const SharedDirectory directory;
  const auto ops = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1 + world().rank() % 2});
  const CalibrationSpec spec{.network = kNetwork, .file = directory / "costs.txt"};
  const MachineCosts measured = find_machine_costs(spec, world(), *ops);
  EXPECT_NE(measured.cells.key.find(" 1 thread"), std::string::npos) << measured.cells.key;
  if (world().rank() == 0) keep_costs(spec.file, measured);
  world().barrier();
  EXPECT_EQ(find_machine_costs(spec, world(), *ops), measured);
}

TEST(Calibration, IsTheSameOnAllRanks) {
  const auto ops = backend();
  const RatesSpec spec{.message_bytes = 1 << 16, .arena_bytes = 1 << 20};
  const std::string mine = measure_rates(spec, {}, world(), *ops).serialise();
  EXPECT_EQ(mine, world().broadcast(mine, 0));
}

TEST(CellCosts, WhereNothingIsMeasuredFollowTheModel) {
  const Network network = make_network(kNetwork);
  const CellCosts costs = model_cell_costs(network);
  ASSERT_EQ(costs.cells.size(), network.size());
  for (std::size_t i = 0; i < costs.cells.size(); ++i) {
    const CellCost& c = costs.cells[i];
    EXPECT_DOUBLE_EQ(c.backward_seconds, c.backward_input_seconds + c.backward_weight_seconds);
    EXPECT_LE(c.recompute_seconds, c.forward_seconds);
    EXPECT_EQ(c.load_weights_seconds > 0, i + 1 < costs.cells.size()) << i << ": the classifier's are not packed";
  }
}

}  // namespace convoy::test
