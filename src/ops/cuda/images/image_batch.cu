/// Turns stored bytes into a network's input on a GPU: crop, flip, look up and round in one pass.
#include <memory>

#include "convoy/ops/image_batch.h"

#include "ops/cuda/image_extents.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kPacks = 4;              // of a thread: they share the copy of the table
constexpr int kMaxStagedChannels = 4;  // whose table is copied to shared memory; larger tables are read by the L1 cache

struct ImageBatchArgs {
  const std::uint8_t* images;  ///< (N,H,W,C)
  const ImageCut* cuts;        ///< (N)
  const float* value_of;       ///< (C,256)
  ImageExtents shape;
  bool reflects;  ///< whether the image is reflected at its border; else bytes outside are 0
};

/// A value's position in an image.
struct ValuePosition {
  int h, w, c;

  __device__ ValuePosition(unsigned index, const ImageBatchArgs& args) {
    const unsigned pixel = index / static_cast<unsigned>(args.shape.c),
                   row = pixel / static_cast<unsigned>(args.shape.w);
    h = static_cast<int>(row);
    w = static_cast<int>(pixel - row * static_cast<unsigned>(args.shape.w));
    c = static_cast<int>(index - pixel * static_cast<unsigned>(args.shape.c));
  }

  __device__ void advance(const ImageBatchArgs& args) {
    if (++c < args.shape.c) return;
    c = 0;
    if (++w < args.shape.w) return;
    w = 0;
    ++h;
  }
};

__device__ inline int reflected(int position, int count) {
  return position < 0 ? -position : position >= count ? 2 * (count - 1) - position : position;
}

__device__ inline int byte_at(const ImageBatchArgs& args, const ImageCut& cut, const std::uint8_t* image,
                              const ValuePosition& position) {
  int h = position.h + cut.dy, w = (cut.flip != 0 ? args.shape.w - 1 - position.w : position.w) + cut.dx;
  if (args.reflects) {
    h = reflected(h, args.shape.h);
    w = reflected(w, args.shape.w);
  }
  if (cut.is_padding != 0 || h < 0 || h >= args.shape.h || w < 0 || w >= args.shape.w) return 0;
  return image[(h * args.shape.w + w) * args.shape.c + position.c];
}

__device__ inline bool in_hole(const ImageCut& cut, const ValuePosition& position) {
  return position.h >= cut.hole_top && position.h < cut.hole_bottom && position.w >= cut.hole_left &&
         position.w < cut.hole_right;
}

__device__ inline bool in_box(const ImageMix& mix, const ValuePosition& position) {
  return position.h >= mix.top && position.h < mix.bottom && position.w >= mix.left && position.w < mix.right;
}

/// One image before its values are rounded.
struct CutImage {
  ImageCut cut;
  const std::uint8_t* bytes;

  __device__ CutImage(const ImageBatchArgs& args, int n, int count)
      : cut(args.cuts[n]), bytes(args.images + std::int64_t{n} * count) {}

  __device__ float value(const ImageBatchArgs& args, const float* value_of, const ValuePosition& position) const {
    return in_hole(cut, position) ? 0.0f : value_of[position.c * kNumBytes + byte_at(args, cut, bytes, position)];
  }
};

/// Grid: blocks of kThreads * kPacks * kWidth neighbouring values of an image x images. Block: kThreads.
/// Shared: 4 KiB with kStaged. For every value, reads one byte, or two if the image is mixed, and writes a T. The only
/// arithmetic is the mixing and the rounding to T.
template <typename T, int kWidth, bool kStaged>
__global__ void __launch_bounds__(kThreads) cut_images(ImageBatchArgs args, T* x) {
  const int thread = static_cast<int>(threadIdx.x);
  const float* value_of = args.value_of;
  __shared__ float staged[kStaged ? kMaxStagedChannels * kNumBytes : 1];
  if constexpr (kStaged) {
    for (int i = thread; i < args.shape.c * kNumBytes; i += kThreads) staged[i] = value_of[i];
    __syncthreads();
    value_of = staged;
  }
  const int count = args.shape.h * args.shape.w * args.shape.c;
  for (int n = static_cast<int>(blockIdx.y); n < args.shape.n; n += static_cast<int>(gridDim.y)) {
    const CutImage own(args, n, count);
    const float share = own.cut.mix.share;
    const CutImage partner(args, share > 0 ? own.cut.mix.partner : n, count);
#pragma unroll
    for (int pack = 0; pack < kPacks; ++pack) {
      const int at = ((static_cast<int>(blockIdx.x) * kPacks + pack) * kThreads + thread) * kWidth;
      if (at >= count) break;
      ValuePosition position(static_cast<unsigned>(at), args);
      float v[kWidth];
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        v[i] = own.value(args, value_of, position);
        if (share > 0 && in_box(own.cut.mix, position))
          v[i] = (1.0f - share) * v[i] + share * partner.value(args, value_of, position);
        position.advance(args);
      }
      store<kWidth>(v, x + std::int64_t{n} * count + at);
    }
  }
}

template <typename T, int kWidth>
class CudaImageBatch final : public ImageBatchOp {
 public:
  CudaImageBatch(const ImageBatchSpec& spec, const Context& context)
      : shape_(spec.x),
        reflects_(spec.border == BorderKind::kReflect),
        value_of_(context.device(), static_cast<std::int64_t>(spec.value_of.size() * sizeof(float))),
        context_(context) {
    context.device().copy_to_device(value_of_.data(), spec.value_of.data(), value_of_.size_bytes());
  }

  void run(const std::uint8_t* images, const ImageCut* cuts, void* x) override {
    const ImageBatchArgs args{images, cuts, value_of_.floats(), shape_, reflects_};
    const std::int64_t values = std::int64_t{shape_.h} * shape_.w * shape_.c;
    const auto kernel = shape_.c <= kMaxStagedChannels ? cut_images<T, kWidth, true> : cut_images<T, kWidth, false>;
    launch(kernel, shape_over_images(shape_.n, ceil_div(values, kPacks * kWidth), kThreads), context_.stream(), args,
           x);
  }

 private:
  ImageExtents shape_;
  bool reflects_;
  Buffer value_of_;
  const Context& context_;
};

}  // namespace

template <>
std::unique_ptr<ImageBatchOp> make_op(const ImageBatchSpec& spec, const Resources& resources) {
  return make_wide<CudaImageBatch, ImageBatchOp>(spec.x.h * spec.x.w * spec.x.c, spec, resources.context);
}

}  // namespace convoy::ops::cuda
