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

  /// The number of threads is the calling thread's own setting, and oneDNN creates primitives for it: call before
  /// creating and executing, so that neither depends on which thread calls or on another library of this process.
  void use_threads() const;

  /// Scratchpads are ours, so that a call allocates next to nothing (oneDNN 2.6 itself: a few small blocks).
  static dnnl::primitive_attr attributes();

 private:
  Workspace& workspace_;
  dnnl::engine engine_;
  dnnl::stream stream_;
};

/// One argument of a call: DNNL_ARG_... and its layout.
struct DnnlArgument {
  int name;
  dnnl::memory::desc layout;
};

/// A primitive with its arguments, ready to run.
class DnnlCall {
 public:
  DnnlCall() = default;

  template <typename Primitive>
  static DnnlCall create(DnnlRuntime& runtime, const typename Primitive::primitive_desc& description,
                         const std::vector<DnnlArgument>& arguments) {
    return DnnlCall(runtime, Primitive(description), description.scratchpad_desc(), arguments);
  }

  /// How much of the workspace's scratch memory a run overwrites, from its beginning.
  std::int64_t scratchpad_bytes() const { return scratchpad_bytes_; }

  /// Runs on these pointers, in the order in which the arguments were planned.
  void run(std::initializer_list<const void*> pointers);

 private:
  DnnlCall(DnnlRuntime& runtime, dnnl::primitive primitive, const dnnl::memory::desc& scratchpad,
           const std::vector<DnnlArgument>& arguments);

  DnnlRuntime* runtime_ = nullptr;
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;      ///< the arguments, then the scratchpad
  std::vector<dnnl_exec_arg_t> arguments_;  ///< the same memories, as oneDNN's C interface takes them
  std::int64_t scratchpad_bytes_ = 0;
};

/// A tensor in a named layout, or `any` for oneDNN to choose.
inline dnnl::memory::desc dnnl_layout(const dnnl::memory::dims& dims, dnnl::memory::format_tag tag,
                                      DataType type = DataType::kFloat32) {
  using Type = dnnl::memory::data_type;
  return {dims, type == DataType::kBfloat16 ? Type::bf16 : Type::f32, tag};
}

/// Whether oneDNN computes what `describe` describes by more than its reference loops. In bf16 that is the processor's
/// choice: most lack it, some have it for some shapes.
template <typename Describe>
bool has_dnnl(Describe&& describe) {
  try {
    return !std::string_view(describe().impl_info_str()).starts_with("ref");
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented) return false;
    throw;
  }
}

/// Runs `create`; oneDNN's refusal becomes an Error that names `what`.
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
