/// The floors hold in this project; and the checker sees each kind of violation when one is made up.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "unit/includes_test/include_rules.h"

namespace convoy::test {
namespace {

using Lines = std::vector<std::string>;

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// --- This project --------------------------------------------------------------------------------------------

TEST(Includes, OfEveryFileGoDownTheFloorsOnly) {
  EXPECT_EQ(joined(find_violations_in_tree(CONVOY_SOURCE_DIR)), "");
}

TEST(Includes, AreCheckedInEveryFolder) {
  const Lines files = source_files(CONVOY_SOURCE_DIR);
  for (const char* file : {"include/convoy/base/error.h", "src/base/text.cpp", "src/comm/mpi/check.h"}) {
    EXPECT_NE(std::find(files.begin(), files.end(), file), files.end()) << file;
  }
}

// --- The floors ----------------------------------------------------------------------------------------------

TEST(IncludeRules, LowerFloorsOwnFolderAndOtherLibrariesAreAllowed) {
  EXPECT_EQ(find_violations("src/run/trainer.cpp",
                            "#include \"run/trainer.h\"\n"
                            "#include \"step/stage.h\"\n"
                            "#include \"stage.h\"\n"
                            "#include \"convoy/data/loader.h\"\n"
                            "#include <vector>\n"
                            "#include <hdf5.h>\n"),
            Lines());
  EXPECT_EQ(find_violations("src/schedule/gpipe.cpp", "#include \"convoy/params/choices.h\"\n"), Lines());
  EXPECT_EQ(find_violations("src/main.cpp", "#include \"commands/find.h\"\n"), Lines());
  EXPECT_EQ(find_violations("include/convoy/comm/communicator.h", "#include <mpi.h>\n"), Lines());
}

TEST(IncludeRules, AHigherFloorIsAViolationWithItsLine) {
  EXPECT_EQ(find_violations("src/params/parse.cpp", "#include <vector>\n\n#include \"run/trainer.h\"\n"),
            Lines{"src/params/parse.cpp:3: includes run/trainer.h, but run is on a floor above params"});
  EXPECT_EQ(find_violations("include/convoy/base/log.h", "#  include \"convoy/params/parse.h\"\n"),
            Lines{"include/convoy/base/log.h:1: includes convoy/params/parse.h, but params is on a floor above base"});
  EXPECT_EQ(find_violations("src/run/a.cpp", "#include <commands/find.h>\n").size(), 1U);
}

TEST(IncludeRules, ANeighbourIsAViolationByContractAndByPrivateHeader) {
  EXPECT_EQ(find_violations("src/io/dataset.cpp", "#include \"convoy/comm/communicator.h\"\n"),
            Lines{"src/io/dataset.cpp:1: includes convoy/comm/communicator.h, but comm is a neighbour of io"});
  EXPECT_EQ(find_violations("src/ops/cpu/linear.cpp", "#include \"comm/mpi/check.h\"\n"),
            Lines{"src/ops/cpu/linear.cpp:1: includes comm/mpi/check.h, but comm is a neighbour of ops"});
  EXPECT_EQ(find_violations("src/data/loader.cpp", "#include \"model/resnet.h\"\n").size(), 1U);
  EXPECT_EQ(find_violations("src/device/cpu_device.cpp", "#include \"convoy/schedule/schedule.h\"\n").size(), 1U);
}

TEST(IncludeRules, APrivateHeaderOfALowerFolderIsAViolation) {
  EXPECT_EQ(find_violations("src/data/loader.cpp", "#include \"io/shard.h\"\n"),
            Lines{"src/data/loader.cpp:1: includes io/shard.h, which is private to io"});
  EXPECT_EQ(find_violations("src/ops/cuda/launch.h", "#include \"device/cuda/check.h\"\n"), Lines());
  EXPECT_EQ(find_violations("src/run/trainer.cpp", "#include \"step/engine.h\"\n"), Lines());
}

TEST(IncludeRules, RelativePathsAndUnknownFoldersDoNotSlipThrough) {
  EXPECT_EQ(find_violations("src/base/log.cpp", "#include \"../step/stage.h\"\n").size(), 1U);
  EXPECT_EQ(find_violations("src/base/log.cpp", "#include \"convoy/extras/magic.h\"\n").size(), 1U);
  EXPECT_EQ(find_violations("src/extras/magic.cpp", "\n"),
            Lines{"src/extras/magic.cpp:1: is in a folder that is on no floor"});
}

TEST(IncludeRules, AContractOfAHighFloorIsAViolation) {
  EXPECT_EQ(find_violations("include/convoy/run/trainer.h", "#include \"convoy/base/error.h\"\n"),
            Lines{"include/convoy/run/trainer.h:1: is in include/, but run has its headers in src/"});
  EXPECT_EQ(find_violations("include/convoy/watchdog/watchdog.h", "\n").size(), 1U);
  EXPECT_EQ(find_violations("include/convoy/model/network.h", "\n"), Lines());
}

TEST(IncludeRules, TheHeaderOfAllParametersIsAViolationInLowFolders) {
  const std::string line = "#include \"convoy/params/parameters.h\"\n";
  EXPECT_EQ(
      find_violations("src/ops/cpu/linear.cpp", line),
      Lines{"src/ops/cpu/linear.cpp:1: includes convoy/params/parameters.h with all parameters, but ops needs only "
            "sections or choices"});
  for (const char* file : {"src/schedule/gpipe.cpp", "include/convoy/device/device.h", "src/comm/launch.cpp",
                           "include/convoy/io/dataset.h", "src/model/bert.cpp"}) {
    EXPECT_EQ(find_violations(file, line).size(), 1U) << file;
  }
  EXPECT_EQ(find_violations("src/io/inspect.cpp", "#include \"convoy/params/parse.h\"\n").size(), 1U);
  EXPECT_EQ(find_violations("src/io/inspect.cpp", "#include \"convoy/params/model_parameters.h\"\n"), Lines());
  EXPECT_EQ(find_violations("src/data/sampler.cpp", line), Lines());
}

// --- Forbidden headers, words with one home ------------------------------------------------------------------

TEST(IncludeRules, ContractsIncludeNoDeviceOrFileLibrary) {
  for (const char* header : {"hdf5.h", "H5public.h", "oneapi/dnnl/dnnl.hpp", "dnnl.hpp", "cuda_runtime.h", "cudnn.h",
                             "cublasLt.h", "nccl.h"}) {
    const std::string line = "#include <" + std::string(header) + ">\n";
    EXPECT_EQ(find_violations("include/convoy/io/dataset.h", line).size(), 1U) << header;
  }
  EXPECT_EQ(find_violations("src/io/hdf5.h", "#include <hdf5.h>\n"), Lines());
}

TEST(IncludeRules, CudaStaysInItsFolders) {
  for (const char* header : {"cuda_runtime.h", "cudnn_frontend.h", "cublasLt.h", "nccl.h"}) {
    const std::string line = "#include <" + std::string(header) + ">\n";
    EXPECT_EQ(find_violations("src/ops/cuda/linear.cpp", line), Lines());
    EXPECT_EQ(find_violations("src/comm/nccl/link.cpp", line), Lines());
    EXPECT_EQ(find_violations("src/ops/make_backend.cpp", line),
              Lines{"src/ops/make_backend.cpp:1: includes " + std::string(header) +
                    ", which only the folders of the CUDA device may"});
  }
}

TEST(IncludeRules, ThePlanNeitherSendsNorRunsAnything) {
  for (const std::string header : {"convoy/comm/transport.h", "convoy/comm/on_root.h", "convoy/ops/backend.h"}) {
    const std::string line = "#include \"" + header + "\"\n";
    EXPECT_EQ(find_violations("src/plan/planner.cpp", line),
              Lines{"src/plan/planner.cpp:1: includes " + header + ", but src/plan/ only computes"});
    EXPECT_EQ(find_violations("src/calibrate/ping.cpp", line), Lines());
  }
  // Headers that a plan may include bring these names along.
  for (const std::string word : {"mpi", "Backend", "Transport"}) {
    EXPECT_EQ(find_violations("src/plan/planner.h", "\n" + word + "::f();\n"),
              Lines{"src/plan/planner.h:2: uses " + word + ", but src/plan/ only computes"});
    EXPECT_EQ(find_violations("src/step/stage.h", word + "::f();\n"), Lines());
  }
  EXPECT_EQ(
      find_violations("src/plan/planner.cpp", "// measured by the Backend\n#include \"convoy/model/network.h\"\n"),
      Lines());
}

TEST(IncludeRules, TheWorldStaysInOneFolder) {
  EXPECT_EQ(find_violations("src/comm/mpi/session.cpp", "f(MPI_COMM_WORLD);\n"), Lines());
  EXPECT_EQ(find_violations("src/run/trainer.cpp", "\nf(MPI_COMM_WORLD);\n"),
            Lines{"src/run/trainer.cpp:2: MPI_COMM_WORLD stands only in src/comm/"});
  EXPECT_EQ(find_violations("src/run/trainer.cpp", "getenv(\"OMPI_COMM_WORLD_RANK\");\n"), Lines());
}

// --- Reading C++ ---------------------------------------------------------------------------------------------

TEST(IncludeRules, CommentsDoNotCountAndHideNothingAfterThem) {
  const std::string violation = "#include \"run/trainer.h\"\n";
  EXPECT_EQ(find_violations("src/base/a.cpp", "// " + violation), Lines());
  EXPECT_EQ(find_violations("src/base/a.cpp", "/* MPI_COMM_WORLD\n" + violation + "*/\n"), Lines());
  for (const char* before : {"/* a */", "// a /*\n", "auto a = \"/*\";\n", "auto a = \"\\\"/*\";\n", "auto a = '\"';\n",
                             "int a = 1'000'000;\n", "auto a = R\"x(\" /* )x\";\n", "auto a = '\\'';\n"}) {
    EXPECT_EQ(find_violations("src/base/a.cpp", before + violation).size(), 1U) << before;
  }
}

// --- A tree --------------------------------------------------------------------------------------------------

TEST(IncludeRules, FindTheViolationsInATreeOnDisk) {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("convoy_includes_" + std::to_string(getpid()));
  fs::create_directories(root / "src/io/hdf5");
  fs::create_directories(root / "include/convoy/io");
  std::ofstream(root / "src/io/hdf5/good.cpp") << "#include \"convoy/io/bad.h\"\n";
  std::ofstream(root / "src/io/hdf5/notes.txt") << "#include \"run/trainer.h\"\n";
  std::ofstream(root / "include/convoy/io/bad.h") << "#include \"convoy/model/network.h\"\n";
  const Lines found = find_violations_in_tree(root);
  fs::remove_all(root);
  EXPECT_EQ(found,
            Lines{"include/convoy/io/bad.h:1: includes convoy/model/network.h, but model is on a floor above io"});
}

}  // namespace
}  // namespace convoy::test
