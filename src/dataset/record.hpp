// SPDX-License-Identifier: Apache-2.0
// One record of a data set in the form every program works with, whatever shape its file had.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/text/chat_template.hpp"

namespace charter {

// What a program wants of a record. A record may fit several shapes; the use decides which one it is read as.
enum class RecordUse : std::uint8_t {
  supervised,  // messages | prompt + completion | instruction (+ input) + output | text | what `preference`
               // takes, for its chosen side: the first that fits
  preference,  // prompt + chosen + rejected | instruction (+ input) + chosen + rejected | chosen + rejected
  prompts,     // prompt | instruction (+ input) | messages without the answers at their end | text
};

enum class RecordShape : std::uint8_t {
  text,
  prompt_completion,
  instruction,
  messages,
  preference,
  implicit_preference,  // {"chosen", "rejected"}: the prompt is the messages they share
  prompt,
};

struct Record {
  RecordShape shape = RecordShape::text;
  std::string where;                // file:line, or file: element i; starts messages about this record
  std::int64_t line = 0;            // of its file, from 1: where the record starts
  std::string text;                 // shape text only
  std::vector<Message> prompt;      // empty for text and messages
  std::vector<Message> completion;  // what is learnt; for shape messages the whole conversation
  std::vector<Message> chosen;      // after the prompt; never empty for preferences
  std::vector<Message> rejected;
  double chosen_probability = 1.0;  // that chosen is the better answer, in [0, 1]
};

// Whether a record of this shape came with two answers, a chosen and a rejected one.
inline bool is_preference(RecordShape shape) {
  return shape == RecordShape::preference || shape == RecordShape::implicit_preference;
}
std::string_view to_string(RecordShape shape);
std::string_view to_string(RecordUse use);

}  // namespace charter
