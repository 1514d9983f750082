/// The messages of a transport that it has to move on, in the order in which they were started.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

namespace convoy {

template <typename PlannedMessage>
class UnderWay {
 public:
  /// Planning: room for one message more, so that add() never allocates.
  void make_room() { messages_.reserve(++num_planned_); }

  void add(PlannedMessage& message) {
    assert(messages_.size() < messages_.capacity());
    messages_.push_back(&message);
  }
  void remove(const PlannedMessage& message) { std::erase(messages_, &message); }
  template <typename Predicate>
  void remove_if(Predicate&& predicate) {
    std::erase_if(messages_, [&](const PlannedMessage* message) { return predicate(*message); });
  }

  bool empty() const { return messages_.empty(); }
  PlannedMessage& first() const { return *messages_.front(); }
  auto begin() const { return messages_.begin(); }
  auto end() const { return messages_.end(); }

 private:
  std::vector<PlannedMessage*> messages_;
  std::size_t num_planned_ = 0;
};

}  // namespace convoy
