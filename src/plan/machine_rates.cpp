/// Times messages between ranks, and sums over arenas.
#include "plan/machine_rates.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/median.h"
#include "convoy/comm/process_grid.h"
#include "convoy/comm/transport.h"

#include "plan/cell_costs.h"
#include "plan/parse_numbers.h"

namespace convoy {

namespace {

constexpr const char* kTitle = "convoy rates 1";
constexpr std::int64_t kShortBytes = 4096;
constexpr std::int64_t kMaxArenaBytes = std::int64_t{1} << 28;  // no cache holds it: larger ones are as slow
constexpr NumberRange kRates{.min = 1e-12, .max = 1e18};        // seconds, and bytes per second, of anything
constexpr double kMinSeconds = 1e-9;                            // of what is too short for the clock
constexpr int kWarmUps = 2, kRepetitions = 9;

double median_seconds(const std::function<void()>& work) {
  for (int i = 0; i < kWarmUps; ++i) work();
  std::vector<double> seconds;
  for (int i = 0; i < kRepetitions; ++i) {
    const double begin = now_seconds();
    work();
    seconds.push_back(now_seconds() - begin);
  }
  return median(std::move(seconds));
}

/// Messages of one size between this rank and its neighbour; a last rank without one has none.
class Ping {
 public:
  Ping(const ProcessGrid& chain, std::int64_t bytes, int tag, Transport& transport, Device& device)
      : transport_(transport), there_(device, bytes), back_(device, bytes) {
    const int me = chain.model().rank(), peer = me ^ 1;
    begins_ = me % 2 == 0;
    if (peer >= chain.model().size()) return;
    const auto spec = [&](const Buffer& buffer) {
      return MessageSpec{.group = chain.model(), .data = buffer.data(), .size_bytes = bytes, .peer = peer, .tag = tag};
    };
    send_ = transport.send(spec(there_));
    receive_ = transport.receive(spec(back_));
  }

  void run() {
    if (send_ == nullptr) return;
    receive_->start();
    if (begins_) send_->start();
    wait_for(*receive_);
    if (!begins_) send_->start();
    wait_for(*send_);
  }

 private:
  void wait_for(Message& message) {
    wait_until(transport_, [&] { return message.test(); });
  }

  Transport& transport_;
  Buffer there_, back_;
  bool begins_ = false;
  std::unique_ptr<Message> send_, receive_;
};

void measure_messages(const RatesSpec& spec, const NodeLoad& node, const mpi::Communicator& world, Device& device,
                      MachineRates& rates) {
  const ProcessGrid chain(world, world.size());
  const auto transport = make_transport(chain, device);
  const std::int64_t long_bytes = std::max(spec.message_bytes, 16 * kShortBytes);
  Ping brief(chain, kShortBytes, 0, *transport, device), large(chain, long_bytes, 1, *transport, device);
  transport->connect();
  // There and back.
  const auto one_way = [&](Ping& ping) {
    double seconds = 0;
    take_turns(world, node, /*in_pairs=*/true, [&] { seconds = median_seconds([&] { ping.run(); }) / 2; });
    return std::max(kMinSeconds, slowest(world, seconds));
  };
  const double brief_seconds = one_way(brief), large_seconds = one_way(large);
  // A large one that seems to be no slower is a measurement of nothing but latency.
  const double more_seconds = std::max(large_seconds - brief_seconds, 1e-3 * large_seconds);
  rates.bytes_per_second = static_cast<double>(long_bytes - kShortBytes) / more_seconds;
  rates.latency_seconds = brief_seconds;
}

double add_seconds(std::int64_t bytes, ops::Backend& backend) {
  Device& device = backend.device();
  const std::int64_t count = bytes / kFloatBytes;
  const Buffer a(device, bytes), b(device, bytes);
  return median_seconds([&] {
    backend.elementwise().add(DataType::kFloat32, a.data(), b.data(), b.data(), count);
    device.synchronize();
  });
}

}  // namespace

double slowest(const mpi::Communicator& world, double seconds) {
  return static_cast<double>(world.max(std::llround(seconds * 1e9))) * 1e-9;
}

std::string MachineRates::serialise() const {
  return fmt::format("{}\n{}\n# message: seconds, bytes per second; memory: bytes per second\n{} {} {}\n", kTitle, key,
                     latency_seconds, bytes_per_second, memory_bytes_per_second);
}

std::optional<MachineRates> MachineRates::parse(const std::string& text, const std::string& key) {
  std::istringstream stream(text);
  std::string title, found_key, units, line;
  std::getline(stream, title), std::getline(stream, found_key), std::getline(stream, units);
  if (title != kTitle || found_key != key) return std::nullopt;
  if (!text.ends_with('\n')) fail("its last line is cut");
  std::getline(stream, line);
  const std::vector<double> numbers = parse_numbers(line, 3, kRates);
  return MachineRates{
      .key = key, .latency_seconds = numbers[0], .bytes_per_second = numbers[1], .memory_bytes_per_second = numbers[2]};
}

std::string rates_key(const RatesSpec& spec, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node) {
  return fmt::format("messages of {} bytes, arenas of {}; {}; {}", spec.message_bytes, spec.arena_bytes,
                     backend.device().description(), describe_ranks(ranks, node));
}

MachineRates measure_rates(const RatesSpec& spec, const NodeLoad& node, const mpi::Communicator& world,
                           ops::Backend& backend) {
  MachineRates rates{.key = rates_key(spec, backend, world.size(), node)};
  if (world.size() > 1) measure_messages(spec, node, world, backend.device(), rates);
  const std::int64_t bytes = std::clamp(spec.arena_bytes, kShortBytes, kMaxArenaBytes);
  constexpr double kTrips = 3;  // a, b, their sum
  double mine = 0;
  take_turns(world, node, /*in_pairs=*/false, [&] { mine = add_seconds(bytes, backend); });
  const double seconds = std::max(kMinSeconds, slowest(world, mine));
  rates.memory_bytes_per_second = kTrips * static_cast<double>(bytes) / seconds;
  return rates;
}

}  // namespace convoy
