/// The parts of the table of layer functions, and the descriptions of arguments and the checks that several parts
/// share.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "model/layer_functions.h"

namespace convoy {

std::vector<LayerFunction> convolution_functions();  ///< convolutions and pooling
std::vector<LayerFunction> channel_functions();      ///< functions that copy channels
std::vector<LayerFunction> elementwise_functions();  ///< norms, sums and functions of single values
std::vector<LayerFunction> sequence_functions();     ///< linear layers, functions of sequences of words, objectives

inline constexpr double kMaxChannels = 1 << 24, kMaxKernel = 1024, kNoLimit = std::numeric_limits<double>::infinity();

/// Returns an argument that must be given: a number of channels, filters, classes or vectors.
ArgumentSpec count(const std::string& name, const std::string& about);
/// Returns an integer with a default.
ArgumentSpec integer(const std::string& name, std::int64_t initial, const std::string& about, double min = 1,
                     double max = kMaxKernel);
/// Returns a number with a default.
ArgumentSpec number(const std::string& name, double initial, const std::string& about, double min, double max);
/// Returns an argument with the initial values of a parameter.
ArgumentSpec initial_values(const std::string& name, const std::string& about);

/// Returns the size of a value as messages show it, "7 x 7 x 512", of a volume "16 x 7 x 7 x 512": without the number
/// of samples, which is not known when a file is run.
std::string sides(const Shape& shape);

/// Throws RequestError if `divisor`, the value of the argument `what`, does not divide the number of things that `of`
/// names.
void check_divides(const char* what, std::int64_t divisor, std::int64_t number, const char* of);

}  // namespace convoy
