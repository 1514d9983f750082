/// The functions of cublasLt that Convoy calls. The library is opened by the first call.
#include <cublasLt.h>

#include "device/cuda/lazy_library.h"

namespace {
constinit convoy::cuda::LazyLibrary library(CONVOY_CUBLASLT_NAME, CONVOY_CUBLASLT_FILE);
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return library.call<cublasLtCreate>(__func__, handle);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return library.call<cublasLtDestroy>(__func__, handle);
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return library.call<cublasLtGetStatusString>(__func__, status);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t num_rows,
                                          uint64_t num_columns, int64_t stride) {
  return library.call<cublasLtMatrixLayoutCreate>(__func__, layout, type, num_rows, num_columns, stride);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return library.call<cublasLtMatrixLayoutDestroy>(__func__, layout);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t compute_type,
                                        cudaDataType_t scale_type) {
  return library.call<cublasLtMatmulDescCreate>(__func__, description, compute_type, scale_type);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  return library.call<cublasLtMatmulDescDestroy>(__func__, description);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute, const void* value,
                                              size_t size_bytes) {
  return library.call<cublasLtMatmulDescSetAttribute>(__func__, description, attribute, value, size_bytes);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return library.call<cublasLtMatmulPreferenceCreate>(__func__, preference);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return library.call<cublasLtMatmulPreferenceDestroy>(__func__, preference);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    size_t size_bytes) {
  return library.call<cublasLtMatmulPreferenceSetAttribute>(__func__, preference, attribute, value, size_bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int num_requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* num_found) {
  return library.call<cublasLtMatmulAlgoGetHeuristic>(__func__, handle, operation, a, b, c, d, preference,
                                                      num_requested, results, num_found);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  return library.call<cublasLtMatmul>(__func__, handle, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout,
                                      d, d_layout, algorithm, workspace, workspace_bytes, stream);
}
