/// Stands in for NCCL's header: what the transport uses, carried by MPI between streams of stand_in/streams.h.
#pragma once

#include <cstddef>

#include <cuda_runtime.h>

// NOLINTBEGIN: names are NCCL's

enum ncclResult_t { ncclSuccess, ncclRemoteError, ncclInProgress };
enum ncclDataType_t { ncclUint8, ncclFloat32 };
enum ncclRedOp_t { ncclSum };

using ncclComm_t = struct ncclComm*;
struct ncclUniqueId {
  int root, number;
};
struct ncclConfig_t {
  int maxCTAs;
};
#define NCCL_CONFIG_INITIALIZER \
  {}

ncclResult_t ncclGetVersion(int* version);
const char* ncclGetErrorString(ncclResult_t result);
const char* ncclGetLastError(ncclComm_t communicator);
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config);
ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error);
ncclResult_t ncclCommDestroy(ncclComm_t communicator);
ncclResult_t ncclCommAbort(ncclComm_t communicator);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclSend(const void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream);
ncclResult_t ncclReduce(const void* data, void* sum, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t communicator, cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void* data, void* part, std::size_t part_count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t communicator, cudaStream_t stream);

// NOLINTEND
