/// Products of two values.
#pragma once

#include "model/cell_builder.h"

namespace convoy {

/// Whether values of these shapes can be multiplied: the shapes are equal, or one of them is (N,1,1,C) and the other
/// has the same N and C.
bool can_multiply(const Shape& a, const Shape& b);

/// Adds the layer y = a * b, value by value, rounded to the network's type. If one of the two is (N,1,1,C), its value
/// of a sample and a channel multiplies all pixels. Throws std::logic_error if can_multiply() is false.
Value operator*(const Value& a, const Value& b);

}  // namespace convoy
