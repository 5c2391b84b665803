// SPDX-License-Identifier: Apache-2.0
// How files and folders of a run's checkpoints are called. The name says the state: step-0000001200 is
// committed; .tmp.<job> is being written, .bad was found damaged, .superseded belongs to a branch that was
// given up, .trash-* is being deleted. Pure text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace charter {

inline constexpr const char* manifest_file = "MANIFEST.json";
inline constexpr const char* view_file = "view.h5";
inline constexpr const char* files_folder = "files";
inline constexpr const char* checkpoints_folder = "checkpoints";

// "step-0000001200": ten digits, more when needed, so that names sort by step.
std::string step_folder_name(std::int64_t step);
// The step of a committed folder's name; nothing for any other name.
std::optional<std::int64_t> step_of_folder(std::string_view name);

enum class FolderState : std::uint8_t { committed, in_flight, bad, superseded, trash, foreign };
FolderState state_of_folder(std::string_view name);

// "step-0000001200.tmp.<job>"; characters of `job` other than letters, digits, '-' and '_' become '_'.
std::string in_flight_folder_name(std::int64_t step, std::string_view job);

// "part_0003.h5".
std::string part_file_name(std::int64_t part);

// A name that may stand below files/ : 1 to 255 printable ASCII characters, no '/' or '\', not "." or "..".
bool is_plain_file_name(std::string_view name);
// Printable ASCII without '/', 1 to 512 characters, not "." or "..".
bool is_tensor_name(std::string_view name);
// 1 to 64 of a-z, 0-9, '_'.
bool is_group_name(std::string_view name);

}  // namespace charter
