/// Chooses the transport for a device.
#include "convoy/comm/transport.h"

#include "comm/nccl/nccl_transport.h"

namespace convoy {

std::unique_ptr<Transport> make_transport(const ProcessGrid& grid, Device& device) {
  if (device.is_host()) return make_host_transport();
  if (auto transport = nccl::make_transport(grid, device)) return transport;  // all ranks of the world
  return make_staged_transport(device);
}

}  // namespace convoy
