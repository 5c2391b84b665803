// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "src/text/word_splitter.hpp"

#include <array>
#include <cstddef>

#include <fmt/format.h>
#include <pcre2.h>

#include "src/base/error.hpp"
#include "src/base/utf8.hpp"

namespace charter {
namespace {

std::string pcre2_message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

}  // namespace

struct WordSplitter::Program {
  explicit Program(pcre2_code* compiled) : code(compiled) {}
  ~Program() { pcre2_code_free(code); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  pcre2_code* code;
};

struct WordSplitter::Workspace::State {
  static constexpr std::size_t smallest_stack = std::size_t{32} << 10;
  static constexpr std::size_t largest_stack = std::size_t{4} << 20;

  State()
      : matches(pcre2_match_data_create(1, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        stack(pcre2_jit_stack_create(smallest_stack, largest_stack, nullptr)) {
    require(matches != nullptr && context != nullptr, "PCRE2 gave no memory for matching");
    // Without just-in-time compilation there is no stack, and matching is interpreted.
    if (stack != nullptr) pcre2_jit_stack_assign(context, nullptr, stack);
  }
  ~State() {
    pcre2_match_data_free(matches);
    pcre2_match_context_free(context);
    if (stack != nullptr) pcre2_jit_stack_free(stack);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  pcre2_match_data* matches;
  pcre2_match_context* context;
  pcre2_jit_stack* stack;
};

WordSplitter::Workspace::Workspace() : state_(std::make_unique<State>()) {}
WordSplitter::Workspace::~Workspace() = default;

WordSplitter::WordSplitter(const std::string& pattern, KeptPieces kept, const std::string& where)
    : kept_(kept) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(units(pattern), pattern.size(), PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C,
                                   &error, &offset, nullptr);
  if (code == nullptr) {
    fail(ExitCode::bad_input, fmt::format("{}: PCRE2 refuses the pattern \"{}\" at byte {}: {}", where,
                                          pattern, offset, pcre2_message(error)));
  }
  program_ = std::make_shared<const Program>(code);
  // Failure only means that this build of PCRE2 interprets patterns.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
}

void WordSplitter::split(std::string_view text, Workspace& workspace,
                         std::vector<std::string_view>& pieces) const {
  while (!text.empty()) {
    const std::size_t valid = valid_utf8_prefix(text);
    split_valid(text.substr(0, valid), workspace, pieces);
    text.remove_prefix(valid);
    const std::size_t invalid = invalid_utf8_prefix(text);
    if (invalid > 0) pieces.push_back(text.substr(0, invalid));
    text.remove_prefix(invalid);
  }
}

void WordSplitter::split_valid(std::string_view text, Workspace& workspace,
                               std::vector<std::string_view>& pieces) const {
  const Workspace::State& state = *workspace.state_;
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(state.matches);
  std::size_t done = 0;   // everything before has been given out
  std::size_t start = 0;  // where the next search starts
  while (start < text.size()) {
    const int found = pcre2_match(program_->code, units(text), text.size(), start, PCRE2_NO_UTF_CHECK,
                                  state.matches, state.context);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      fail(ExitCode::bad_input,
           fmt::format("the tokenizer's word pattern gave up at byte {} of a text of {} bytes: {}", start,
                       text.size(), pcre2_message(found)));
    }
    if (ends[1] == ends[0]) {
      // An empty match cuts nothing; the search goes on one character later.
      if (ends[1] >= text.size()) break;
      start = ends[1] + static_cast<std::size_t>(first_utf8_character(text.substr(ends[1])).length);
      continue;
    }
    if (kept_ == KeptPieces::all && ends[0] > done) pieces.push_back(text.substr(done, ends[0] - done));
    pieces.push_back(text.substr(ends[0], ends[1] - ends[0]));
    done = start = ends[1];
  }
  if (kept_ == KeptPieces::all && done < text.size()) pieces.push_back(text.substr(done));
}

}  // namespace charter
