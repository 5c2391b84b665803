// SPDX-License-Identifier: Apache-2.0
// What the writers of parts tell rank 0: text between processes of one job, not a file format. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "modules/checkpoint/part_writer.hpp"

namespace charter {

std::string records_text(const std::vector<WrittenPart>& parts);
std::vector<WrittenPart> parse_records(std::string_view text);

// Joins the shares of all parts into whole tensors (ascending by group and name, blocks ascending by offset)
// and fills `manifest`'s parts and tensors. Throws Error(internal) naming every tensor whose shares differ in
// shape or type or do not cover it exactly once.
void merge_records(std::vector<WrittenPart> parts, CheckpointManifest& manifest);

}  // namespace charter
