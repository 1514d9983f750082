/// Shards with any content and a correct hash of the head, so that the input reaches HDF5 and the reader.
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"

#include "fuzz/fuzz.h"
#include "fuzz/sealed.h"
#include "fuzz/shard_reading.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> file = convoy::fuzz::Input(data, size).rest_bytes();
  convoy::fuzz::read_shard(file);  // with the unchanged trailer
  convoy::fuzz::read_shard(convoy::fuzz::seal_shard(file));
  return 0;
}
