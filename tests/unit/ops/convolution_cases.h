/// Convolutions that every device must compute. The tests of operations run them; without a GPU, cuDNN is asked for
/// engines for all of them.
#pragma once

#include <vector>

#include "convoy/ops/convolution.h"

namespace convoy {

struct ConvolutionCase {
  const char* name;
  ops::ConvolutionSpec spec;
};

/// Strides, kernels, paddings, odd sizes, rows and columns that no window reaches, one pixel, one channel, 37
/// channels, groups down to one channel.
inline const std::vector<ConvolutionCase> kConvolutionCases = {
    {"OnePixelOneChannel", {Shape::images(1, 1, 1, 1), 1, 1, 1, 0}},
    {"OnePixelKernel3", {Shape::images(1, 1, 1, 3), 2, 3, 1, 1}},
    {"OnePixelKernel7Padding3Stride2", {Shape::images(2, 1, 1, 3), 5, 7, 2, 3}},
    {"GreyFirstLayer", {Shape::images(2, 28, 28, 1), 16, 3, 1, 1}},
    {"ColourFirstLayer", {Shape::images(2, 13, 11, 3), 16, 3, 1, 1}},
    {"ImagenetFirstLayer", {Shape::images(1, 33, 29, 3), 64, 7, 2, 3}},
    {"Kernel3", {Shape::images(3, 9, 7, 16), 16, 3, 1, 1}},
    {"Kernel3Stride2EvenSize", {Shape::images(2, 16, 16, 16), 32, 3, 2, 1}},
    {"Kernel3Stride2OddSize", {Shape::images(2, 15, 13, 16), 32, 3, 2, 1}},
    {"Kernel3Stride3NoPadding", {Shape::images(2, 11, 12, 8), 24, 3, 3, 0}},
    {"Kernel3Padding2", {Shape::images(1, 5, 6, 16), 16, 3, 1, 2}},
    {"Kernel5Padding3Stride3", {Shape::images(2, 9, 8, 16), 16, 5, 3, 3}},
    {"Kernel5", {Shape::images(2, 8, 9, 32), 16, 5, 1, 2}},
    {"Kernel7Stride1", {Shape::images(1, 8, 8, 16), 16, 7, 1, 3}},
    {"Pointwise", {Shape::images(2, 7, 7, 64), 128, 1, 1, 0}},
    {"PointwiseStride2EvenSize", {Shape::images(2, 8, 8, 32), 64, 1, 2, 0}},
    {"PointwiseStride2OddSize", {Shape::images(2, 7, 9, 32), 64, 1, 2, 0}},
    {"PointwiseStride3Padding1", {Shape::images(1, 7, 8, 16), 16, 1, 3, 1}},
    {"Channels37", {Shape::images(2, 7, 5, 37), 37, 3, 1, 1}},
    {"Channels37To1", {Shape::images(1, 6, 6, 37), 1, 3, 2, 1}},
    {"Channels1To37Pointwise", {Shape::images(3, 5, 5, 1), 37, 1, 1, 0}},
    {"WideChannels", {Shape::images(1, 7, 7, 256), 256, 3, 1, 1}},
    // Computed by Winograd's products if the CPU has them: one square, squares half beyond the border, several blocks,
    // sums that are divided by squares, and by rows of positions.
    {"OneSquare", {Shape::images(1, 2, 2, 96), 160, 3, 1, 1}},
    {"OddSquares", {Shape::images(2, 15, 13, 32), 48, 3, 1, 1}},
    {"SquaresNoPadding", {Shape::images(1, 16, 14, 48), 32, 3, 1, 0}},
    {"SquaresPadding2", {Shape::images(2, 12, 14, 64), 32, 3, 1, 2}},
    {"RangesOfSquares", {Shape::images(4, 12, 12, 64), 64, 3, 1, 1}},
    {"RowsOfPositions", {Shape::images(2, 16, 16, 96), 96, 3, 1, 1}},
    // Images that are divided into bands of rows if the CPU multiplies pairs of bf16; the last band has fewer rows.
    {"BandsOfRows", {Shape::images(2, 40, 21, 64), 64, 3, 1, 1}},
    {"BandsOfRowsStride2", {Shape::images(1, 41, 32, 64), 64, 3, 2, 1}},
    // Several small images at once; the parts of the sum have 2 and 3 of them.
    {"SamplesAtOnce", {Shape::images(19, 5, 5, 16), 32, 3, 1, 1}},
    {"SamplesAtOnceStride2", {Shape::images(18, 6, 5, 32), 16, 3, 2, 1}},
    {"Groups32", {.x = Shape::images(2, 9, 7, 128), .num_filters = 128, .kernel = 3, .padding = 1, .groups = 32}},
    {"Groups4Stride2",
     {.x = Shape::images(2, 8, 7, 32), .num_filters = 64, .kernel = 3, .stride = 2, .padding = 1, .groups = 4}},
    {"Groups3Of5Channels", {.x = Shape::images(2, 6, 5, 15), .num_filters = 6, .kernel = 3, .padding = 1, .groups = 3}},
    {"Groups2Pointwise", {.x = Shape::images(2, 6, 5, 32), .num_filters = 16, .groups = 2}},
    {"Depthwise7", {.x = Shape::images(2, 9, 10, 96), .num_filters = 96, .kernel = 7, .padding = 3, .groups = 96}},
    {"Depthwise3Stride2",
     {.x = Shape::images(1, 9, 8, 37), .num_filters = 37, .kernel = 3, .stride = 2, .padding = 1, .groups = 37}},
    {"Depthwise3TwoFilters",
     {.x = Shape::images(2, 5, 6, 16), .num_filters = 32, .kernel = 3, .padding = 1, .groups = 16}},
    {"Depthwise7OneRow", {.x = Shape::images(2, 1, 3, 24), .num_filters = 24, .kernel = 7, .padding = 3, .groups = 24}},
    // Elements of the kernel that meet no pixel; strides that the dilation's multiples do not meet; channels and
    // kernels for which other algorithms would be chosen without dilation.
    {"Dilation2", {.x = Shape::images(2, 9, 11, 32), .num_filters = 48, .kernel = 3, .padding = 2, .dilation = 2}},
    {"Dilation3Stride2",
     {.x = Shape::images(2, 15, 14, 16), .num_filters = 32, .kernel = 3, .stride = 2, .padding = 2, .dilation = 3}},
    {"Dilation4Padding4OfFewPixels",
     {.x = Shape::images(3, 3, 4, 16), .num_filters = 16, .kernel = 3, .padding = 4, .dilation = 4}},
    {"Dilation2Kernel5Channels37",
     {.x = Shape::images(1, 10, 9, 37), .num_filters = 5, .kernel = 5, .padding = 3, .dilation = 2}},
    {"Dilation2FirstLayer", {.x = Shape::images(1, 13, 12, 3), .num_filters = 16, .kernel = 3, .dilation = 2}},
    {"Dilation2Pointwise", {.x = Shape::images(2, 6, 5, 32), .num_filters = 16, .stride = 2, .dilation = 2}},
    {"Dilation2Groups4",
     {.x = Shape::images(2, 8, 9, 64), .num_filters = 32, .kernel = 3, .padding = 2, .groups = 4, .dilation = 2}},
    {"Dilation2Depthwise",
     {.x = Shape::images(2, 9, 8, 96), .num_filters = 96, .kernel = 5, .padding = 4, .groups = 96, .dilation = 2}},
    // If bf16 is computed in float32, a slice has 3 samples: 5 samples have 2^20 values, but 5 does not divide 6.
    {"LargeImages", {Shape::images(6, 80, 80, 16), 16, 1, 1, 0}},
};

/// Convolutions that are large enough for sums to be split among threads.
inline const std::vector<ops::ConvolutionSpec> kSpecsWithSplitSums = {
    {Shape::images(8, 14, 14, 64), 64, 3, 1, 1},
    {Shape::images(8, 16, 16, 16), 16, 3, 1, 1},
    {Shape::images(4, 28, 28, 1), 16, 3, 1, 1},
    {Shape::images(8, 7, 7, 128), 256, 1, 2, 0},
    {Shape::images(4, 9, 9, 37), 37, 3, 1, 1},
    {.x = Shape::images(8, 14, 14, 128), .num_filters = 128, .kernel = 3, .padding = 1, .groups = 32},
    {.x = Shape::images(8, 14, 14, 96), .num_filters = 96, .kernel = 7, .padding = 3, .groups = 96},
    {.x = Shape::images(8, 14, 14, 64), .num_filters = 64, .kernel = 3, .padding = 2, .dilation = 2}};

}  // namespace convoy
