// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the process mesh: which rank stands where. Pure values, no communication, no MPI. The
// order is fixed: pipeline outermost, then data, context, tensor innermost, so that neighbouring ranks (of
// one node) share the tensor axis, which talks the most.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace charter {

// From the outermost to the innermost.
enum class Axis : std::uint8_t { pipeline, data, context, tensor };
inline constexpr int num_axes = 4;
inline constexpr std::array<Axis, num_axes> all_axes = {Axis::pipeline, Axis::data, Axis::context,
                                                        Axis::tensor};
// "pipeline"; and as on the command line: "pp", "dp", "cp", "tp".
std::string_view to_string(Axis axis);
std::string_view short_name(Axis axis);

// Some of the four axes; a group over a set is a group over the product of its axes.
class AxisSet {
 public:
  constexpr AxisSet() = default;
  // One axis is a set of one.
  constexpr AxisSet(Axis axis) : bits_(bit(axis)) {}  // NOLINT(google-explicit-constructor)
  constexpr AxisSet(std::initializer_list<Axis> axes) {
    for (const Axis axis : axes) bits_ = static_cast<std::uint8_t>(bits_ | bit(axis));
  }
  constexpr bool contains(Axis axis) const { return (bits_ & bit(axis)) != 0; }
  constexpr AxisSet operator|(AxisSet other) const {
    other.bits_ = static_cast<std::uint8_t>(other.bits_ | bits_);
    return other;
  }
  constexpr bool operator==(const AxisSet&) const = default;
  // "data x context"; "none" for the empty set.
  std::string name() const;

 private:
  static constexpr std::uint8_t bit(Axis axis) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(axis));
  }
  std::uint8_t bits_ = 0;
};

// What was asked for on the command line. 0 = what is left (data only).
struct MeshDegrees {
  int pipeline = 1;
  int data = 0;
  int context = 1;
  int tensor = 1;

  int of(Axis axis) const;
  bool operator==(const MeshDegrees&) const = default;
};

struct MeshCoordinates {
  int pipeline = 0;
  int data = 0;
  int context = 0;
  int tensor = 0;

  int of(Axis axis) const;
  bool operator==(const MeshCoordinates&) const = default;
};

// How a degree has to fit a count: divide it; divide it or be a multiple of it; be at most as large.
enum class DegreeRule : std::uint8_t { divisor, divisor_or_multiple, at_most };

// A count of the model or the run that a degree has to fit: {"attention heads", 9, Axis::tensor}.
struct DivisibilityRule {
  std::string what;
  std::int64_t count = 0;
  Axis axis = Axis::tensor;
  DegreeRule rule = DegreeRule::divisor;
};

// Every rule that `requested` breaks on `world_size` ranks, each with its legal values; empty when the mesh
// can stand. Rules: degrees at least 1 (data: or 0), their product equal to the ranks (dividing them when
// data is 0), and each of `rules`.
std::vector<std::string> mesh_problems(const MeshDegrees& requested, int world_size,
                                       std::span<const DivisibilityRule> rules = {});

class MeshShape {
 public:
  // One rank.
  MeshShape() = default;
  // Throws Error(configuration) with all of mesh_problems() at once.
  MeshShape(const MeshDegrees& requested, int world_size, std::span<const DivisibilityRule> rules = {});

  int degree(Axis axis) const { return degrees_[static_cast<std::size_t>(axis)]; }
  // Ranks of a group over `axes`; 1 for none.
  int degree(AxisSet axes) const;
  // Ranks of the whole mesh.
  int size() const;

  MeshCoordinates coordinates_of(int rank) const;
  int rank_of(const MeshCoordinates& coordinates) const;

  // The ranks that share all coordinates outside `axes` with `rank`, ascending; `rank` itself is among them.
  std::vector<int> group_of(int rank, AxisSet axes) const;
  // The place of `rank` in group_of(rank, axes).
  int index_in_group(int rank, AxisSet axes) const;
  // Which group over `axes` holds `rank`; groups are numbered from 0, group_count(axes) of them.
  int group_number(int rank, AxisSet axes) const;
  int group_count(AxisSet axes) const { return size() / degree(axes); }

  // "pp 2 x dp 3 x cp 1 x tp 2 = 12 ranks".
  std::string summary() const;
  bool operator==(const MeshShape&) const = default;

 private:
  std::array<int, num_axes> degrees_ = {1, 1, 1, 1};
};

}  // namespace charter
