/// Runs oneDNN calls that were created before.
#include "ops/cpu/onednn/dnnl_call.h"

#include <cassert>

#include <fmt/core.h>
#include <omp.h>

#include "convoy/ops/backend.h"

namespace convoy::ops::cpu {

void DnnlRuntime::use_threads() const {
  omp_set_num_threads(workspace_.threads());
}

OneThread::OneThread(const DnnlRuntime& runtime) : runtime_(runtime) {
  omp_set_num_threads(1);
}

dnnl::primitive_attr DnnlRuntime::attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

DnnlCall::DnnlCall(DnnlRuntime& runtime, dnnl::primitive primitive, const dnnl::memory::desc& scratchpad,
                   const std::vector<DnnlArgument>& arguments)
    : runtime_(&runtime),
      primitive_(std::move(primitive)),
      scratchpad_bytes_(static_cast<std::int64_t>(scratchpad.get_size())),
      threads_(omp_get_max_threads()) {
  for (const DnnlArgument& argument : arguments) {
    memories_.push_back(dnnl::memory(argument.layout, runtime.engine(), DNNL_MEMORY_NONE));
    arguments_.push_back({argument.name, memories_.back().get()});
  }
  memories_.push_back(dnnl::memory(scratchpad, runtime.engine(), DNNL_MEMORY_NONE));
  arguments_.push_back({DNNL_ARG_SCRATCHPAD, memories_.back().get()});
  runtime.workspace().reserve(scratchpad_bytes_);
}

void DnnlCall::run(std::initializer_list<const void*> pointers, std::int64_t scratchpad_offset) {
  assert(pointers.size() + 1 == memories_.size());
  try {
    auto memory = memories_.begin();
    // oneDNN has no const handles. It writes to its sources only if their layout has padding, and only there.
    for (const void* pointer : pointers) (memory++)->set_data_handle(const_cast<void*>(pointer));
    memory->set_data_handle(runtime_->workspace().scratch() + scratchpad_offset);
    omp_set_num_threads(threads_);
    // Not primitive_.execute(): it makes a new argument list every time.
    dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive_.get(), runtime_->stream().get(),
                                                   static_cast<int>(arguments_.size()), arguments_.data()),
                            "could not execute a primitive");
  } catch (const dnnl::error& error) {
    fail("oneDNN failed in an operation that it had created: {} (status {})", error.what(),
         static_cast<int>(error.status));
  }
}

DnnlCall create_reorder(DnnlRuntime& runtime, const dnnl::memory::desc& from, const dnnl::memory::desc& to) {
  const dnnl::reorder::primitive_desc description(runtime.engine(), from, runtime.engine(), to,
                                                  DnnlRuntime::attributes());
  return DnnlCall::create<dnnl::reorder>(runtime, description, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

}  // namespace convoy::ops::cpu

namespace convoy::ops {

std::string onednn_version() {
  const dnnl_version_t* const version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

}  // namespace convoy::ops
