/// Stored bytes into a network's input on a GPU: crop, flip, look up and round in one pass.
#include <algorithm>
#include <memory>

#include "convoy/ops/image_batch.h"

#include "ops/cuda/operations.h"
#include "ops/cuda/places.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kPacks = 4;              // of a thread: what the copy of the table is shared by
constexpr int kMaxStagedChannels = 4;  // whose table fits shared memory; others are looked up through the L1 cache

struct ImageBatchArgs {
  const std::uint8_t* images;  ///< (N,H,W,C)
  const ImageCut* cuts;        ///< (N)
  const float* value_of;       ///< (C,256)
  int n, h, w, c;
  bool reflects;  ///< outside an image; otherwise byte 0 is there
};

/// A value's place in an image.
struct Place {
  int h, w, c;

  __device__ Place(unsigned index, const ImageBatchArgs& args) {
    const unsigned pixel = index / static_cast<unsigned>(args.c), row = pixel / static_cast<unsigned>(args.w);
    h = static_cast<int>(row);
    w = static_cast<int>(pixel - row * static_cast<unsigned>(args.w));
    c = static_cast<int>(index - pixel * static_cast<unsigned>(args.c));
  }

  __device__ void advance(const ImageBatchArgs& args) {
    if (++c < args.c) return;
    c = 0;
    if (++w < args.w) return;
    w = 0;
    ++h;
  }
};

__device__ inline int reflected(int place, int count) {
  return place < 0 ? -place : place >= count ? 2 * (count - 1) - place : place;
}

__device__ inline int byte_at(const ImageBatchArgs& args, const ImageCut& cut, const std::uint8_t* image,
                              const Place& place) {
  int h = place.h + cut.dy, w = (cut.flip != 0 ? args.w - 1 - place.w : place.w) + cut.dx;
  if (args.reflects) {
    h = reflected(h, args.h);
    w = reflected(w, args.w);
  }
  if (cut.black != 0 || h < 0 || h >= args.h || w < 0 || w >= args.w) return 0;
  return image[(h * args.w + w) * args.c + place.c];
}

__device__ inline bool in_hole(const ImageCut& cut, const Place& place) {
  return place.h >= cut.hole_top && place.h < cut.hole_bottom && place.w >= cut.hole_left && place.w < cut.hole_right;
}

/// One image before its values are rounded.
struct CutImage {
  ImageCut cut;
  const std::uint8_t* bytes;

  __device__ CutImage(const ImageBatchArgs& args, int n, int count)
      : cut(args.cuts[n]), bytes(args.images + std::int64_t{n} * count) {}

  __device__ float value(const ImageBatchArgs& args, const float* value_of, const Place& place) const {
    return in_hole(cut, place) ? 0.0f : value_of[place.c * kNumBytes + byte_at(args, cut, bytes, place)];
  }
};

/// Grid: blocks of kThreads * kPacks * kWidth neighbouring values of an image x images. Block: kThreads.
/// Shared: 4 KiB with kStaged. Reads a byte, of a mixed image two, and writes a T for every value; no arithmetic but
/// the mixing and the rounding to T.
template <typename T, int kWidth, bool kStaged>
__global__ void __launch_bounds__(kThreads) cut_images(ImageBatchArgs args, T* x) {
  const int thread = static_cast<int>(threadIdx.x);
  const float* value_of = args.value_of;
  __shared__ float staged[kStaged ? kMaxStagedChannels * kNumBytes : 1];
  if constexpr (kStaged) {
    for (int i = thread; i < args.c * kNumBytes; i += kThreads) staged[i] = value_of[i];
    __syncthreads();
    value_of = staged;
  }
  const int count = args.h * args.w * args.c;
  for (int n = static_cast<int>(blockIdx.y); n < args.n; n += static_cast<int>(gridDim.y)) {
    const CutImage own(args, n, count);
    const float share = own.cut.mix.share;
    const CutImage partner(args, share > 0 ? own.cut.mix.partner : n, count);
#pragma unroll
    for (int pack = 0; pack < kPacks; ++pack) {
      const int at = ((static_cast<int>(blockIdx.x) * kPacks + pack) * kThreads + thread) * kWidth;
      if (at >= count) break;
      Place place(static_cast<unsigned>(at), args);
      float v[kWidth];
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        v[i] = own.value(args, value_of, place);
        if (share > 0) v[i] = (1.0f - share) * v[i] + share * partner.value(args, value_of, place);
        place.advance(args);
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
        border_(spec.border),
        value_of_(context.device(), static_cast<std::int64_t>(spec.value_of.size() * sizeof(float))),
        context_(context) {
    context.device().copy_to_device(value_of_.data(), spec.value_of.data(), value_of_.size_bytes());
  }

  void run(const std::uint8_t* images, const ImageCut* cuts, void* x) override {
    const ImageBatchArgs args{images,
                              cuts,
                              value_of_.floats(),
                              static_cast<int>(shape_.n),
                              static_cast<int>(shape_.h),
                              static_cast<int>(shape_.w),
                              static_cast<int>(shape_.c),
                              border_ == BorderKind::kReflect};
    const std::int64_t values = shape_.h * shape_.w * shape_.c;
    const LaunchShape launch_shape{{static_cast<unsigned>(ceil_div(values, kThreads * kPacks * kWidth)),
                                    static_cast<unsigned>(std::min<std::int64_t>(shape_.n, kMaxGridHeight)), 1},
                                   {kThreads, 1, 1}};
    const auto kernel = shape_.c <= kMaxStagedChannels ? cut_images<T, kWidth, true> : cut_images<T, kWidth, false>;
    launch(kernel, launch_shape, context_.stream(), args, static_cast<T*>(x));
  }

 private:
  Shape shape_;
  BorderKind border_;
  Buffer value_of_;
  const Context& context_;
};

}  // namespace

std::unique_ptr<ImageBatchOp> make_image_batch(const ImageBatchSpec& spec, Context& context) {
  std::unique_ptr<ImageBatchOp> op;
  with_type(spec.type, [&]<typename T>(T*) {
    with_width<T>(spec.x.h * spec.x.w * spec.x.c,
                  [&]<int kWidth>(Width<kWidth>) { op = std::make_unique<CudaImageBatch<T, kWidth>>(spec, context); });
  });
  return op;
}

}  // namespace convoy::ops::cuda
