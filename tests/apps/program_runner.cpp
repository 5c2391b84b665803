// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/program_runner.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/text/tokenizer_json.hpp"
#include "tests/support/job_status.hpp"
#include "tests/support/time_scale.hpp"

namespace charter::apps_test {
namespace {

std::vector<std::string> command_line(int ranks, const std::string& program,
                                      const std::vector<std::string>& arguments) {
  std::vector<std::string> command;
  if (ranks > 0) {
    command = {CHARTER_LAUNCHER, std::to_string(ranks)};
  }
  command.push_back(program_folder() + "/" + program);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

pid_t start(const std::vector<std::string>& command, const std::filesystem::path& output_file) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::setpgid(0, 0);
  const int out = ::open(output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int in = ::open("/dev/null", O_RDONLY);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

Finished wait_for_end(pid_t pid, const std::filesystem::path& output_file, int limit_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limit_s * test::time_scale());
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      ::kill(-pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return {-1,
              read_file(output_file) + fmt::format("\n[no end after {} s]", limit_s * test::time_scale())};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::string output = read_file(output_file);
  return {test::job_status(status, output), output};
}

}  // namespace

std::string program_folder() {
  return CHARTER_BIN_DIR;
}

TestFolder::TestFolder(const std::string& name) {
  std::string pattern = (std::filesystem::temp_directory_path() / ("charter-" + name + "-XXXXXX")).string();
  require(::mkdtemp(pattern.data()) != nullptr, "a temporary folder can be made");
  path_ = pattern;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Finished run_command(const std::vector<std::string>& command, int limit_s) {
  const TestFolder folder("output");
  const std::filesystem::path output = folder.path() / "output";
  return wait_for_end(start(command, output), output, limit_s);
}

Finished run(int ranks, const std::string& program, const std::vector<std::string>& arguments, int limit_s) {
  return run_command(command_line(ranks, program, arguments), limit_s);
}

Running::Running(int ranks, const std::string& program, const std::vector<std::string>& arguments,
                 const std::filesystem::path& output_file)
    : program_(program),
      output_file_(output_file),
      pid_(start(command_line(ranks, program, arguments), output_file)) {}

Running::~Running() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

std::vector<pid_t> Running::ranks() const {
  // MPICH's launcher has a process of its own between itself and the ranks.
  std::map<pid_t, pid_t> parents;
  std::vector<pid_t> named;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stat(entry.path() / "stat");
    std::string text;
    std::getline(stat, text);
    const std::size_t close = text.rfind(')');
    if (close == std::string::npos) continue;
    std::istringstream rest(text.substr(close + 2));
    std::string state;
    pid_t parent = 0;
    rest >> state >> parent;
    const auto pid = static_cast<pid_t>(std::stol(name));
    parents[pid] = parent;
    if (text.find("(" + program_.substr(0, 15) + ")") != std::string::npos) named.push_back(pid);
  }
  std::erase_if(named, [&](pid_t pid) { return parents[pid] != pid_ && parents[parents[pid]] != pid_; });
  std::ranges::sort(named);
  return named;
}

Finished Running::wait(int limit_s) {
  const Finished finished = wait_for_end(pid_, output_file_, limit_s);
  pid_ = -1;
  return finished;
}

std::vector<std::string> with_changes(std::vector<std::string> arguments,
                                      const std::vector<std::string>& changes) {
  const auto is_name = [](const std::string& text) { return text.starts_with("--"); };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const bool has_value = i + 1 < changes.size() && !is_name(changes[i + 1]);
    const auto same = std::ranges::find(arguments, changes[i]);
    if (same != arguments.end()) arguments.erase(same, same + (has_value ? 2 : 1));
    arguments.push_back(changes[i]);
    if (has_value) arguments.push_back(changes[++i]);
  }
  return arguments;
}

void write_tiny_model(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  ByteLevelVocabulary vocabulary;
  vocabulary.pre_tokenizer = "gpt-2";
  // The 256 letters of the byte alphabet in the order of GPT-2: printable bytes stand for themselves, the
  // rest from U+0100 on.
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool plain = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    const int code = plain ? byte : next++;
    std::string letter;
    if (code < 128) {
      letter = static_cast<char>(code);
    } else {
      letter += static_cast<char>(0xc0 | (code >> 6));
      letter += static_cast<char>(0x80 | (code & 0x3f));
    }
    vocabulary.tokens.push_back(letter);
    vocabulary.is_special.push_back(false);
  }
  for (const char* special : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) {
    vocabulary.tokens.emplace_back(special);
    vocabulary.is_special.push_back(true);
  }
  write_file_atomically(folder / "tokenizer.json", build_byte_level_tokenizer_json(vocabulary));
  write_file_atomically(folder / "config.json",
                        R"({"model_type": "llama", "hidden_size": 32, "intermediate_size": 48,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 264, "rms_norm_eps": 1e-5,
    "max_position_embeddings": 256, "tie_word_embeddings": true, "bos_token_id": 256, "eos_token_id": 256})");
}

void write_ragged_data(const std::filesystem::path& file, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string word(static_cast<std::size_t>(1 + i * 7 % 23), static_cast<char>('a' + i % 26));
    const std::string answer(static_cast<std::size_t>(1 + i * 5 % 17), static_cast<char>('a' + (i + 1) % 26));
    text += Json{{"prompt", word}, {"completion", answer}}.dump() + "\n";
  }
  write_file_atomically(file, text);
}

std::vector<std::string> tiny_training(const std::filesystem::path& folder, const std::string& run,
                                       const std::vector<std::string>& changes) {
  return with_changes(
      {"--model", (folder / "model").string(), "--random-start", "--data", (folder / "data.jsonl").string(),
       "--run-dir", (folder / run).string(), "--max-length", "64", "--global-batch", "6", "--lr", "0.01"},
      changes);
}

std::map<std::int64_t, Json> metrics(const std::filesystem::path& run_dir, const std::string& key) {
  std::map<std::int64_t, Json> lines;
  std::ifstream file(run_dir / "metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    const Json parsed = Json::parse(line, nullptr, false);
    if (parsed.is_object() && parsed.contains(key)) lines[parsed.at("step").get<std::int64_t>()] = parsed;
  }
  return lines;
}

std::map<std::string, std::string> fingerprints(const std::filesystem::path& run_dir, std::int64_t step) {
  const std::filesystem::path folder = run_dir / "checkpoints" / fmt::format("step-{:010d}", step);
  const Json manifest = parse_json(read_file(folder / "MANIFEST.json"), "MANIFEST.json");
  std::map<std::string, std::string> found;
  for (const Json& tensor : manifest.at("tensors")) {
    found[tensor.at("group").get<std::string>() + "/" + tensor.at("name").get<std::string>()] =
        tensor.at("fingerprint").get<std::string>();
  }
  return found;
}

bool wait_for(const std::function<bool()>& condition, int limit_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limit_s * test::time_scale());
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

bool wait_for_step(const std::filesystem::path& run_dir, std::int64_t step, int limit_s) {
  return wait_for(
      [&] {
        const auto lines = metrics(run_dir, "loss");
        return !lines.empty() && lines.rbegin()->first >= step;
      },
      limit_s);
}

}  // namespace charter::apps_test
