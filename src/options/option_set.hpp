// SPDX-License-Identifier: Apache-2.0
// A program's options: names, help and limits, bound to fields of plain structs. Reads the command line and
// --config, writes the resolved values back as a config. Never prints and never exits: parse() returns or
// throws Error(usage).
//
//   struct Options {
//     std::filesystem::path model;
//     std::int64_t micro_batch = 1;
//     Decay decay = Decay::cosine;
//     bool verify = false;
//     std::vector<std::string> data;
//   } o;
//   OptionSet set("sft_train", "Fine-tunes a language model on examples.");
//   set.group("Model and data");
//   set.add("model", o.model, "Hugging Face folder, GGUF file or checkpoint").required();
//   set.add("data", o.data, "JSONL file").value_name("FILE");  // a vector: repeatable
//   set.group("Training");
//   set.add("micro-batch", o.micro_batch, "rows at once").range(1, 65536).may_change_on_resume();
//   set.add_choice("decay", o.decay, {{"cosine", Decay::cosine}, {"none", Decay::none}}, "rate");
//   set.add("verify", o.verify, "same bits on every mesh");  // --verify and --no-verify
//   if (set.parse(argc, argv) == ParseAction::show_help) print(set.help());
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/options/option_value.hpp"

namespace charter {

enum class ParseAction : std::uint8_t { run, show_help, show_version };

// Gives the text of a --config file. A parallel program passes one that reads on rank 0 and broadcasts.
using ConfigReader = std::function<std::string(const std::filesystem::path&)>;
std::string read_config_file(const std::filesystem::path& path);

struct CommandLineEntry;

// One option as the set keeps it.
struct OptionSpec {
  std::string name;
  std::string help;
  std::string group;
  std::string value_name;
  std::string unit;
  bool required = false;
  bool positional = false;
  bool may_change_on_resume = false;
  bool saved = true;
  std::unique_ptr<OptionValue> value;
  std::vector<std::string> default_texts;
  std::string source;  // "" = default, else "the command line" or "FILE:LINE"
};

// What add() returns: adjusts the option just added. Every method returns the handle itself.
template <class T>
class Option {
 public:
  using Number = typename RangeNumber<T>::type;
  explicit Option(OptionSpec& spec) : spec_(&spec) {}

  // Legal values, both ends included; shown in the help and in error messages. Numbers only (durations in
  // seconds).
  Option& range(Number low, Number high) { return limit(low, high, false); }
  // As range, without the lower end itself.
  Option& above(Number low, Number high) { return limit(low, high, true); }
  // Shown behind the default, for example "sequences" or "s".
  Option& unit(std::string text) { return set(spec_->unit, std::move(text)); }
  // Stands for the value in the help; N, X, TEXT, PATH, ... by type otherwise.
  Option& value_name(std::string text) { return set(spec_->value_name, std::move(text)); }
  Option& required() { return set(spec_->required, true); }
  // Arguments without dashes go here, in the order in which such options were added; a vector takes all the
  // rest.
  Option& positional() { return set(spec_->positional, true); }
  // A resumed run may have another value.
  Option& may_change_on_resume() { return set(spec_->may_change_on_resume, true); }
  // Neither written to config.ini nor compared on resume (--dry-run, --resume).
  Option& transient() { return set(spec_->saved, false); }

 private:
  template <class Field, class Value>
  Option& set(Field& field, Value&& value) {
    field = std::forward<Value>(value);
    return *this;
  }
  Option& limit(Number low, Number high, bool low_is_open) {
    static_assert(!std::is_same_v<Number, NoNumber>, "this type of option has no order");
    spec_->value->set_range({static_cast<long double>(low), static_cast<long double>(high), low_is_open});
    return *this;
  }
  OptionSpec* spec_;
};

// One option's resolved value. `texts` has one entry; none when unset, several for a repeatable option.
struct OptionState {
  std::string name;
  std::vector<std::string> texts;
  bool may_change_on_resume = false;
};

// An option whose value is not what it was. "(unset)" stands for an option without a value.
struct OptionDifference {
  std::string name;
  std::string then;
  std::string now;
};

class OptionSet {
 public:
  // --help, --version and --config are there from the start.
  OptionSet(std::string program, std::string summary);

  // Options added from now on stand under this title in the help.
  void group(std::string title) { group_ = std::move(title); }

  // Types: bool (makes --name and --no-name), int, int64_t, uint64_t, float, double, string, path, Duration,
  // ByteSize, BatchSize, WallTime; std::optional of each except bool; std::vector of int64_t, double, string,
  // path (repeatable). The field's present value is the default. The field must outlive the set. Names may
  // have a prefix: "policy.tp".
  template <class T>
  Option<T> add(const std::string& name, T& field, const std::string& help) {
    return Option<T>(insert(name, help, bind_value(field)));
  }

  // An enum by names. The order of `choices` is the order in the help.
  template <class E>
  Option<E> add_choice(const std::string& name, E& field,
                       const std::vector<std::pair<std::string, std::type_identity_t<E>>>& choices,
                       const std::string& help) {
    std::vector<std::string> names;
    std::vector<E> values;
    for (const auto& [choice, value] : choices) {
      names.push_back(choice);
      values.push_back(value);
    }
    auto get = [&field, values] {
      std::size_t index = 0;
      while (index < values.size() && values[index] != field) ++index;
      return index;
    };
    auto set = [&field, values](std::size_t index) { field = values[index]; };
    return Option<E>(insert(name, help, bind_choice(std::move(names), get, set)));
  }

  // Fills the fields. Call once. After show_help or show_version the fields hold their defaults.
  // Throws Error(usage) naming option, value, its source and the legal values, or the nearest known name; a
  // config that cannot be read throws what `reader` throws.
  ParseAction parse(int argc, const char* const* argv, const ConfigReader& reader = read_config_file);
  ParseAction parse(const std::vector<std::string>& arguments, const ConfigReader& reader = read_config_file);

  // Grouped, 100 columns.
  std::string help() const;
  // "sft_train 0.1.0 (Charter)".
  std::string version() const;

  // True when the command line or the config names the option. Throws Error(internal) for an unknown name.
  bool given(std::string_view name) const;
  // Throws Error(usage) "--name VALUE (from SOURCE): reason"; for checks that look at several options.
  [[noreturn]] void refuse(std::string_view name, const std::string& reason) const;

  // All saved options in the order of add().
  std::vector<OptionState> states() const;
  // Every option, the transient ones too, as "--name" and its values in one text: what ranks compare.
  std::vector<std::pair<std::string, std::string>> resolved() const;
  // The resolved values as an INI text that --config reads back to the same values.
  std::string write_config_ini() const;
  // Options that differ from an earlier run's config text and may not. `where` (its path) starts error
  // messages. Throws Error(bad_input) when the text is no config of this program.
  std::vector<OptionDifference> compare_for_resume(std::string_view earlier_ini,
                                                   const std::string& where) const;

 private:
  // The texts of one option from one source, and where the last of them stands.
  struct GivenTexts {
    std::vector<std::string> texts;
    std::string source;
  };
  using Given = std::map<std::string, GivenTexts>;

  OptionSpec& insert(const std::string& name, const std::string& help, std::unique_ptr<OptionValue> value);
  const OptionSpec* find(std::string_view name) const;
  [[noreturn]] void refuse_unknown(const std::string& typed, const std::string& source) const;
  std::vector<CommandLineEntry> split(const std::vector<std::string>& arguments) const;
  Given collect_config(const std::string& path, const ConfigReader& reader) const;
  void add_entry(const CommandLineEntry& entry, Given& given) const;
  void assign(OptionSpec& spec, const GivenTexts& given);
  void assign_all(const Given& given);
  std::vector<std::string> known_names() const;

  std::string program_;
  std::string summary_;
  std::string group_ = "Options";
  std::vector<std::unique_ptr<OptionSpec>> specs_;
};

}  // namespace charter
