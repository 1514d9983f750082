/// The functions of cuDNN that Convoy and the headers of cudnn-frontend call. The library is opened by the first call.
#include <cudnn.h>

#include "device/cuda/lazy_library.h"

namespace {
constinit convoy::cuda::LazyLibrary library(CONVOY_CUDNN_NAME, CONVOY_CUDNN_FILE);
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return library.call<cudnnCreate>(__func__, handle);
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  return library.call<cudnnDestroy>(__func__, handle);
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return library.call<cudnnSetStream>(__func__, handle, stream);
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  return library.call<cudnnGetStream>(__func__, handle, stream);
}

size_t cudnnGetVersion() {
  return library.call<cudnnGetVersion>(__func__);
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  return library.call<cudnnGetErrorString>(__func__, status);
}

void cudnnGetLastErrorString(char* message, size_t max_size) {
  library.call<cudnnGetLastErrorString>(__func__, message, max_size);
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* descriptor) {
  return library.call<cudnnBackendCreateDescriptor>(__func__, type, descriptor);
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  return library.call<cudnnBackendDestroyDescriptor>(__func__, descriptor);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  return library.call<cudnnBackendFinalize>(__func__, descriptor);
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t num_elements, const void* elements) {
  return library.call<cudnnBackendSetAttribute>(__func__, descriptor, name, type, num_elements, elements);
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t max_elements, int64_t* num_elements,
                                       void* elements) {
  return library.call<cudnnBackendGetAttribute>(__func__, descriptor, name, type, max_elements, num_elements, elements);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t variant_pack) {
  return library.call<cudnnBackendExecute>(__func__, handle, plan, variant_pack);
}
