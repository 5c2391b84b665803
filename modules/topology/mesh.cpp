// SPDX-License-Identifier: Apache-2.0
#include "modules/topology/mesh.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

// Divisors of `number`, ascending.
std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t i = 1; i * i <= number; ++i) {
    if (number % i != 0) continue;
    divisors.push_back(i);
    if (i != number / i) divisors.push_back(number / i);
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

// "1, 2, 4"; long lists are cut.
std::string list_of(const std::vector<std::int64_t>& values) {
  constexpr std::size_t shown = 16;
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), shown));
  return fmt::format("{}{}", fmt::join(values.begin(), end, ", "), values.size() > shown ? ", ..." : "");
}

// pp x cp x tp, saturating: degrees come from a command line.
std::int64_t product_without_data(const MeshDegrees& degrees) {
  std::int64_t product = 1;
  for (const int degree : {degrees.pipeline, degrees.context, degrees.tensor}) {
    if (__builtin_mul_overflow(product, std::int64_t{degree}, &product)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return product;
}

std::string product_problem(const MeshDegrees& requested, int world_size) {
  const std::int64_t others = product_without_data(requested);
  const std::string shown = fmt::format("--pp {} x --cp {} x --tp {} = {}", requested.pipeline,
                                        requested.context, requested.tensor, others);
  if (world_size % others != 0 || others > world_size) {
    return fmt::format(
        "{} does not divide the {} ranks that were started; legal products: {}, or start a multiple of "
        "{} ranks",
        shown, world_size, list_of(divisors_of(world_size)), others);
  }
  if (requested.data != 0 && requested.data != world_size / others) {
    return fmt::format(
        "--dp {} with {} does not make the {} ranks that were started; legal: --dp {} (or leave --dp "
        "out)",
        requested.data, shown, world_size, world_size / others);
  }
  return "";
}

// How `degree` breaks the rule; empty when it does not.
std::string rule_problem(const DivisibilityRule& rule, int degree) {
  const std::string_view axis = short_name(rule.axis);
  switch (rule.rule) {
    case DegreeRule::divisor:
      if (rule.count % degree == 0) return "";
      return fmt::format("{} {} cannot be divided by --{} {}; legal: {}", rule.count, rule.what, axis, degree,
                         list_of(divisors_of(rule.count)));
    case DegreeRule::divisor_or_multiple:
      if (rule.count % degree == 0 || degree % rule.count == 0) return "";
      return fmt::format(
          "{} {} are neither a multiple nor a divisor of --{} {}; legal: {} and multiples of {}", rule.count,
          rule.what, axis, degree, list_of(divisors_of(rule.count)), rule.count);
    case DegreeRule::at_most:
      if (degree <= rule.count) return "";
      return fmt::format("{} {} are fewer than --{} {}; legal: 1 to {}", rule.count, rule.what, axis, degree,
                         rule.count);
  }
  return "";
}

// Degree or coordinate of an axis.
template <class PerAxis>
int number_of(const PerAxis& numbers, Axis axis) {
  switch (axis) {
    case Axis::pipeline:
      return numbers.pipeline;
    case Axis::data:
      return numbers.data;
    case Axis::context:
      return numbers.context;
    case Axis::tensor:
      return numbers.tensor;
  }
  return 0;
}

}  // namespace

std::string_view to_string(Axis axis) {
  switch (axis) {
    case Axis::pipeline:
      return "pipeline";
    case Axis::data:
      return "data";
    case Axis::context:
      return "context";
    case Axis::tensor:
      return "tensor";
  }
  return "?";
}

std::string_view short_name(Axis axis) {
  switch (axis) {
    case Axis::pipeline:
      return "pp";
    case Axis::data:
      return "dp";
    case Axis::context:
      return "cp";
    case Axis::tensor:
      return "tp";
  }
  return "?";
}

std::string AxisSet::name() const {
  std::string text;
  for (const Axis axis : all_axes) {
    if (!contains(axis)) continue;
    if (!text.empty()) text += " x ";
    text += to_string(axis);
  }
  return text.empty() ? "none" : text;
}

int MeshDegrees::of(Axis axis) const {
  return number_of(*this, axis);
}

int MeshCoordinates::of(Axis axis) const {
  return number_of(*this, axis);
}

std::vector<std::string> mesh_problems(const MeshDegrees& requested, int world_size,
                                       std::span<const DivisibilityRule> rules) {
  std::vector<std::string> problems;
  for (const Axis axis : all_axes) {
    const int least = axis == Axis::data ? 0 : 1;
    if (requested.of(axis) >= least) continue;
    problems.push_back(fmt::format("--{} {} is not a degree; legal: {}", short_name(axis), requested.of(axis),
                                   axis == Axis::data ? "1 or more, or 0 for what is left" : "1 or more"));
  }
  if (world_size < 1) problems.push_back(fmt::format("{} ranks are no world", world_size));
  // The product means something only where each factor is a degree.
  if (problems.empty()) {
    const std::string problem = product_problem(requested, world_size);
    if (!problem.empty()) problems.push_back(problem);
  }
  for (const DivisibilityRule& rule : rules) {
    int degree = requested.of(rule.axis);
    // A data degree that is left open is known once the others fit.
    if (rule.axis == Axis::data && degree == 0 && problems.empty()) {
      degree = static_cast<int>(world_size / product_without_data(requested));
    }
    const std::string problem = degree < 1 ? "" : rule_problem(rule, degree);
    if (!problem.empty()) problems.push_back(problem);
  }
  return problems;
}

MeshShape::MeshShape(const MeshDegrees& requested, int world_size, std::span<const DivisibilityRule> rules) {
  const std::vector<std::string> problems = mesh_problems(requested, world_size, rules);
  if (!problems.empty()) {
    fail(ExitCode::configuration, fmt::format("the mesh does not fit:\n  {}", fmt::join(problems, "\n  ")));
  }
  const int data = static_cast<int>(world_size / product_without_data(requested));
  degrees_ = {requested.pipeline, data, requested.context, requested.tensor};
}

int MeshShape::degree(AxisSet axes) const {
  int product = 1;
  for (const Axis axis : all_axes) product *= axes.contains(axis) ? degree(axis) : 1;
  return product;
}

int MeshShape::size() const {
  return degrees_[0] * degrees_[1] * degrees_[2] * degrees_[3];
}

MeshCoordinates MeshShape::coordinates_of(int rank) const {
  require(rank >= 0 && rank < size(), "a rank lies in its mesh");
  MeshCoordinates place;
  place.tensor = rank % degree(Axis::tensor);
  rank /= degree(Axis::tensor);
  place.context = rank % degree(Axis::context);
  rank /= degree(Axis::context);
  place.data = rank % degree(Axis::data);
  place.pipeline = rank / degree(Axis::data);
  return place;
}

int MeshShape::rank_of(const MeshCoordinates& coordinates) const {
  int rank = 0;
  for (const Axis axis : all_axes) {
    require(coordinates.of(axis) >= 0 && coordinates.of(axis) < degree(axis),
            "coordinates lie in their mesh");
    rank = rank * degree(axis) + coordinates.of(axis);
  }
  return rank;
}

int MeshShape::index_in_group(int rank, AxisSet axes) const {
  const MeshCoordinates place = coordinates_of(rank);
  int index = 0;
  for (const Axis axis : all_axes) {
    if (axes.contains(axis)) index = index * degree(axis) + place.of(axis);
  }
  return index;
}

int MeshShape::group_number(int rank, AxisSet axes) const {
  const MeshCoordinates place = coordinates_of(rank);
  int number = 0;
  for (const Axis axis : all_axes) {
    if (!axes.contains(axis)) number = number * degree(axis) + place.of(axis);
  }
  return number;
}

std::vector<int> MeshShape::group_of(int rank, AxisSet axes) const {
  const int number = group_number(rank, axes);
  std::vector<int> ranks;
  for (int other = 0; other < size(); ++other) {
    if (group_number(other, axes) == number) ranks.push_back(other);
  }
  return ranks;
}

std::string MeshShape::summary() const {
  const int ranks = size();
  return fmt::format("pp {} x dp {} x cp {} x tp {} = {} rank{}", degrees_[0], degrees_[1], degrees_[2],
                     degrees_[3], ranks, ranks == 1 ? "" : "s");
}

}  // namespace charter
