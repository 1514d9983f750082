/// Libraries of CUDA that are opened when a GPU is first used: a process that computes on a CPU neither loads nor needs
/// them. Loading cublasLt alone takes 80 ms and 94 MB of each process's own memory.
#pragma once

namespace convoy::cuda {

/// A shared library. A source file defines the functions that Convoy calls under their own names, each as one call():
///   cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return library.call<cublasLtDestroy>(__func__, handle);
///   }
/// Their callers, the headers of cudnn-frontend among them, need not know that the library is not linked.
class LazyLibrary {
 public:
  /// `name` is what the dynamic linker looks for ("libcudnn.so.9"). `built_with` is the path of the file that this
  /// program was built with: it is tried if the dynamic linker finds none.
  constexpr LazyLibrary(const char* name, const char* built_with) : name_(name), built_with_(built_with) {}

  /// Whether the library can be opened. Opens it.
  bool is_present() { return handle() != nullptr; }

  /// Calls the function `name` of the library, whose type is that of kFunction. Throws Error if there is no such
  /// library or function. Each kFunction is looked up once in the program: it is of one library and one name.
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
  void* handle_ = nullptr;  ///< Stays open until the process ends.
  char reason_[512] = {};   ///< why it could not be opened by its name
};

}  // namespace convoy::cuda
