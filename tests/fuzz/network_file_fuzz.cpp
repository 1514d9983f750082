/// Files of networks: whatever is in them, they build a list from which cells can be built, or are refused.
#include "fuzz/fuzz.h"
#include "fuzz/network_samples.h"
#include "model/listed_cell.h"
#include "model/run_network_file.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  fuzz::Input input(data, size);
  const NetworkRequest request{.input = fuzz::sample_of_kind(input.below(3)), .num_classes = fuzz::kNumOutputs};
  const NetworkSource source{.name = "fuzz.lua", .text = input.rest()};
  return fuzz::read_or_refuse([&] {
    const BuiltNetwork built = run_network_file(source, request);
    fuzz::require(parse_network_list(to_text(built.list)) == built.list, "a list survives its text");
    build_cells(built.list, {.input = request.input, .micro_batch = 2});
  });
}
