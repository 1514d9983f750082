/// The functions of NCCL that Convoy calls. The library is opened by the first call.
#include <fmt/core.h>
#include <nccl.h>

#include "convoy/comm/transport.h"

#include "comm/nccl/check.h"
#include "device/cuda/lazy_library.h"

namespace {
constinit convoy::cuda::LazyLibrary library(CONVOY_NCCL_NAME, CONVOY_NCCL_FILE);
}

std::string convoy::nccl_version() {
  if (!library.is_present()) return "";
  int version = 0;
  CONVOY_CHECK_NCCL(ncclGetVersion(&version));
  return fmt::format("NCCL {}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

ncclResult_t ncclGetVersion(int* version) {
  return library.call<ncclGetVersion>(__func__, version);
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return library.call<ncclGetUniqueId>(__func__, id);
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int num_ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  return library.call<ncclCommInitRankConfig>(__func__, communicator, num_ranks, id, rank, config);
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  return library.call<ncclCommDestroy>(__func__, communicator);
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  return library.call<ncclCommAbort>(__func__, communicator);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  return library.call<ncclCommGetAsyncError>(__func__, communicator, error);
}

const char* ncclGetErrorString(ncclResult_t result) {
  return library.call<ncclGetErrorString>(__func__, result);
}

const char* ncclGetLastError(ncclComm_t communicator) {
  return library.call<ncclGetLastError>(__func__, communicator);
}

ncclResult_t ncclGroupStart() {
  return library.call<ncclGroupStart>(__func__);
}

ncclResult_t ncclGroupEnd() {
  return library.call<ncclGroupEnd>(__func__);
}

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  return library.call<ncclSend>(__func__, data, count, type, peer, communicator, stream);
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  return library.call<ncclRecv>(__func__, data, count, type, peer, communicator, stream);
}

ncclResult_t ncclReduceScatter(const void* sent, void* received, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream) {
  return library.call<ncclReduceScatter>(__func__, sent, received, count, type, operation, communicator, stream);
}
