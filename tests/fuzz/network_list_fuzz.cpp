/// Lists of a network's layers, as checkpoints and rank 0 give them. What is accepted is written as it was read, and
/// its cells can be built.
#include "fuzz/fuzz.h"
#include "fuzz/network_samples.h"
#include "model/listed_cell.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  fuzz::Input input(data, size);
  const ListedCellSpec spec{.input = fuzz::sample_of_kind(input.below(3)), .micro_batch = 2};
  return fuzz::read_or_refuse([&] {
    const NetworkList list = parse_network_list(input.rest());
    fuzz::require(parse_network_list(to_text(list)) == list, "a list survives its text");
    build_cells(list, spec);
  });
}
