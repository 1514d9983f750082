/// Calls of oneDNN: primitives created once, memory handles set at every call.
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

/// oneDNN's engine and stream, and the workspace in which its calls find their scratchpads.
class DnnlRuntime {
 public:
  explicit DnnlRuntime(Workspace& workspace)
      : workspace_(workspace), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  Workspace& workspace() const { return workspace_; }
  const dnnl::engine& engine() const { return engine_; }
  const dnnl::stream& stream() const { return stream_; }

  /// Sets the calling thread's number of threads, for which oneDNN creates primitives. Call it before describing and
  /// creating, so that these depend neither on the calling thread nor on another library of this process.
  void use_threads() const;

  /// Attributes by which we provide the scratchpads, so that a call allocates almost nothing (oneDNN 2.6 itself
  /// allocates a few small blocks).
  static dnnl::primitive_attr attributes();

 private:
  Workspace& workspace_;
  dnnl::engine engine_;
  dnnl::stream stream_;
};

/// While it exists, oneDNN describes and creates primitives for one thread: for calls that several threads make at the
/// same time, each thread one call.
class OneThread {
 public:
  explicit OneThread(const DnnlRuntime& runtime);
  ~OneThread() { runtime_.use_threads(); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const DnnlRuntime& runtime_;
};

/// One argument of a call: DNNL_ARG_... and its layout.
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

  /// The number of bytes of the workspace's scratch memory that a run overwrites.
  std::int64_t scratchpad_bytes() const { return scratchpad_bytes_; }

  /// Runs on these pointers, in the order of the arguments at creation. The part of the scratch memory that it
  /// overwrites begins at `scratchpad_offset` bytes. If that is not 0, the caller has reserved the memory.
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

/// Creates a copy from one layout to another. Its arguments are {from, to}.
DnnlCall create_reorder(DnnlRuntime& runtime, const dnnl::memory::desc& from, const dnnl::memory::desc& to);

inline dnnl::memory::data_type dnnl_type(DataType type) {
  return type == DataType::kBfloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

/// The description of a tensor in a named layout; with the layout `any`, oneDNN chooses.
inline dnnl::memory::desc dnnl_layout(const dnnl::memory::dims& dims, dnnl::memory::format_tag tag,
                                      DataType type = DataType::kFloat32) {
  return {dims, dnnl_type(type), tag};
}

/// Whether oneDNN computes what `describe` describes by more than its reference loops. In bf16 that depends on the
/// processor: for most it does not, for some only for some shapes.
template <typename Describe>
bool has_dnnl(Describe&& describe) {
  try {
    return !std::string_view(describe().impl_info_str()).starts_with("ref");
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented) return false;
    throw;
  }
}

/// Runs `create`. Throws Error, naming `what`, if oneDNN refuses.
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
