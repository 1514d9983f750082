/// Loads libraries such as cublasLt when a GPU is first used, so that a process that computes on a CPU neither loads
/// nor needs them. Loading cublasLt alone takes 80 ms and 94 MB of memory in each process.
#pragma once

namespace convoy::cuda {

/// A shared library that is loaded at its first call. For each of its functions that Convoy calls, a source file
/// defines a function of the same name and type, which consists of one call():
///   cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return library.call<cublasLtDestroy>(__func__, handle);
///   }
/// So callers, including the headers of cudnn-frontend, need not know that the library is not linked.
class LazyLibrary {
 public:
  /// `name` is the name for which the dynamic linker searches: "libcudnn.so.9". `built_with` is the path of the file
  /// with which this program was built; it is opened if the dynamic linker finds none.
  constexpr LazyLibrary(const char* name, const char* built_with) : name_(name), built_with_(built_with) {}

  /// Opens the library, unless it is open. Returns whether that succeeded.
  bool is_present() { return handle() != nullptr; }

  /// Calls the library's function `name`, which has the type of kFunction. Throws Error if the library or the function
  /// is missing. The address is looked up once for each kFunction, so a kFunction must always be used with the same
  /// library and name.
  template <auto* kFunction, typename... Arguments>
  auto call(const char* name, Arguments... arguments) {
    static const auto kFound = reinterpret_cast<decltype(kFunction)>(find(name));
    return kFound(arguments...);
  }

 private:
  void* handle();
  void* find(const char* function);

  const char* name_;
  const char* built_with_;
  void* handle_ = nullptr;  ///< handle of dlopen(), which stays open until the process ends; null: not open
  char reason_[512] = {};   ///< the reason why the library could not be opened by its name
};

}  // namespace convoy::cuda
