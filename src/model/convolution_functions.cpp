/// The layer functions of images: convolutions and pooling.
#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/ops/pooling.h"

#include "model/layer_function_parts.h"
#include "model/layers/convolution.h"
#include "model/layers/pooling.h"

namespace convoy {

namespace {

using Kind = ArgumentSpec::Kind;

constexpr double kMaxWeights = 1e12;

void check_window(const Shape& x, std::int64_t window, std::int64_t padding) {
  if (std::min(x.h, x.w) + 2 * padding < window)
    refuse("the kernel of {0} x {0} does not fit into an input of {1} with padding {2}", window, sides(x), padding);
}

void check_num_weights(double num_weights) {
  if (num_weights > kMaxWeights)
    refuse("it would have {:.1e} weights; a layer can have {:.0e}", num_weights, kMaxWeights);
}

Value add_convolution(const LayerArguments& call) {
  const Shape& x = call.x().shape();
  const std::int64_t groups = call.integer("groups"), filters = call.integer("filters");
  check_divides("groups", groups, x.c, "channels of the input");
  check_divides("groups", groups, filters, "filters");
  const std::int64_t window = (call.integer("kernel") - 1) * call.integer("dilation") + 1;
  const std::int64_t padding = call.has("padding") ? call.integer("padding") : window / 2;
  check_window(x, window, padding);
  const auto kernel = static_cast<double>(call.integer("kernel"));
  check_num_weights(kernel * kernel * static_cast<double>(filters) * static_cast<double>(x.c) /
                    static_cast<double>(groups));
  return convolution(call.name(), call.x(),
                     {.num_filters = filters,
                      .kernel = call.integer("kernel"),
                      .stride = call.integer("stride"),
                      .padding = padding,
                      .groups = groups,
                      .dilation = call.integer("dilation"),
                      .bias = call.flag("bias"),
                      .initial_weight = call.initial("initial_weight")});
}

PoolingSettings pooling_of(const LayerArguments& call) {
  const std::int64_t kernel = call.integer("kernel"), padding = call.integer("padding");
  check_window(call.x().shape(), kernel, padding);
  if (2 * padding > kernel) refuse("padding = {} is more than half of kernel = {}", padding, kernel);
  return {.kernel = kernel, .stride = call.has("stride") ? call.integer("stride") : kernel, .padding = padding};
}

}  // namespace

std::vector<LayerFunction> convolution_functions() {
  const std::vector<ArgumentSpec> window = {
      {.name = "kernel", .is_required = true, .about = "height and width of a window", .min = 1, .max = kMaxKernel},
      {.name = "stride",
       .about = "distance of two windows; without it, as large as the kernel",
       .min = 1,
       .max = kMaxKernel},
      integer("padding", 0, "rows and columns of padding at each side", 0)};
  std::vector<ArgumentSpec> of_max_pool = window;
  of_max_pool.front().max = static_cast<double>(ops::MaxPoolOp::kMaxKernel);
  std::vector<ArgumentSpec> of_average_pool = window;
  of_average_pool.push_back({.name = "count_padding",
                             .kind = Kind::kFlag,
                             .initial = false,
                             .about = "whether the mean counts the padding, as zeros"});
  return {
      {.name = "conv",
       .about =
           "convolution, x (H,W,C), y (P,Q,filters). Parameters: NAME.weight (filters,C/groups,kernel,kernel), and "
           "NAME.bias (filters) with bias = true",
       .has_name = true,
       .arguments = {count("filters", "number of filters, the channels of the result"),
                     integer("kernel", 1, "height and width of a filter"),
                     integer("stride", 1, "distance of two windows"),
                     {.name = "padding",
                      .about = "rows and columns of zeros at each side; without it half of the kernel, widened by "
                               "dilation, rounded down",
                      .min = 0,
                      .max = kMaxKernel},
                     integer("dilation", 1,
                             "distance of neighbouring elements of a filter, in pixels, which widens the kernel"),
                     integer("groups", 1, "number of groups of channels; each filter reads one group", 1, kMaxChannels),
                     {.name = "bias", .kind = Kind::kFlag, .initial = false, .about = "whether a bias is added"},
                     initial_values("initial_weight",
                                    "initial values of the weight; without it normal(sqrt(2 / "
                                    "(filters kernel^2))) (He et al. 2015)")},
       .add = add_convolution},
      {.name = "max_pool",
       .about = "maximum over each window, x (H,W,C), y (P,Q,C)",
       .arguments = of_max_pool,
       .add = [](const LayerArguments& call) { return max_pool(call.x(), pooling_of(call)); }},
      {.name = "average_pool",
       .about = "mean over those pixels of each window that are inside the image, x (H,W,C), y (P,Q,C)",
       .arguments = of_average_pool,
       .add =
           [](const LayerArguments& call) {
             PoolingSettings pooling = pooling_of(call);
             pooling.counts_padding = call.flag("count_padding");
             return average_pool(call.x(), pooling);
           }},
      {.name = "adaptive_average_pool",
       .about =
           "mean over each of height x width windows that cover the image, x (H,W,C), y (height,width,C): window p "
           "has the rows from floor(p H / height) to ceil((p + 1) H / height) - 1",
       .arguments = {count("height", "number of rows of the result"),
                     count("width", "number of columns of the result")},
       .add =
           [](const LayerArguments& call) {
             return adaptive_average_pool(call.x(), call.integer("height"), call.integer("width"));
           }},
      {.name = "global_average_pool",
       .about = "mean over the image, x (H,W,C), y (1,1,C)",
       .add = [](const LayerArguments& call) { return global_average_pool(call.x()); }},
  };
}

}  // namespace convoy
