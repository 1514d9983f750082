/// Times the exchange of resnet50's gradients and parameters, 25.6 M floats, by each method of the replicas and by
/// MPI_Allreduce. They run in turn, so that other work on the machine affects all alike. Started by
/// tools/bench/exchange.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <mpi.h>

#include "convoy/base/clock.h"
#include "convoy/base/median.h"
#include "convoy/comm/session.h"
#include "convoy/comm/transport.h"
#include "convoy/model/arena_layout.h"
#include "convoy/model/network.h"
#include "convoy/ops/backend.h"

#include "update/gradient_exchange.h"

namespace convoy::bench {

namespace {

constexpr std::int64_t kBucketFloats = (std::int64_t{4} << 20) / kFloatBytes;  // the default of run.bucket_mib

/// A method of exchange, and its times in seconds.
struct Method {
  std::string name;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<GradientExchange> exchange;  ///< null: MPI_Allreduce
  std::vector<double> seconds;
};

std::string describe(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += fmt::format("{}{}", text.empty() ? "" : " x ", size);
  return sizes.size() == 1 ? text + ", all at once" : text;
}

class Comparison {
 public:
  explicit Comparison(const mpi::Communicator& world)
      : world_(world),
        network_(make_network(
            {.name = "resnet50", .input = ImageShape{224, 224, 3}, .micro_batch = 1, .num_classes = 1000})),
        layout_(make_arena_layout(network_, {{0, std::ssize(network_)}}, kBucketFloats)),
        backend_(ops::make_backend({.device = DeviceKind::kCpu, .threads = 1})),
        sums_(layout_.count, 1.0f),
        parameters_(layout_.count, 1.0f) {
    for (const std::int64_t neighbours : {kMaxNeighbours, std::int64_t{4}, std::int64_t{2}, std::int64_t{1}})
      add(neighbours);
    methods_.push_back({.name = "MPI_Allreduce", .transport = nullptr, .exchange = nullptr, .seconds = {}});
  }

  void run(std::int64_t rounds) {
    for (std::int64_t round = -1; round < rounds; ++round) {
      for (Method& method : methods_) {
        const double seconds = seconds_of(method);
        if (round >= 0) method.seconds.push_back(seconds);
      }
    }
  }

  void print() const {
    const double by_mpi = median(methods_.back().seconds);
    fmt::print("{} ranks, {:.1f} M floats in {} buckets\n", world_.size(), 1e-6 * static_cast<double>(layout_.count),
               layout_.buckets.size());
    for (const Method& method : methods_) {
      const auto [min, max] = std::ranges::minmax(method.seconds);
      fmt::print("  {:<22} {:7.1f} ms ({:.1f} to {:.1f}), {:.2f} of MPI_Allreduce\n", method.name,
                 1e3 * median(method.seconds), 1e3 * min, 1e3 * max, median(method.seconds) / by_mpi);
    }
  }

 private:
  // Adds each method once: several numbers of neighbours may give the same phases.
  void add(std::int64_t neighbours) {
    const std::string name = describe(phase_sizes(world_.size(), neighbours));
    if (std::ranges::any_of(methods_, [&](const Method& method) { return method.name == name; })) return;
    Method& method = methods_.emplace_back();
    method.name = name;
    method.transport = make_host_transport();
    method.exchange =
        std::make_unique<GradientExchange>(GradientExchangeSpec{.layout = layout_,
                                                                .data = world_,
                                                                .neighbours = neighbours,
                                                                .local_sum = sums_.data(),
                                                                .parameters = parameters_.data()},
                                           backend_->device(), backend_->elementwise(), *method.transport);
    method.transport->connect();
  }

  // Seconds from the time when all ranks are ready to the time when all are done.
  double seconds_of(const Method& method) {
    std::ranges::fill(sums_, 1.0f);
    world_.barrier();
    const double start = now_seconds();
    if (method.exchange) {
      run(*method.exchange);
    } else {
      MPI_Allreduce(MPI_IN_PLACE, sums_.data(), static_cast<int>(layout_.count), MPI_FLOAT, MPI_SUM, world_.handle());
    }
    world_.barrier();
    return now_seconds() - start;
  }

  // Runs an exchange like that at the end of a step, but with no backward to hide it.
  void run(GradientExchange& exchange) const {
    const std::int64_t buckets = std::ssize(layout_.buckets);
    for (std::int64_t b = buckets - 1; b >= 0; --b) exchange.start_reduce(b);
    for (std::int64_t b = buckets - 1; b >= 0; --b) {
      exchange.await_reduce(b);
      exchange.fold(b);
      exchange.start_gather(b);
    }
    for (std::int64_t b = buckets - 1; b >= 0; --b) exchange.await_gather(b);
  }

  const mpi::Communicator& world_;
  Network network_;
  ArenaLayout layout_;
  std::unique_ptr<ops::Backend> backend_;
  std::vector<float> sums_, parameters_;
  std::vector<Method> methods_;
};

}  // namespace

}  // namespace convoy::bench

int main(int argc, char** argv) {
  return convoy::mpi::run_guarded(argc, argv, [&](convoy::mpi::Session& session) {
    const std::int64_t rounds = argc > 1 ? std::atoll(argv[1]) : 5;
    convoy::bench::Comparison comparison(session.world());
    comparison.run(rounds);
    if (session.world().rank() == 0) comparison.print();
    return convoy::ExitStatus::kDone;
  });
}
