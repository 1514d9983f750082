/// The layer functions that copy channels: concatenation, slices, and padding with zero channels; and flattening.
#include "convoy/base/error.h"

#include "model/layer_function_parts.h"
#include "model/layers/channels.h"

namespace convoy {

namespace {

constexpr std::int64_t kMaxConcatenated = 64;

Value add_concat(const LayerArguments& call) {
  const Shape& first = call.x().shape();
  for (const Value& value : call.inputs())
    if (value.shape().h != first.h || value.shape().w != first.w)
      refuse("the inputs {} and {} (height x width x channels) have different pixels", sides(first),
             sides(value.shape()));
  return concat(call.inputs());
}

Value add_slice(const LayerArguments& call) {
  const std::int64_t first = call.integer("first"), channels = call.integer("channels"), own = call.x().shape().c;
  if (first + channels > own)
    refuse("{} channels from channel {} on are more than the {} of the input", channels, first, own);
  return slice_channels(call.x(), first, channels);
}

Value add_padding(const LayerArguments& call) {
  const std::int64_t channels = call.integer("channels"), own = call.x().shape().c;
  const std::int64_t before = call.integer("before");
  if (channels < own + before)
    refuse("channels = {} are fewer than the {} of the input and the {} before them", channels, own, before);
  return pad_channels(call.x(),
                      {.num_channels = channels, .channels_before = before, .stride = call.integer("stride")});
}

}  // namespace

std::vector<LayerFunction> channel_functions() {
  return {
      {.name = "pad_channels",
       .about = "every stride-th pixel, with channels of zeros added, x (H,W,C), y (P,Q,channels)",
       .arguments = {count("channels", "number of channels of the result"),
                     integer("before", 0, "number of zero channels that come before those of x", 0, kMaxChannels),
                     integer("stride", 1, "takes every stride-th row and column")},
       .add = add_padding},
      {.name = "concat",
       .about = "the channels of two or more values of one height and width, one after the other, x (H,W,C1), x2 "
                "(H,W,C2), ..., y (H,W,C1 + C2 + ...)",
       .min_inputs = 2,
       .max_inputs = kMaxConcatenated,
       .add = add_concat},
      {.name = "slice_channels",
       .about = "some channels that follow each other, x (H,W,C), y (H,W,channels)",
       .arguments = {count("channels", "number of channels that are taken"),
                     integer("first", 0, "index of the first of them; the first channel of x is 0", 0, kMaxChannels)},
       .add = add_slice},
      {.name = "flatten",
       .about = "all values of a sample as channels, row by row and pixel by pixel, x (H,W,C), y (1,1,H W C), of "
                "volumes slice by slice. Copies "
                "nothing, but at the end of a cell",
       .takes_slices = true,
       .add = [](const LayerArguments& call) { return flatten(call.x()); }},
  };
}

}  // namespace convoy
