// SPDX-License-Identifier: Apache-2.0
#include "src/options/option_set.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/base/utf8.hpp"
#include "src/options/command_line.hpp"
#include "src/options/ini_file.hpp"
#include "src/options/nearest_name.hpp"

namespace charter {
namespace {

constexpr std::int64_t largest_config_bytes = 1 << 20;
constexpr const char* command_line = "the command line";

bool has_control_character(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
  });
}

// Values are written into records that hold UTF-8 only (manifests, JSON lines), some of them hours later.
void require_text(const std::string& text) {
  if (has_control_character(text)) throw BadValue("holds a control character");
  const std::size_t valid = valid_utf8_prefix(text);
  if (valid == text.size()) return;
  throw BadValue(fmt::format(
      "is not UTF-8 at byte {}; a file of such a name can be reached by a link of another name", valid));
}

}  // namespace

std::string read_config_file(const std::filesystem::path& path) {
  return read_file(path, largest_config_bytes);
}

OptionSet::OptionSet(std::string program, std::string summary)
    : program_(std::move(program)), summary_(std::move(summary)) {}

OptionSpec& OptionSet::insert(const std::string& name, const std::string& help,
                              std::unique_ptr<OptionValue> value) {
  require(find(name) == nullptr && name != "help" && name != "version" && name != "config",
          "an option's name is new: " + name);
  require(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos,
          "an option's name is in kebab-case: " + name);
  auto spec = std::make_unique<OptionSpec>();
  spec->name = name;
  spec->help = help;
  spec->group = group_;
  spec->value_name = value->placeholder();
  spec->default_texts = value->texts();
  spec->value = std::move(value);
  specs_.push_back(std::move(spec));
  return *specs_.back();
}

const OptionSpec* OptionSet::find(std::string_view name) const {
  const auto place =
      std::find_if(specs_.begin(), specs_.end(), [&](const auto& spec) { return spec->name == name; });
  return place == specs_.end() ? nullptr : place->get();
}

std::vector<std::string> OptionSet::known_names() const {
  std::vector<std::string> names = {"help", "version", "config"};
  for (const auto& spec : specs_) {
    names.push_back(spec->name);
    if (spec->value->kind() == ValueKind::on_off) names.push_back("no-" + spec->name);
  }
  return names;
}

void OptionSet::refuse_unknown(const std::string& typed, const std::string& source) const {
  const std::size_t dashes = std::min(typed.find_first_not_of('-'), typed.size());
  const std::string nearest = nearest_name(typed.substr(dashes), known_names());
  const std::string hint = nearest.empty() ? fmt::format("{} --help lists all options", program_)
                                           : fmt::format("did you mean --{}?", nearest);
  fail(ExitCode::usage, fmt::format("unknown option {} (from {}); {}", typed, source, hint));
}

void OptionSet::assign(OptionSpec& spec, const GivenTexts& given) {
  const auto& [texts, source] = given;
  const std::string where = fmt::format("(from {})", source);
  if (texts.size() > 1 && spec.value->kind() != ValueKind::repeatable) {
    fail(ExitCode::usage, fmt::format("--{} is given {} times {}: {}; give it once", spec.name, texts.size(),
                                      where, join_texts(texts)));
  }
  try {
    for (const std::string& text : texts) require_text(text);
    spec.value->assign(texts);
  } catch (const BadValue& bad) {
    const std::string legal = spec.value->legal_values();
    fail(ExitCode::usage, fmt::format("--{} \"{}\" {}: {}{}", spec.name, join_texts(texts), where, bad.what(),
                                      legal.empty() ? "" : "; legal: " + legal));
  }
  spec.source = source;
}

ParseAction OptionSet::parse(int argc, const char* const* argv, const ConfigReader& reader) {
  return parse(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), reader);
}

std::vector<CommandLineEntry> OptionSet::split(const std::vector<std::string>& arguments) const {
  std::vector<CommandLineName> names = {
      {"help", false, false}, {"version", false, false}, {"config", true, false}};
  std::vector<std::string> positional;
  for (const auto& spec : specs_) {
    const bool on_off = spec->value->kind() == ValueKind::on_off;
    names.push_back({spec->name, !on_off, spec->value->kind() == ValueKind::repeatable});
    if (on_off) names.push_back({"no-" + spec->name, false, false});
    if (spec->positional) positional.push_back(spec->name);
  }
  return split_command_line(arguments, names, positional,
                            [this](const std::string& typed) { refuse_unknown(typed, command_line); });
}

OptionSet::Given OptionSet::collect_config(const std::string& path, const ConfigReader& reader) const {
  Given given;
  for (IniEntry& entry : parse_ini(reader(path), path)) {
    const std::string source = fmt::format("{}:{}", path, entry.line);
    if (find(entry.name) == nullptr) refuse_unknown(entry.name, source);
    GivenTexts& texts = given[entry.name];
    texts.texts.push_back(std::move(entry.value));
    texts.source = source;
  }
  return given;
}

void OptionSet::add_entry(const CommandLineEntry& entry, Given& given) const {
  const OptionSpec* spec = find(entry.name);
  const bool negated = spec == nullptr;
  const std::string name = negated ? entry.name.substr(std::string_view("no-").size()) : entry.name;
  spec = find(name);
  require(spec != nullptr, "the command line holds known names only");
  const bool on_off = spec->value->kind() == ValueKind::on_off;
  GivenTexts& texts = given[name];
  texts.texts.push_back(on_off ? (negated ? "false" : "true") : entry.value);
  texts.source = command_line;
}

void OptionSet::assign_all(const Given& given) {
  for (const auto& spec : specs_) {
    const auto place = given.find(spec->name);
    if (place != given.end()) assign(*spec, place->second);
  }
}

ParseAction OptionSet::parse(const std::vector<std::string>& arguments, const ConfigReader& reader) {
  Given from_command_line;
  std::optional<std::string> config;
  for (const CommandLineEntry& entry : split(arguments)) {
    if (entry.name == "help") return ParseAction::show_help;
    if (entry.name == "version") return ParseAction::show_version;
    if (entry.name != "config") {
      add_entry(entry, from_command_line);
      continue;
    }
    if (config) fail(ExitCode::usage, "--config is given twice; give it once");
    config = entry.value;
  }
  // The config first and in full, so that a wrong value in it is found even where the command line overrides
  // it.
  if (config) assign_all(collect_config(*config, reader));
  assign_all(from_command_line);
  std::string missing;
  for (const auto& spec : specs_) {
    if (spec->required && spec->source.empty()) missing += fmt::format(" --{} ({})", spec->name, spec->help);
  }
  if (!missing.empty()) {
    fail(ExitCode::usage, fmt::format("missing:{}; {} --help lists all options", missing, program_));
  }
  return ParseAction::run;
}

std::string OptionSet::version() const {
  return fmt::format("{} {} (Charter)", program_, CHARTER_VERSION);
}

bool OptionSet::given(std::string_view name) const {
  const OptionSpec* spec = find(name);
  require(spec != nullptr, "given() is asked about an option of this set");
  return !spec->source.empty();
}

void OptionSet::refuse(std::string_view name, const std::string& reason) const {
  const OptionSpec* spec = find(name);
  require(spec != nullptr, "refuse() is told an option of this set");
  fail(ExitCode::usage, fmt::format("--{} \"{}\" (from {}): {}", name, join_texts(spec->value->texts()),
                                    spec->source.empty() ? "the default" : spec->source, reason));
}

}  // namespace charter
