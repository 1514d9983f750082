/// Built-in networks stay what they are: each is compared with its record in tests/golden/networks (layers, parameters,
/// a hash of the list, the cut into stages). tests/golden/README.md says how to write the records again.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/model/network_file.h"

#include "plan/step_plan.h"
#include "unit/model/declared_input.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

const fs::path kRecords = CONVOY_NETWORK_RECORDS;

// The networks that have a name, and some of those whose names contain numbers.
std::vector<std::string> recorded_names() {
  std::vector<std::string> names = network_names();
  names.insert(names.end(), {"wrn16-4", "wrn28-10", "wrn40-2", "pyramidnet110-a48", "pyramidnet110-a84",
                             "pyramidnet110-a270", "vit_b_16", "vit_b_32", "vit_l_16", "vit_s_16", "vit_ti_16"});
  return names;
}

NetworkSpec spec_of(const std::string& name) {
  const NetworkDeclaration usual = find_declaration({.name = name});
  const std::int64_t size = usual.image_size > 0 ? usual.image_size : 32;
  return {.name = name,
          .input = test::declared_input(name, {size, size, 3}, {.length = 128, .vocabulary = 20000}),
          .micro_batch = 4,
          .num_classes = usual.num_classes > 0 ? usual.num_classes : 10};
}

std::string described_parameters(const NetworkSpec& spec) {
  std::int64_t tensors[2] = {}, values[2] = {};
  for (const auto& cell : make_network(spec)) {
    for (const auto& entry : cell->memory().parameters()) {
      const int kind = entry.spec.is_statistic() ? 1 : 0;
      ++tensors[kind];
      values[kind] += entry.spec.count();
    }
  }
  return fmt::format("parameters: {} tensors, {} values\nstatistics: {} tensors, {} values\n", tensors[0], values[0],
                     tensors[1], values[1]);
}

// The stages' cells, values of parameters and bytes of a micro-batch. The machine is the model's default processor.
std::string described_plan(const NetworkSpec& network, std::int64_t stages) {
  const StepPlan plan({.network = network, .batch = {.global = 32, .micro = network.micro_batch}}, {.stages = stages});
  std::string text = fmt::format("{} stages, micro-batches of {}\n", stages, network.micro_batch);
  for (const StagePlan& stage : plan.stages()) {
    std::int64_t values = 0;
    for (const ArenaEntry& entry : stage.layout.entries) values += entry.spec.count();
    text += fmt::format("  {}: {} values, {} bytes\n", cell_names(plan.network(), stage.layout.cells()), values,
                        stage.chunks.front().frame_bytes);
  }
  return text;
}

std::string record_of(const std::string& name) {
  const NetworkSpec spec = spec_of(name);
  const NetworkList list =
      build_network_list({.name = name, .input = spec.input, .num_classes = spec.num_classes}).list;
  std::size_t layers = 0;
  for (const CellList& cell : list.cells) layers += cell.layers.size();
  return fmt::format("{}: {}, {} classes\n{} cells, {} layers\nlist: {:016x}\n", name, to_string(spec.input),
                     spec.num_classes, list.cells.size(), layers, hash_of(spec)) +
         described_parameters(spec) + described_plan(spec, 2) + (list.cells.size() < 4 ? "" : described_plan(spec, 4));
}

fs::path path_of(const std::string& name) {
  return kRecords / (name + ".txt");
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(NetworkRecords, EveryBuiltInNetworkEqualsItsRecord) {
  const bool writes = std::getenv("CONVOY_WRITE_RECORDS") != nullptr;
  for (const std::string& name : recorded_names()) {
    const std::string record = record_of(name);
    if (writes) std::ofstream(path_of(name)) << record;
    EXPECT_EQ(record, read(path_of(name))) << "If this is intended: tests/golden/README.md, 'Records of networks'";
  }
}

TEST(NetworkRecords, EveryRecordIsOfANetwork) {
  std::set<std::string> files, expected;
  for (const fs::directory_entry& file : fs::directory_iterator(kRecords)) files.insert(file.path().filename());
  for (const std::string& name : recorded_names()) expected.insert(path_of(name).filename());
  EXPECT_EQ(files, expected);
}

}  // namespace
}  // namespace convoy
