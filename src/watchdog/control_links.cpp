/// Two ranks may have two connections, if each has opened one: packets take the one that this rank has opened.
#include "watchdog/control_links.h"

namespace convoy {

ControlLinks::ControlLinks(std::int64_t own, std::int64_t num_ranks, const Secret& secret,
                           const std::vector<std::string>& hosts)
    : own_(own),
      secret_(secret),
      addresses_(static_cast<std::size_t>(num_ranks)),
      incoming_(own, num_ranks, secret, hosts) {}

const OutgoingLink* ControlLinks::find_outgoing(std::int64_t rank) const {
  const auto found = outgoing_.find(rank);
  return found == outgoing_.end() ? nullptr : &found->second;
}

// A link stays in the map for good: its packets are numbered through all its connections, and sockets refer to it.
OutgoingLink& ControlLinks::outgoing(std::int64_t rank) {
  return outgoing_.try_emplace(rank, secret_, own_, rank, addresses_[static_cast<std::size_t>(rank)]).first->second;
}

void ControlLinks::open(std::int64_t rank, const Packet& hello) {
  if (!is_connected(rank)) outgoing(rank).open(hello);
}

bool ControlLinks::connect(std::int64_t rank, const Packet& hello, std::chrono::milliseconds patience) {
  return outgoing(rank).connect(hello, patience);
}

void ControlLinks::close_others() {
  for (auto& [rank, link] : outgoing_)
    if (rank != 0) link.close();
}

std::vector<Received> ControlLinks::poll(std::chrono::milliseconds timeout) {
  std::vector<pollfd> awaited;
  for (const auto& [rank, link] : outgoing_)
    if (const pollfd state = link.awaited(); state.fd >= 0) awaited.push_back(state);
  std::vector<Received> received = incoming_.poll(timeout, awaited);
  for (auto& [rank, link] : outgoing_)
    for (const Packet& packet : link.receive()) received.push_back({rank, packet});
  return received;
}

bool ControlLinks::send(std::int64_t rank, const Packet& packet) {
  const auto found = outgoing_.find(rank);
  const bool is_outgoing = found != outgoing_.end() && found->second.is_open();
  return is_outgoing ? found->second.send(packet) : incoming_.of(rank).send(packet);
}

bool ControlLinks::is_connected(std::int64_t rank) const {
  const OutgoingLink* const link = find_outgoing(rank);
  return (link != nullptr && link->is_open()) || incoming_.of(rank).is_open();
}

bool ControlLinks::is_refused(std::int64_t rank) const {
  const OutgoingLink* const link = find_outgoing(rank);
  return link != nullptr && link->is_refused();
}

bool ControlLinks::reaches_host(std::int64_t rank) const {
  const OutgoingLink* const link = find_outgoing(rank);
  const PacketSocket& incoming = incoming_.of(rank);
  return (link != nullptr && link->reaches_host()) || (incoming.is_open() && !incoming.is_unacknowledged());
}

}  // namespace convoy
