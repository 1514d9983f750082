/// MPI_Init to MPI_Finalize.
#include "convoy/comm/session.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include <fmt/core.h>

#include "convoy/base/log.h"

#include "comm/mpi/check.h"

namespace convoy::mpi {

namespace {

// Background threads load data and write files, but only the main thread speaks MPI.
constexpr int kThreadLevel = MPI_THREAD_FUNNELED;

MPI_Comm start(int* argc, char*** argv) {
  // MPI's hwloc would look for GPUs on ten X displays: seconds each in a container where "localhost" has no address.
  setenv("HWLOC_COMPONENTS", "-gl", 0);
  // Number of queues of the GPU, 8 by default and 32 at most. Streams that share a queue wait for each other, and each
  // link of NCCL has a stream. It must be set before CUDA starts: an MPI that knows GPUs starts it in MPI_Init.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  // What no launcher started is one rank, which sends messages to itself alone. Ready to send to others, too, Open MPI
  // 5 would leave 72 KB in /dev/shm, and Open MPI 4 would sleep for a second at its end (in its "ofi" component).
  const bool launched = std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
  if (!launched) setenv("OMPI_MCA_btl", "self", 0);
  // Open MPI 4 would abort in a step of srun without PMIx, even one of a single task, such as an interactive shell.
  if (!launched) unsetenv("SLURM_STEP_ID");
  int provided = MPI_THREAD_SINGLE;
  const int code = MPI_Init_thread(argc, argv, kThreadLevel, &provided);
  // Not CONVOY_CHECK_MPI: before MPI is up it may not be asked for the message of a code.
  if (code != MPI_SUCCESS) fail("MPI did not start: MPI_Init_thread returned {}.", code);
  if (provided < kThreadLevel) {
    fail(
        "This MPI was built without thread support (level {}, but MPI_THREAD_FUNNELED = {} is needed). Use an MPI with "
        "thread support.",
        provided, kThreadLevel);
  }
  return MPI_COMM_WORLD;
}

}  // namespace

Session::Session(int* argc, char*** argv) : world_(start(argc, argv)) {}

Session::~Session() {
  const int code = MPI_Finalize();
  if (code != MPI_SUCCESS) log_warning(fmt::format("MPI_Finalize returned {}", code));
}

// Returns the first part of "Open MPI v4.1.4, package: Debian OpenMPI, ident: ..."; MPICH has a line for each.
std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  CONVOY_CHECK_MPI(MPI_Get_library_version(text.data(), &length));
  const std::string_view whole(text.data(), static_cast<std::size_t>(length));
  return std::string(whole.substr(0, whole.find_first_of(",\n")));
}

}  // namespace convoy::mpi
