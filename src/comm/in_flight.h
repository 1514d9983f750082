/// The messages of a transport that still need progress, in the order in which they were started.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

namespace convoy {

template <typename MessageType>
class InFlight {
 public:
  /// Makes room for one message more, so that add() never allocates.
  void make_room() { messages_.reserve(++num_created_); }

  void add(MessageType& message) {
    assert(messages_.size() < messages_.capacity());
    messages_.push_back(&message);
  }
  void remove(const MessageType& message) { std::erase(messages_, &message); }
  template <typename Predicate>
  void remove_if(Predicate&& predicate) {
    std::erase_if(messages_, [&](const MessageType* message) { return predicate(*message); });
  }

  bool empty() const { return messages_.empty(); }
  MessageType& first() const { return *messages_.front(); }
  auto begin() const { return messages_.begin(); }
  auto end() const { return messages_.end(); }

 private:
  std::vector<MessageType*> messages_;
  std::size_t num_created_ = 0;
};

}  // namespace convoy
