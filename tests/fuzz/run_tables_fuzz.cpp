/// The tables of a run directory, which people edit and crashes cut: steps.csv, log.csv and starts.csv.
#include "fuzz/fuzz.h"
#include "run/run_log.h"
#include "run/run_tables.h"
#include "unit/io/temporary_directory.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  static const test::TemporaryDirectory kDirectory;
  constexpr std::int64_t kLastStep = 1000;
  fuzz::Input input(data, size);
  const std::int64_t every = 1 + static_cast<std::int64_t>(input.below(16));
  const std::int64_t first = static_cast<std::int64_t>(input.below(4));
  const std::string text = input.rest();
  const LogColumns columns{.header = "epoch,step,loss,fingerprint", .step_column = 1};
  fuzz::read_or_refuse([&] {
    const ExpectedRows expected{.first = first, .last = kLastStep, .every = every};
    const KeptRows kept = keep_rows("log.csv", text, columns, kLastStep, expected);
    const KeptRows again = keep_rows("log.csv", kept.text, columns, kLastStep, expected);
    fuzz::require(again.text == kept.text && again.lost == kept.lost, "rows that stay stay again");
  });
  test::write_bytes(kDirectory / "steps.csv", fuzz::bytes_of(text));
  test::write_bytes(kDirectory / "log.csv", fuzz::bytes_of(text));
  test::write_bytes(kDirectory / "starts.csv", fuzz::bytes_of(text));
  fuzz::read_or_refuse([&] { read_steps(kDirectory.path()); });
  fuzz::read_or_refuse([&] { read_epochs(kDirectory.path()); });
  return fuzz::read_or_refuse([&] { read_starts(kDirectory.path()); });
}
