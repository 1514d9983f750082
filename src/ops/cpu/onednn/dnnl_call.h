/// Calls of oneDNN. Primitives are created once; the pointers to their arguments are set at every call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "convoy/base/data_type.h"
#include "convoy/base/error.h"

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// oneDNN's engine and stream, and the workspace whose scratch memory its primitives use as scratchpads.
class DnnlRuntime {
 public:
  explicit DnnlRuntime(Workspace& workspace)
      : workspace_(workspace), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  Workspace& workspace() const { return workspace_; }
  const dnnl::engine& engine() const { return engine_; }
  const dnnl::stream& stream() const { return stream_; }

  /// Sets the calling thread's number of OpenMP threads to that of the workspace: oneDNN creates primitives for this
  /// number. Call it before describing or creating a primitive, since the calling thread or another library of the
  /// process may have set another number.
  void use_threads() const;

  /// Returns attributes that let the caller provide the scratchpad of a primitive, so that a call allocates almost no
  /// memory (oneDNN 2.6 itself allocates a few small blocks).
  static dnnl::primitive_attr attributes();

 private:
  Workspace& workspace_;
  dnnl::engine engine_;
  dnnl::stream stream_;
};

/// While an object exists, oneDNN creates primitives for one thread. It is for primitives of which several threads run
/// one each at the same time.
class OneThread {
 public:
  explicit OneThread(const DnnlRuntime& runtime);
  ~OneThread() { runtime_.use_threads(); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const DnnlRuntime& runtime_;
};

/// One argument of a primitive: its number in oneDNN (DNNL_ARG_...) and its layout.
struct DnnlArgument {
  int name;
  dnnl::memory::desc layout;
};

/// A primitive with its arguments, ready to run on the number of threads that it was created for.
class DnnlCall {
 public:
  DnnlCall() = default;

  template <typename Primitive>
  static DnnlCall create(DnnlRuntime& runtime, const typename Primitive::primitive_desc& description,
                         const std::vector<DnnlArgument>& arguments) {
    return DnnlCall(runtime, Primitive(description), description.scratchpad_desc(), arguments);
  }

  /// Returns the number of bytes of the workspace's scratch memory that run() overwrites.
  std::int64_t scratchpad_bytes() const { return scratchpad_bytes_; }

  /// Runs the primitive with these pointers, which are in the order of the arguments at creation. The part of the
  /// workspace's scratch memory that it overwrites begins at `scratchpad_offset` bytes. If that is not 0, the caller
  /// must have reserved the memory. Throws Error if oneDNN fails.
  void run(std::initializer_list<const void*> pointers, std::int64_t scratchpad_offset = 0);

 private:
  DnnlCall(DnnlRuntime& runtime, dnnl::primitive primitive, const dnnl::memory::desc& scratchpad,
           const std::vector<DnnlArgument>& arguments);

  DnnlRuntime* runtime_ = nullptr;
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;      ///< the arguments, then the scratchpad
  std::vector<dnnl_exec_arg_t> arguments_;  ///< the same memories, as oneDNN's C interface takes them
  std::int64_t scratchpad_bytes_ = 0;
  int threads_ = 1;
};

/// Creates a call that copies an array from one layout to another. The pointers of its run() are {from, to}.
DnnlCall create_reorder(DnnlRuntime& runtime, const dnnl::memory::desc& from, const dnnl::memory::desc& to);

inline dnnl::memory::data_type dnnl_type(DataType type) {
  return type == DataType::kBfloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

/// Returns the descriptor of a tensor with the layout `tag`. With format_tag::any, oneDNN chooses the layout.
inline dnnl::memory::desc dnnl_layout(const dnnl::memory::dims& dims, dnnl::memory::format_tag tag,
                                      DataType type = DataType::kFloat32) {
  return {dims, dnnl_type(type), tag};
}

/// Returns whether oneDNN has an optimised implementation, not only its reference loops, of the primitive whose
/// descriptor describe() returns. In bf16 it has none for most processors, and for some only for some shapes. Throws
/// dnnl::error if describe() throws one with another status than dnnl_unimplemented.
template <typename Describe>
bool has_dnnl(Describe&& describe) {
  try {
    return !std::string_view(describe().impl_info_str()).starts_with("ref");
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented) return false;
    throw;
  }
}

/// Returns create(), which describes or creates primitives for the runtime's number of threads. Throws Error, naming
/// `what`, if oneDNN cannot compute them.
template <typename Create>
auto create_with_dnnl(const DnnlRuntime& runtime, const std::string& what, Create&& create) {
  try {
    runtime.use_threads();
    return std::forward<Create>(create)();
  } catch (const dnnl::error& error) {
    fail("oneDNN cannot compute {}: {} (status {})", what, error.what(), static_cast<int>(error.status));
  }
}

}  // namespace convoy::ops::cpu
