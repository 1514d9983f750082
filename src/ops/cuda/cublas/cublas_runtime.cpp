/// Matrix products by cublasLt, which stores matrices by columns: read that way, a row-major matrix is its transpose,
/// so d = a b is computed as d^T = b^T a^T.
#include "ops/cuda/cublas/cublas_runtime.h"

#include <cstdint>

#include "convoy/base/error.h"
#include "convoy/base/log.h"

namespace convoy::ops::cuda {

namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // what NVIDIA recommends for Hopper
constexpr std::uint32_t kAlignmentBytes = 16;                   // of every operand, at least

[[noreturn]] void fail_call(cublasStatus_t status, const char* call, const char* file, int line) {
  fail("{} failed: {} ({}:{})", call, cublasLtGetStatusString(status), file, line);
}

#define CONVOY_CHECK_CUBLAS(call)                                                                    \
  do {                                                                                               \
    const cublasStatus_t convoy_status = (call);                                                     \
    if (convoy_status != CUBLAS_STATUS_SUCCESS) fail_call(convoy_status, #call, __FILE__, __LINE__); \
  } while (false)

using Layout = Matmul::Layout;
using Description = Matmul::Description;
using Preference = convoy::cuda::Owned<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy>;

cudaDataType_t cuda_type(DataType type) {
  switch (type) {
    case DataType::kBfloat16:
      return CUDA_R_16BF;
    case DataType::kFloat16:
      return CUDA_R_16F;
    default:
      return CUDA_R_32F;
  }
}

/// The layout of a row-major matrix in memory: its rows are cublasLt's columns.
Layout make_layout(DataType type, std::int64_t num_rows, std::int64_t num_columns) {
  cublasLtMatrixLayout_t layout = nullptr;
  CONVOY_CHECK_CUBLAS(cublasLtMatrixLayoutCreate(&layout, cuda_type(type), static_cast<std::uint64_t>(num_columns),
                                                 static_cast<std::uint64_t>(num_rows), num_columns));
  return Layout(layout);
}

template <typename Value>
void set(const Description& description, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
  CONVOY_CHECK_CUBLAS(cublasLtMatmulDescSetAttribute(description.get(), attribute, &value, sizeof(value)));
}

template <typename Value>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
  CONVOY_CHECK_CUBLAS(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof(value)));
}

Description make_description(const MatmulSpec& spec, bool tf32) {
  const bool rounds = spec.input_type == DataType::kFloat32 && tf32;
  cublasLtMatmulDesc_t handle = nullptr;
  CONVOY_CHECK_CUBLAS(
      cublasLtMatmulDescCreate(&handle, rounds ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F));
  Description description(handle);
  const auto operation = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set(description, CUBLASLT_MATMUL_DESC_TRANSA, operation(spec.b_transposed));
  set(description, CUBLASLT_MATMUL_DESC_TRANSB, operation(spec.a_transposed));
  if (spec.bias) {
    set(description, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    // A placeholder for the choice of the algorithm, which depends on the pointer's alignment alone.
    set(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
        reinterpret_cast<const void*>(std::uintptr_t{kAlignmentBytes}));  // NOLINT(performance-no-int-to-ptr)
  }
  return description;
}

Preference make_preference() {
  cublasLtMatmulPreference_t handle = nullptr;
  CONVOY_CHECK_CUBLAS(cublasLtMatmulPreferenceCreate(&handle));
  Preference preference(handle);
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
  for (const auto operand : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                             CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    set(preference, operand, kAlignmentBytes);
  }
  // The float32 parts of a split sum are added in a separate step, so that no race decides their order.
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  return preference;
}

}  // namespace

CublasRuntime::CublasRuntime(Context& context, bool tf32) : context_(context), tf32_(tf32) {
  CONVOY_CHECK_CUBLAS(cublasLtCreate(&handle_));
}

CublasRuntime::~CublasRuntime() {
  const cublasStatus_t status = cublasLtDestroy(handle_);
  if (status != CUBLAS_STATUS_SUCCESS) {
    log_warning(std::string("cublasLtDestroy failed: ") + cublasLtGetStatusString(status));
  }
}

Matmul::Matmul(const MatmulSpec& spec, CublasRuntime& runtime)
    : runtime_(runtime),
      spec_(spec),
      description_(make_description(spec, runtime.tf32())),
      a_(spec.a_transposed ? make_layout(spec.input_type, spec.k, spec.m)
                           : make_layout(spec.input_type, spec.m, spec.k)),
      b_(spec.b_transposed ? make_layout(spec.input_type, spec.n, spec.k)
                           : make_layout(spec.input_type, spec.k, spec.n)),
      d_(make_layout(spec.output_type, spec.m, spec.n)) {
  const Preference preference = make_preference();
  int num_found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(runtime.handle(), description_.get(), b_.get(), a_.get(), d_.get(), d_.get(),
                                     preference.get(), 1, &choice_, &num_found);
  const std::string what = fmt::format("{}x{} by {}x{}, {} to {}", spec.m, spec.k, spec.k, spec.n,
                                       to_string(spec.input_type), to_string(spec.output_type));
  if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED)
    fail("cublasLt cannot multiply {}: {}", what, cublasLtGetStatusString(status));
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || num_found == 0) {
    log_warning(fmt::format("cublasLt has no algorithm to multiply {}: a slower kernel does it", what));
    is_plain_ = true;
    return;
  }
  runtime.context().reserve_scratch(static_cast<std::int64_t>(choice_.workspaceSize));
}

void Matmul::run(const MatmulArguments& args) {
  const Context& context = runtime_.context();
  if (is_plain_) return plain_matmul(spec_, args, context);
  const float one = 1, zero = 0;
  if (args.bias != nullptr) set(description_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, args.bias);
  CONVOY_CHECK_CUBLAS(cublasLtMatmul(runtime_.handle(), description_.get(), &one, args.b, b_.get(), args.a, a_.get(),
                                     &zero, args.d, d_.get(), args.d, d_.get(), &choice_.algo, context.scratch(),
                                     choice_.workspaceSize, context.stream()));
}

#undef CONVOY_CHECK_CUBLAS

}  // namespace convoy::ops::cuda
