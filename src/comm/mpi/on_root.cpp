/// Work on one rank whose failure all ranks throw.
#include "convoy/comm/on_root.h"

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

// All ranks of the group; what `root` gives counts.
void tell(const Communicator& group, const std::string& outcome, int root) {
  const std::string told = group.broadcast(outcome, root);
  const std::string message = told.substr(1);
  switch (static_cast<Outcome>(told[0])) {
    case Outcome::kDone:
      return;
    case Outcome::kRefused:
      throw RequestError(message);
    case Outcome::kFailed:
      throw Error(message);
  }
}

}  // namespace

void on_root(const Communicator& group, const std::function<void()>& work) {
  tell(group, group.rank() == 0 ? outcome_of(work) : std::string(), 0);
}

void on_all(const Communicator& group, const std::function<void()>& work) {
  const std::string outcome = outcome_of(work);
  const bool done = outcome[0] == static_cast<char>(Outcome::kDone);
  const std::int64_t furthest = group.max(done ? 0 : group.size() - group.rank());
  if (furthest > 0) tell(group, outcome, static_cast<int>(group.size() - furthest));
}

}  // namespace convoy::mpi
