// SPDX-License-Identifier: Apache-2.0
// Cuts text into pieces by one regular expression (PCRE2, compiled to machine code where the library can).
// Works on any bytes: a run that is not UTF-8 becomes a piece of its own, so that the pieces always add up to
// the text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace charter {

enum class KeptPieces {
  all,      // matches and what lies between them ("Isolated")
  matches,  // matches only: white space between words goes (word-level vocabularies)
};

class WordSplitter {
 public:
  // `pattern` in PCRE2's syntax. Throws bad_input, starting with `where`, when PCRE2 refuses it.
  WordSplitter(const std::string& pattern, KeptPieces kept, const std::string& where);

  // What a thread needs for matching; not shared between threads.
  class Workspace {
   public:
    Workspace();
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

   private:
    friend class WordSplitter;
    struct State;
    std::unique_ptr<State> state_;
  };

  // Appends the pieces of `text`, in order, none empty, as views into it. Throws bad_input when PCRE2 gives
  // up on the text.
  void split(std::string_view text, Workspace& workspace, std::vector<std::string_view>& pieces) const;

 private:
  struct Program;
  void split_valid(std::string_view text, Workspace& workspace, std::vector<std::string_view>& pieces) const;

  std::shared_ptr<const Program> program_;
  KeptPieces kept_;
};

}  // namespace charter
