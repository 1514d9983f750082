/// Tensors of random numbers. Zeros, or one number again and again, would not do: multiplying them takes less power and
/// so less time than training, and their sums are the same in any order.
#include "ops/cuda/cudnn/measuring_memory.h"

#include <algorithm>
#include <random>

#include "device/cuda/check.h"

namespace convoy::ops::cuda {

namespace {

constexpr std::int64_t kBytesBehind = 1024;                 // after each tensor
constexpr std::size_t kRandomWords = std::size_t{1} << 16;  // then the same words are repeated

/// Returns numbers of both signs with magnitudes between 1/4 and 1; a word contains two of them if they have 16 bits.
/// Sign, mantissa and the exponent's lowest bit are random.
std::vector<std::uint32_t> random_numbers(DataType type) {
  std::uint32_t random_bits = 0x80ffffff, exponent = 0x3e800000;
  if (type == DataType::kBfloat16) random_bits = 0x80ff80ff, exponent = 0x3e803e80;
  if (type == DataType::kFloat16) random_bits = 0x87ff87ff, exponent = 0x34003400;
  std::vector<std::uint32_t> words(kRandomWords);
  std::mt19937 random(1);
  for (std::uint32_t& word : words) word = (static_cast<std::uint32_t>(random()) & random_bits) + exponent;
  return words;
}

}  // namespace

MeasuringMemory::MeasuringMemory(const CudnnGraphSpec& spec, std::int64_t workspace_bytes, Context& context)
    : context_(context), add_checksum_(context) {
  const ConvolutionSpec& conv = spec.convolution;
  x_ = make(conv.x.count(), conv.type);
  w_ = make(conv.weight_count(), spec.weight_type);
  y_ = make(conv.y().count(), conv.type);
  workspace_ = Buffer(context.device(), workspace_bytes);
  checksums_ = Buffer(context.device(), kMaxRuns * std::int64_t{sizeof(std::uint64_t)});
  const auto set_result = [this](const Buffer& buffer, std::int64_t count, DataType type) {
    result_values_ = count;
    result_ = {buffer.data(), count * size_of(type)};
  };
  switch (spec.pass) {
    case ConvolutionPass::kForward:
      set_result(y_, conv.y().count(), conv.type);
      break;
    case ConvolutionPass::kBackwardInput:
      set_result(x_, conv.x.count(), conv.type);
      break;
    case ConvolutionPass::kBackwardWeight:
      set_result(w_, conv.weight_count(), spec.weight_type);
      break;
  }
}

Buffer MeasuringMemory::make(std::int64_t count, DataType type) {
  const std::int64_t size_bytes = count * size_of(type);
  Buffer buffer(context_.device(), size_bytes + kBytesBehind);
  const std::vector<std::uint32_t> numbers = random_numbers(type);
  std::int64_t filled = std::min(size_bytes, static_cast<std::int64_t>(numbers.size() * sizeof(numbers[0])));
  context_.device().copy_to_device(buffer.data(), numbers.data(), filled);
  while (filled < size_bytes) {
    const std::int64_t more = std::min(filled, size_bytes - filled);
    CONVOY_CHECK_CUDA(cudaMemcpyAsync(buffer.data() + filled, buffer.data(), static_cast<std::size_t>(more),
                                      cudaMemcpyDeviceToDevice, context_.stream()));
    filled += more;
  }
  behind_.push_back({buffer.data() + size_bytes, kBytesBehind});
  return buffer;
}

ConvolutionTensors MeasuringMemory::tensors() const {
  return {.x = x_.data(), .w = w_.data(), .y = y_.data()};
}

void MeasuringMemory::set(const Bytes& bytes, int byte) const {
  CONVOY_CHECK_CUDA(cudaMemsetAsync(bytes.data, byte, static_cast<std::size_t>(bytes.count), context_.stream()));
}

void MeasuringMemory::spoil(int byte) const {
  for (const Bytes& bytes : behind_) set(bytes, byte);
  set(result_, byte);
  set({workspace_.data(), workspace_.size_bytes()}, byte);
}

void MeasuringMemory::note_checksum(int run) const {
  std::uint64_t* const sum = checksums_.as<std::uint64_t>().data() + run;
  set({reinterpret_cast<std::byte*>(sum), sizeof *sum}, 0);
  add_checksum_.add(result_.data, result_.count, sum);
}

bool MeasuringMemory::are_the_same(int num_runs) const {
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(num_runs));
  context_.device().copy_to_host(sums.data(), checksums_.data(),
                                 static_cast<std::int64_t>(sums.size() * sizeof(std::uint64_t)));
  return std::ranges::all_of(sums, [&](std::uint64_t sum) { return sum == sums.front(); });
}

}  // namespace convoy::ops::cuda
