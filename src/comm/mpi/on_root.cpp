/// Work of rank 0 whose failure is everyone's.
#include "convoy/comm/on_root.h"

#include <cstddef>
#include <string>

#include "convoy/base/error.h"

namespace convoy::mpi {

namespace {

enum class Outcome : char { kDone = 'd', kRefused = 'r', kFailed = 'f' };

std::string outcome_of(const std::function<void()>& work) {
  try {
    work();
    return {static_cast<char>(Outcome::kDone)};
  } catch (const RequestError& error) {
    return static_cast<char>(Outcome::kRefused) + std::string(error.what());
  } catch (const Error& error) {
    return static_cast<char>(Outcome::kFailed) + std::string(error.what());
  }
}

}  // namespace

void on_root(const Communicator& group, const std::function<void()>& work) {
  std::string outcome;
  if (group.rank() == 0) outcome = outcome_of(work);
  const auto raw = std::as_bytes(std::span(outcome));
  const std::vector<std::byte> told = group.broadcast(std::vector<std::byte>(raw.begin(), raw.end()), 0);
  const std::string message(reinterpret_cast<const char*>(told.data()) + 1, told.size() - 1);
  switch (static_cast<Outcome>(told[0])) {
    case Outcome::kDone:
      return;
    case Outcome::kRefused:
      throw RequestError(message);
    case Outcome::kFailed:
      throw Error(message);
  }
}

}  // namespace convoy::mpi
