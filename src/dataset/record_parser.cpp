// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/record_parser.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/dataset/record_fields.hpp"
#include "src/dataset/transcript.hpp"

namespace charter {
namespace {

bool equal(const Message& a, const Message& b) {
  return a.role == b.role && a.content == b.content;
}

void require_answer(const RecordFields& fields, const char* key, const std::vector<Message>& messages) {
  if (messages.empty() || messages.front().role != Role::assistant) {
    fields.refuse(fmt::format("\"{}\" does not begin with an assistant's message", key));
  }
}

bool parse_preference(const RecordFields& fields, const Json& value, Record& record);

bool parse_supervised(const RecordFields& fields, const Json& value, Record& record) {
  if (fields.has({"messages"})) {
    record.shape = RecordShape::messages;
    record.completion = fields.messages("messages");
  } else if (fields.has({"prompt", "completion"})) {
    record.shape = RecordShape::prompt_completion;
    record.prompt = fields.text_or_messages("prompt", Role::user);
    record.completion = fields.text_or_messages("completion", Role::assistant);
    require_answer(fields, "completion", record.completion);
  } else if (fields.has({"instruction", "output"})) {
    record.shape = RecordShape::instruction;
    record.prompt = fields.instruction();
    record.completion = {{Role::assistant, fields.text("output")}};
  } else if (fields.has({"text"})) {
    record.shape = RecordShape::text;
    record.text = fields.text("text");
  } else {
    // Of a pair the better answer is learnt.
    if (!parse_preference(fields, value, record)) return false;
    record.completion = std::move(record.chosen);
    record.chosen.clear();
    record.rejected.clear();
  }
  return true;
}

// Whole conversations on both sides: a transcript string or a list of messages.
std::vector<Message> conversation(const RecordFields& fields, const Json& value, const char* key) {
  if (!value.is_string()) return fields.messages(key);
  auto turns = parse_transcript(value.get_ref<const std::string&>());
  if (!turns) {
    fields.refuse(fmt::format(
        "\"{}\" is a string that does not begin with \"\\n\\nHuman:\"; without a \"prompt\", expected "
        "a transcript of Human and Assistant turns or a list of messages",
        key));
  }
  return *std::move(turns);
}

// Moves the messages that both sides begin with to the prompt, leaving each side at least one.
void take_shared_prompt(const RecordFields& fields, Record& record) {
  const std::size_t most = std::min(record.chosen.size(), record.rejected.size()) - 1;
  std::size_t shared = 0;
  while (shared < most && equal(record.chosen[shared], record.rejected[shared])) ++shared;
  if (shared == 0) fields.refuse("\"chosen\" and \"rejected\" share no first message, so there is no prompt");
  const auto count = static_cast<std::ptrdiff_t>(shared);
  record.prompt.assign(record.chosen.begin(), record.chosen.begin() + count);
  record.chosen.erase(record.chosen.begin(), record.chosen.begin() + count);
  record.rejected.erase(record.rejected.begin(), record.rejected.begin() + count);
}

// With an explicit prompt, a side may still repeat it in front of its answer.
void drop_repeated_prompt(const std::vector<Message>& prompt, std::vector<Message>& side) {
  if (side.size() > prompt.size() && std::equal(prompt.begin(), prompt.end(), side.begin(), equal)) {
    side.erase(side.begin(), side.begin() + static_cast<std::ptrdiff_t>(prompt.size()));
  }
}

bool parse_preference(const RecordFields& fields, const Json& value, Record& record) {
  if (!fields.has({"chosen", "rejected"})) return false;
  const bool prompted = fields.has({"prompt"});
  if (prompted || fields.has({"instruction"})) {
    record.shape = RecordShape::preference;
    record.prompt = prompted ? fields.text_or_messages("prompt", Role::user) : fields.instruction();
    record.chosen = fields.text_or_messages("chosen", Role::assistant);
    record.rejected = fields.text_or_messages("rejected", Role::assistant);
    drop_repeated_prompt(record.prompt, record.chosen);
    drop_repeated_prompt(record.prompt, record.rejected);
    require_answer(fields, "chosen", record.chosen);
    require_answer(fields, "rejected", record.rejected);
  } else {
    record.shape = RecordShape::implicit_preference;
    record.chosen = conversation(fields, value.at("chosen"), "chosen");
    record.rejected = conversation(fields, value.at("rejected"), "rejected");
    take_shared_prompt(fields, record);
  }
  if (fields.has({"chosen_probability"}))
    record.chosen_probability = fields.probability("chosen_probability");
  return true;
}

bool parse_prompt(const RecordFields& fields, Record& record) {
  record.shape = RecordShape::prompt;
  if (fields.has({"prompt"})) {
    record.prompt = fields.text_or_messages("prompt", Role::user);
  } else if (fields.has({"instruction"})) {
    record.prompt = fields.instruction();
  } else if (fields.has({"messages"})) {
    record.prompt = fields.messages("messages");
    while (!record.prompt.empty() && record.prompt.back().role == Role::assistant) record.prompt.pop_back();
    if (record.prompt.empty()) fields.refuse("\"messages\" holds no message to answer");
  } else if (fields.has({"text"})) {
    record.prompt = {{Role::user, fields.text("text")}};
  } else {
    return false;
  }
  return true;
}

std::string_view expected_shapes(RecordUse use) {
  switch (use) {
    case RecordUse::supervised:
      return R"({"text"}, {"prompt", "completion"}, {"instruction", "output"} (+ "input"), {"messages"} or the chosen side of {"prompt", "chosen", "rejected"})";
    case RecordUse::preference:
      return R"({"prompt", "chosen", "rejected"} (+ "chosen_probability"), {"instruction", "chosen", "rejected"} or )"
             R"({"chosen", "rejected"})";
    case RecordUse::prompts:
      return R"({"prompt"}, {"instruction"} (+ "input"), {"messages"} or {"text"})";
  }
  return "";
}

}  // namespace

std::string_view to_string(RecordShape shape) {
  switch (shape) {
    case RecordShape::text:
      return "text";
    case RecordShape::prompt_completion:
      return "prompt and completion";
    case RecordShape::instruction:
      return "instruction";
    case RecordShape::messages:
      return "messages";
    case RecordShape::preference:
      return "preference";
    case RecordShape::implicit_preference:
      return "preference without prompt";
    case RecordShape::prompt:
      return "prompt";
  }
  return "?";
}

std::string_view to_string(RecordUse use) {
  switch (use) {
    case RecordUse::supervised:
      return "supervised training";
    case RecordUse::preference:
      return "preference training";
    case RecordUse::prompts:
      return "a list of prompts";
  }
  return "?";
}

Record parse_record(const Json& value, RecordUse use, const std::string& where) {
  const RecordFields fields(value, where);
  if (!value.is_object()) fields.refuse(fmt::format("is {}, expected a JSON object", value.type_name()));
  Record record;
  record.where = where;
  const bool found = use == RecordUse::supervised   ? parse_supervised(fields, value, record)
                     : use == RecordUse::preference ? parse_preference(fields, value, record)
                                                    : parse_prompt(fields, record);
  if (!found) {
    fields.refuse(
        fmt::format("keys found: {}; {} needs {}", fields.keys(), to_string(use), expected_shapes(use)));
  }
  return record;
}

std::vector<Record> records_of(const Json& value, RecordUse use, const std::string& where) {
  const RecordFields fields(value, where);
  if (!value.is_object() || !fields.has({"instruction", "instances"}) || fields.has({"output"})) {
    return {parse_record(value, use, where)};
  }
  const Json& instances = value.at("instances");
  if (!instances.is_array() || instances.empty()) fields.refuse("\"instances\" is no list of at least one");
  std::vector<Record> records;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const std::string place = fmt::format("{}, instance {}", where, i + 1);
    if (!instances[i].is_object()) fail(ExitCode::bad_input, fmt::format("{}: is no JSON object", place));
    Json record = instances[i];
    record["instruction"] = value.at("instruction");
    records.push_back(parse_record(record, use, place));
  }
  return records;
}

}  // namespace charter
