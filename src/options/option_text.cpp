// SPDX-License-Identifier: Apache-2.0
// OptionSet's output: the help, the config text, and the comparison with an earlier config.
#include <map>
#include <memory>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/options/command_line.hpp"
#include "src/options/ini_file.hpp"
#include "src/options/option_set.hpp"

namespace charter {
namespace {

constexpr const char* unset = "(unset)";

// "(default 1 sequences; 1 to 65536)" and the like.
std::string details_of(const OptionSpec& spec) {
  const ValueKind kind = spec.value->kind();
  std::string details;
  const auto add = [&details](const std::string& text) { details += (details.empty() ? "" : "; ") + text; };
  if (spec.required) add("required");
  const bool has_default = !spec.default_texts.empty() && !spec.default_texts.front().empty();
  const std::string unit = spec.unit.empty() ? "" : " " + spec.unit;
  if (!spec.required && has_default) {
    const std::string& first = spec.default_texts.front();
    if (kind == ValueKind::on_off) {
      add(first == "true" ? "default on" : "default off");
    } else {
      add("default " + join_texts(spec.default_texts) + unit);
    }
  } else if (!spec.required) {
    add("unset by default");
  }
  if (!has_default && !spec.unit.empty()) add("in" + unit);
  if (const std::string legal = spec.value->legal_values(); !legal.empty()) add(legal);
  if (kind == ValueKind::repeatable) add("repeatable");
  return " (" + details + ")";
}

// What the placeholders of these options stand for, where that needs examples.
std::string explain_placeholders(const std::vector<std::unique_ptr<OptionSpec>>& specs) {
  std::map<std::string, std::string> examples;
  for (const auto& spec : specs) {
    if (const std::string text = spec->value->examples(); !text.empty()) examples[spec->value_name] = text;
  }
  std::string lines;
  for (const auto& [name, text] : examples) lines += fmt::format("  {:8} {}\n", name, text);
  return lines.empty() ? "" : "\nValues:\n" + lines;
}

}  // namespace

std::string OptionSet::help() const {
  std::string usage = fmt::format("{}: {}\n\nUsage: {} [options]", program_, summary_, program_);
  std::vector<HelpLine> lines;
  for (const auto& spec : specs_) {
    const bool on_off = spec->value->kind() == ValueKind::on_off;
    const std::string name = on_off ? fmt::format("[no-]{}", spec->name) : spec->name;
    lines.push_back({spec->group, name, on_off ? "" : spec->value_name, spec->help + details_of(*spec)});
    if (spec->positional) {
      const bool rest = spec->value->kind() == ValueKind::repeatable;
      usage += fmt::format(" {}{}", spec->value_name, rest ? "..." : "");
    }
  }
  lines.push_back({"General", "config", "FILE", "read options from an INI file; the command line wins"});
  lines.push_back({"General", "help", "", "show this text"});
  lines.push_back({"General", "version", "", "show the version"});
  return usage + "\n" + format_help_lines(lines) + explain_placeholders(specs_);
}

std::vector<OptionState> OptionSet::states() const {
  std::vector<OptionState> states;
  for (const auto& spec : specs_) {
    if (spec->saved) states.push_back({spec->name, spec->value->texts(), spec->may_change_on_resume});
  }
  return states;
}

std::vector<std::pair<std::string, std::string>> OptionSet::resolved() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& spec : specs_) {
    const std::vector<std::string> texts = spec->value->texts();
    all.emplace_back("--" + spec->name, texts.empty() ? unset : join_texts(texts));
  }
  return all;
}

std::string OptionSet::write_config_ini() const {
  std::string text = fmt::format("# The resolved options of {}; usable with --config.\n", version());
  std::string group;
  for (const auto& spec : specs_) {
    if (!spec->saved) continue;
    if (spec->group != group) {
      group = spec->group;
      text += fmt::format("\n# {}\n", group);
    }
    const std::vector<std::string> values = spec->value->texts();
    if (values.empty()) text += fmt::format("# {} is not set\n", spec->name);
    for (const std::string& value : values)
      text += fmt::format("{} = {}\n", spec->name, quote_ini_value(value));
  }
  return text;
}

std::vector<OptionDifference> OptionSet::compare_for_resume(std::string_view earlier_ini,
                                                            const std::string& where) const {
  std::map<std::string, std::vector<std::string>> earlier;
  std::vector<OptionDifference> differences;
  for (IniEntry& entry : parse_ini(earlier_ini, where)) {
    if (find(entry.name) == nullptr) {
      differences.push_back({entry.name, entry.value, "(no such option)"});
      continue;
    }
    earlier[entry.name].push_back(std::move(entry.value));
  }
  for (const auto& spec : specs_) {
    if (!spec->saved || spec->may_change_on_resume) continue;
    // An option that the earlier text does not name was unset, or did not exist: both mean the default.
    std::vector<std::string> then = spec->default_texts;
    if (const auto given = earlier.find(spec->name); given != earlier.end()) {
      try {
        then = spec->value->canonical(given->second);
      } catch (const BadValue& bad) {
        fail(ExitCode::bad_input,
             fmt::format("{}: {} = {}: {}", where, spec->name, join_texts(given->second), bad.what()));
      }
    }
    const std::vector<std::string> now = spec->value->texts();
    if (then != now) differences.push_back({spec->name, join_texts(then, unset), join_texts(now, unset)});
  }
  return differences;
}

}  // namespace charter
