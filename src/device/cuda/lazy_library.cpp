/// See lazy_library.h.
#include "device/cuda/lazy_library.h"

#include <cstdio>

#include <dlfcn.h>

#include "convoy/base/error.h"

namespace convoy::cuda {

// The first call comes from the main thread, while the backend or the links between ranks are made. A second thread
// would get the same handle from dlopen.
void* LazyLibrary::handle() {
  if (handle_ != nullptr) return handle_;
  handle_ = dlopen(name_, RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return handle_;
  const char* const reason = dlerror();
  std::snprintf(reason_, sizeof reason_, "%s", reason != nullptr ? reason : "the system gives no reason");
  return handle_ = dlopen(built_with_, RTLD_NOW | RTLD_LOCAL);
}

void* LazyLibrary::find(const char* function) {
  if (!is_present()) {
    fail(
        "{} cannot be opened: {}. A GPU needs it. Add its folder to LD_LIBRARY_PATH, or compute on the CPU with "
        "run.device = cpu.",
        name_, reason_);
  }
  void* const found = dlsym(handle_, function);
  if (found == nullptr)
    fail("{} has no function {}: its version is not the one that this program was built with ({}).", name_, function,
         built_with_);
  return found;
}

}  // namespace convoy::cuda
