/// Shards whose head's hash is right whatever is in it, so that HDF5 and the reader behind it see the input.
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"

#include "fuzz/fuzz.h"
#include "fuzz/sealed.h"
#include "fuzz/shard_reading.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> file = convoy::fuzz::Input(data, size).rest_bytes();
  convoy::fuzz::read_shard(file);  // the trailer as it is
  convoy::fuzz::read_shard(convoy::fuzz::seal_shard(file));
  return 0;
}
