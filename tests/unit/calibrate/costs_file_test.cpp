/// Tests of costs.txt, in which a run keeps what it measured.
#include <string>

#include <gtest/gtest.h>

#include "calibrate/calibration.h"

namespace convoy {

TEST(CostsFile, KeepsWhatOthersMeasuredAndTheLatestOfOneKey) {
  MachineCosts a{.cells = {.key = "a", .cells = {{1, 2, 3, 4, 5, 6, 7}}}, .rates = {.key = "a"}};
  MachineCosts b = a;
  b.cells.key = "b";
  const std::string both = with_costs(with_costs("", a), b);
  a.cells.cells[0].forward_seconds = 42;
  const std::string again = with_costs(both, a);
  EXPECT_NE(again.find(a.cells.serialise()), std::string::npos) << again;
  EXPECT_NE(again.find(b.cells.serialise()), std::string::npos) << again;
  EXPECT_EQ(again.size(), both.size() + 1) << "42 for 1";
  EXPECT_EQ(with_costs(again, a).size(), again.size());
  EXPECT_EQ(with_costs("", {}), "") << "what is modelled is not kept";
}

}  // namespace convoy
