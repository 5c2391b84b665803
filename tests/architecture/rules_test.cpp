// SPDX-License-Identifier: Apache-2.0
// Every rule must find what it forbids, at the right line, and leave alone what is allowed.
#include "tests/architecture/rules.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace charter::architecture {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

const std::string spdx = "// SPDX-License-Identifier: Apache-2.0\n";

// A tree in a temporary folder.
class RulesTest : public testing::Test {
 public:
  ~RulesTest() override { fs::remove_all(root_); }

 protected:
  RulesTest() : root_(fs::temp_directory_path() / ("charter_tree_" + std::to_string(::getpid()))) {
    fs::create_directories(root_);
  }
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::vector<std::string> found(Findings (*rule)(const std::vector<SourceText>&)) const {
    std::vector<std::string> texts;
    for (const Finding& finding : rule(read_tree(root_))) texts.push_back(finding.text());
    return texts;
  }

  fs::path root_;
};

TEST_F(RulesTest, IncludesAgainstTheDirectionAreFound) {
  put("src/model/a.hpp", "\n#include \"modules/comm/session.hpp\"\n");
  put("src/base/b.hpp", "#include \"src/tensor/tensor.hpp\"\n");
  put("modules/topology/c.cpp",
      "#include \"apps/support/run_app.hpp\"\n#include \"modules/training/step.hpp\"\n");
  put("modules/data_parallel/d.cpp", "#include \"modules/checkpoint/manifest.hpp\"\n");
  put("modules/novelty/e.cpp", "#include \"modules/comm/session.hpp\"\n");
  put("apps/f.cpp", "#include \"tests/support/x.hpp\"\n");
  EXPECT_THAT(found(check_include_direction),
              ElementsAre(HasSubstr("apps/f.cpp:1:"), HasSubstr("modules/data_parallel/d.cpp:1:"),
                          HasSubstr("modules/novelty/e.cpp:1:"), HasSubstr("modules/topology/c.cpp:1:"),
                          HasSubstr("modules/topology/c.cpp:2:"), HasSubstr("src/base/b.hpp:1:"),
                          HasSubstr("src/model/a.hpp:2:")));
}

TEST_F(RulesTest, IncludesAlongTheDirectionPass) {
  put("src/model/a.hpp", "#include \"src/base/error.hpp\"\n#include <vector>\n");
  put("modules/training/b.cpp",
      "#include \"modules/checkpoint/x.hpp\"\n#include \"modules/training/y.hpp\"\n#include "
      "\"src/base/z.hpp\"\n");
  put("apps/c.cpp", "#include \"apps/support/run_app.hpp\"\n#include \"modules/training/step.hpp\"\n");
  put("tests/modules/d.cpp", "#include \"tests/support/x.hpp\"\n#include \"apps/support/y.hpp\"\n");
  put("src/base/e.cpp", "// #include \"modules/comm/session.hpp\" in a comment\n");
  EXPECT_THAT(found(check_include_direction), IsEmpty());
}

TEST_F(RulesTest, CyclesOfFoldersAreFoundOverSeveralSteps) {
  put("src/a/x.hpp", "#include \"src/b/x.hpp\"\n");
  put("src/b/x.hpp", "#include \"src/c/x.hpp\"\n#include \"src/d/x.hpp\"\n");
  put("src/c/x.hpp", "\n#include \"src/a/x.hpp\"\n");
  put("src/d/x.hpp", "#include \"src/d/y.hpp\"\n");
  EXPECT_THAT(
      found(check_folder_cycles),
      ElementsAre(HasSubstr("src/a/x.hpp:1:"), HasSubstr("src/b/x.hpp:1:"), HasSubstr("src/c/x.hpp:2:")));
}

TEST_F(RulesTest, OutsideHeadersInOtherFoldersAreFound) {
  put("src/storage/a.cpp", "#include <mpi.h>\n#include <hdf5.h>\n");
  put("modules/comm/b.cpp", "#include <mpi.h>\n#include <nccl.h>\n#include <cuda_runtime.h>\n");
  put("src/model/c.cpp", "#include <cblas.h>\n#include <oneapi/dnnl/dnnl.hpp>\n#include <cublasLt.h>\n");
  put("src/text/d.cpp", "#include <Kokkos_Core.hpp>\n#include <pcre2.h>\n");
  put("tests/src/storage/f.cpp", "#include <hdf5.h>\n#include <mpi.h>\n");
  put("apps/e.cpp", "#include <boost/program_options.hpp>\n#include <H5Cpp.h>\n");
  EXPECT_THAT(found(check_outside_headers),
              testing::UnorderedElementsAre(
                  AllOf(HasSubstr("src/storage/a.cpp:1:"), HasSubstr("modules/comm, tests/support")),
                  HasSubstr("src/model/c.cpp:1:"), HasSubstr("src/model/c.cpp:2:"),
                  HasSubstr("src/model/c.cpp:3:"), HasSubstr("src/text/d.cpp:1:"), HasSubstr("apps/e.cpp:1:"),
                  HasSubstr("apps/e.cpp:2:"), HasSubstr("tests/src/storage/f.cpp:2:")));
}

TEST_F(RulesTest, EndingTheProcessIsFoundInCodeOnly) {
  put("src/model/a.cpp",
      "void f() {\n"
      "  std::exit(1);\n"
      "  ::abort();\n"
      "  if (x) exit (2);\n"
      "  MPI_Abort(c, 1);\n"
      "  session.abort(); on_exit(3); log(\"exit(1)\");  // exit(1)\n"
      "  job::exit(4); /* abort() */\n"
      "  char c = '\"'; abort();\n"
      "}\n");
  put("modules/comm/b.cpp", "void g() { MPI_Abort(c, 1); }\n");
  put("apps/support/c.cpp", "void g() { std::exit(1); }\n");
  put("tests/d.cpp", "void g() { _exit(1); }\n");
  EXPECT_THAT(found(check_process_ends),
              ElementsAre(HasSubstr("a.cpp:2:"), HasSubstr("a.cpp:3:"), HasSubstr("a.cpp:4:"),
                          HasSubstr("a.cpp:5:"), HasSubstr("a.cpp:8:")));
}

TEST_F(RulesTest, LiteralsAndCommentsOfEveryKindAreNoCode) {
  put("src/model/a.cpp",
      "auto a = R\"x(\nexit(1);\n)x\";\n"
      "/* exit(1);\n exit(1); */\n"
      "auto b = \"\\\"exit(1)\";\n"
      "auto c = 1'000'000; exit(1);\n");
  EXPECT_THAT(found(check_process_ends), ElementsAre(HasSubstr("a.cpp:7:")));
}

TEST_F(RulesTest, FilesOutOfFormAreFound) {
  put("src/a/no_spdx.cpp", "int x;\n");
  put("src/a/no_pragma.hpp", spdx + "int x; // #pragma once\n");
  put("src/a/good.hpp", spdx + "#pragma once\n// TODO(#12) later\n");
  put("src/a/todo.cpp", spdx + "// TODO later\n// FIXME\nint TODOS;\n");
  put("src/a/long.cpp", spdx + std::string(600, '\n'));
  put("src/a/just.cpp", spdx + std::string(599, '\n'));
  put("tests/long_test.cpp", spdx + std::string(500, '\n'));
  EXPECT_THAT(found(check_file_form),
              ElementsAre(HasSubstr("src/a/long.cpp:601:"), HasSubstr("src/a/no_pragma.hpp:1:"),
                          HasSubstr("src/a/no_spdx.cpp:1:"), HasSubstr("src/a/todo.cpp:2:"),
                          HasSubstr("src/a/todo.cpp:3:"), HasSubstr("tests/long_test.cpp:501:")));
}

TEST_F(RulesTest, AHeaderWithACommunicatorSaysWhatIsCollective) {
  put("modules/a/silent.hpp", "\nvoid reduce(Communicator& c);\n");
  put("modules/a/says.hpp", "// Collective over c.\nvoid reduce(const Communicator& c);\n");
  put("modules/a/pure.hpp", "// No communication.\nint add(int, int);\n");
  put("modules/a/source.cpp", "void reduce(Communicator& c) {}\n");
  EXPECT_THAT(found(check_collective_comments), ElementsAre(HasSubstr("modules/a/silent.hpp:2:")));
}

}  // namespace
}  // namespace charter::architecture
