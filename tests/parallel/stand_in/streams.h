/// What tests ask of the stand-in for a GPU: when the work of its streams runs, and which GPU it is.
#pragma once

#include <functional>
#include <vector>

#include <cuda_runtime.h>

namespace convoy::test::streams {

/// Which stream continues if several could.
enum class First {
  kOldest,  ///< the device's work first: what it should wait for comes late
  kNewest,  ///< messages and copies first: what they should wait for comes late
};
void prefer(First first);

/// Puts work on a stream: it is called repeatedly until it returns that it is done.
void issue(cudaStream_t stream, std::function<bool()> work);

/// Ends one piece of work of the first stream that can continue; false if none can.
bool pump();

/// The largest number of blocks of each link that this rank has connected so far.
std::vector<int> blocks_of_links_made();

/// How often this rank has used a communicator of NCCL with another rank, in one direction, for the first time.
int first_uses_so_far();

/// Whether NCCL says that the other end is gone.
void set_links_broken(bool broken);

}  // namespace convoy::test::streams
