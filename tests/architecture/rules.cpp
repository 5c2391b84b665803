// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/rules.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace charter::architecture {
namespace {

constexpr std::size_t longest_file = 600;
constexpr std::size_t longest_test = 500;

bool is_in(const std::string& name, const std::string& folder) {
  return name.starts_with(folder + "/");
}

std::string top_of(const std::string& path) {
  return path.substr(0, path.find('/'));
}

// Height in modules/: a folder may include what is lower. The middle row shares one height.
const std::map<std::string, int>& module_heights() {
  static const std::map<std::string, int> heights = {
      {"modules/comm", 0},
      {"modules/topology", 1},
      {"modules/tensor_parallel", 2},
      {"modules/context_parallel", 2},
      {"modules/pipeline_parallel", 2},
      {"modules/data_parallel", 2},
      {"modules/checkpoint", 2},
      {"modules/generation", 2},
      {"modules/training", 3},
      {"modules/alignment", 4},
  };
  return heights;
}

// What files below a top folder may include.
const std::map<std::string, std::set<std::string>>& allowed_tops() {
  static const std::map<std::string, std::set<std::string>> allowed = {
      {"src", {"src"}},
      {"modules", {"src", "modules"}},
      {"apps", {"src", "modules", "apps"}},
      {"bench", {"src", "modules", "apps", "bench"}},
      {"tests", {"src", "modules", "apps", "bench", "tests"}},
  };
  return allowed;
}

std::string folder_of_include(const std::string& path) {
  const std::size_t first = path.find('/');
  const std::size_t second = first == std::string::npos ? first : path.find('/', first + 1);
  return second == std::string::npos ? "" : path.substr(0, second);
}

struct OutsideHeader {
  std::string name;  // in messages
  std::string pattern;
  std::vector<std::string> folders;
  bool in_mirrored_tests = true;  // tests/X may include what X may
};

const std::vector<OutsideHeader>& outside_headers() {
  static const std::vector<OutsideHeader> table = {
      {"MPI", R"(mpi\.h|mpi-ext\.h)", {"modules/comm", "tests/support"}, false},
      {"NCCL", R"(nccl.*\.h)", {"modules/comm"}},
      {"HDF5", R"(hdf5.*\.h|H5.*\.h)", {"src/storage", "modules/checkpoint"}},
      {"oneDNN", R"((oneapi/dnnl/)?dnnl.*\.(h|hpp))", {"src/blas"}},
      {"CBLAS", R"((.*/)?(cblas|openblas_config|mkl.*)\.h)", {"src/blas"}},
      {"cuBLAS", R"(cublas.*\.h)", {"src/blas"}},
      {"CUDA", R"(cuda.*\.h)", {"src/tensor", "src/blas", "modules/comm"}},
      {"Kokkos",
       R"(Kokkos_.*\.hpp)",
       {"src/tensor", "src/kernels", "src/model", "src/optim", "modules", "apps", "bench", "tests"}},
      {"Boost.Program_options", R"(boost/program_options.*)", {"src/options"}},
      {"spdlog", R"(spdlog/.*)", {"src/base"}},
      {"PCRE2", R"(pcre2.*\.h)", {"src/text"}},
  };
  return table;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
  return all;
}

// Depth-first search for a way from `from` back to `goal`.
bool reaches(const std::map<std::string, std::set<std::string>>& needs, const std::string& from,
             const std::string& goal, std::set<std::string>& seen) {
  const auto place = needs.find(from);
  if (place == needs.end()) return false;
  return std::any_of(place->second.begin(), place->second.end(), [&](const std::string& next) {
    return next == goal || (seen.insert(next).second && reaches(needs, next, goal, seen));
  });
}

}  // namespace

std::string Finding::text() const {
  return file + ":" + std::to_string(line) + ": " + what;
}

Findings check_include_direction(const std::vector<SourceText>& tree) {
  Findings findings;
  for (const SourceText& source : tree) {
    const std::string folder = source.folder();
    const std::string top = top_of(source.name);
    for (const Include& include : source.includes) {
      const std::string other_top = top_of(include.path);
      if (!allowed_tops().contains(other_top)) continue;  // an outside header
      const std::string other = folder_of_include(include.path);
      const auto add = [&](const std::string& what) {
        findings.push_back({source.name, include.line, what + " includes " + include.path});
      };
      if (!allowed_tops().at(top).contains(other_top)) {
        add(top);
      } else if (folder == "src/base" && other != folder) {
        add("src/base");
      } else if (top == "modules" && other_top == "modules" && other != folder) {
        const auto own_height = module_heights().find(folder);
        const auto other_height = module_heights().find(other);
        if (own_height == module_heights().end() || other_height == module_heights().end()) {
          add("a folder without a place in the order of modules");
        } else if (other_height->second >= own_height->second) {
          add(folder + ", which does not stand above " + other + ",");
        }
      }
    }
  }
  return findings;
}

Findings check_folder_cycles(const std::vector<SourceText>& tree) {
  std::map<std::string, std::set<std::string>> needs;
  for (const SourceText& source : tree) {
    const std::string top = top_of(source.name);
    if (top != "src" && top != "modules") continue;
    for (const Include& include : source.includes) {
      const std::string other = folder_of_include(include.path);
      if (top_of(other) == top && other != source.folder()) needs[source.folder()].insert(other);
    }
  }
  Findings findings;
  for (const SourceText& source : tree) {
    for (const Include& include : source.includes) {
      const std::string other = folder_of_include(include.path);
      if (!needs.contains(source.folder()) || !needs.at(source.folder()).contains(other)) continue;
      std::set<std::string> seen;
      if (reaches(needs, other, source.folder(), seen)) {
        findings.push_back({source.name, include.line, other + " needs " + source.folder() + " in its turn"});
      }
    }
  }
  return findings;
}

Findings check_outside_headers(const std::vector<SourceText>& tree) {
  Findings findings;
  for (const OutsideHeader& header : outside_headers()) {
    const std::regex pattern(header.pattern);
    for (const SourceText& source : tree) {
      const bool allowed =
          std::any_of(header.folders.begin(), header.folders.end(), [&](const std::string& folder) {
            return is_in(source.name, folder) ||
                   (header.in_mirrored_tests && is_in(source.name, "tests/" + folder));
          });
      if (allowed) continue;
      for (const Include& include : source.includes) {
        if (!std::regex_match(include.path, pattern)) continue;
        findings.push_back({source.name, include.line,
                            header.name + " (" + include.path + ") belongs to " + joined(header.folders)});
      }
    }
  }
  return findings;
}

Findings check_process_ends(const std::vector<SourceText>& tree) {
  // A call of the function itself: not a method (.abort) and not another namespace's (x::exit).
  static const std::regex call(
      R"((^|[^\w.>:])(std::|::)?(exit|_exit|_Exit|quick_exit|abort|MPI_Abort)\s*\()");
  Findings findings;
  for (const SourceText& source : tree) {
    if (is_in(source.name, "modules/comm") || is_in(source.name, "apps/support") ||
        is_in(source.name, "tests") || source.name == "src/base/cpu_check.cpp") {
      continue;  // the last ends a program before there is anything that could throw
    }
    for (std::size_t i = 0; i < source.code.size(); ++i) {
      const std::string& line = source.code[i];
      if (line.find("exit") == std::string::npos && line.find("bort") == std::string::npos) continue;
      if (std::regex_search(line, call)) {
        findings.push_back(
            {source.name, static_cast<int>(i) + 1,
             "ends the process; throw charter::Error, only modules/comm and apps/support may end it"});
      }
    }
  }
  return findings;
}

Findings check_file_form(const std::vector<SourceText>& tree) {
  static const std::regex marker(R"(\b(TODO|FIXME|XXX)\b)");
  static const std::regex issue(R"(#\d+)");
  Findings findings;
  for (const SourceText& source : tree) {
    const auto add = [&](std::size_t line, const std::string& what) {
      findings.push_back({source.name, static_cast<int>(line), what});
    };
    if (source.lines.empty() || source.lines.front() != "// SPDX-License-Identifier: Apache-2.0") {
      add(1, "the first line is not // SPDX-License-Identifier: Apache-2.0");
    }
    if (source.is_header() &&
        std::find(source.code.begin(), source.code.end(), "#pragma once") == source.code.end()) {
      add(1, "a header without #pragma once");
    }
    const std::size_t longest = is_in(source.name, "tests") ? longest_test : longest_file;
    if (source.lines.size() > longest) {
      add(longest + 1, std::to_string(source.lines.size()) + " lines; at most " + std::to_string(longest) +
                           " are allowed");
    }
    if (is_in(source.name, "tests/architecture")) continue;  // speaks of the markers
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      const std::string& line = source.lines[i];
      if (line.find("TODO") == std::string::npos && line.find("FIXME") == std::string::npos &&
          line.find("XXX") == std::string::npos)
        continue;
      if (std::regex_search(line, marker) && !std::regex_search(line, issue))
        add(i + 1, "TODO or FIXME without an issue (#12)");
    }
  }
  return findings;
}

Findings check_collective_comments(const std::vector<SourceText>& tree) {
  static const std::regex communicator(R"(\bCommunicator\s*&)");
  static const std::regex word(R"(\b(Collective|Local)\b)");
  Findings findings;
  for (const SourceText& source : tree) {
    if (!source.is_header() || !is_in(source.name, "modules")) continue;
    const auto takes = std::find_if(source.code.begin(), source.code.end(), [](const std::string& line) {
      return std::regex_search(line, communicator);
    });
    if (takes == source.code.end()) continue;
    const bool says = std::any_of(source.lines.begin(), source.lines.end(),
                                  [](const std::string& line) { return std::regex_search(line, word); });
    if (!says) {
      findings.push_back({source.name, static_cast<int>(takes - source.code.begin()) + 1,
                          "takes a communicator, but no comment says Collective or Local"});
    }
  }
  return findings;
}

}  // namespace charter::architecture
