/// Collects texts and values from all ranks, and gives them to all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "convoy/comm/communicator.h"

namespace convoy::mpi {

/// Returns each rank's text, in rank order, on rank 0; empty elsewhere. All ranks of the group call it.
std::vector<std::string> gather_texts(const Communicator& group, const std::string& mine);

/// Returns each rank's text, in rank order, on all ranks. All ranks of the group call it.
std::vector<std::string> share_texts(const Communicator& group, const std::string& mine);

/// Returns the values whose bytes in memory these are.
template <typename T>
std::vector<T> values_in(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(values)).begin());
  return values;
}

/// Returns the values of all ranks, in rank order, on rank 0; empty elsewhere. Ranks may have different numbers of
/// values. All ranks of the group call it.
template <typename T>
std::vector<T> gather_values(const Communicator& group, const std::vector<T>& mine) {
  return values_in<T>(group.gather(std::as_bytes(std::span(mine)), 0));
}

/// Returns each rank's value, in rank order, on all ranks. All ranks of the group call it.
template <typename T>
std::vector<T> share_value(const Communicator& group, const T& mine) {
  return values_in<T>(group.broadcast(group.gather(std::as_bytes(std::span(&mine, 1)), 0), 0));
}

/// Gives all ranks the values of rank 0. All ranks of the group call it.
template <typename T>
void broadcast_values(const Communicator& group, std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  auto count = std::ssize(values);
  group.broadcast(&count, sizeof count, 0);
  values.resize(static_cast<std::size_t>(count));
  group.broadcast(values.data(), std::ssize(std::as_bytes(std::span(values))), 0);
}

}  // namespace convoy::mpi
