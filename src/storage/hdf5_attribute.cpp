// SPDX-License-Identifier: Apache-2.0
#include "src/storage/hdf5_attribute.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/checked_math.hpp"
#include "src/storage/hdf5_dataset.hpp"
#include "src/storage/hdf5_types.hpp"

namespace charter {
namespace {

constexpr std::int64_t most_list_elements = 65536;

std::string place_of(hid_t object, const std::string& name) {
  return fmt::format("{}: attribute {}", hdf5_object_name(object), name);
}

void write_values(hid_t object, const std::string& name, hid_t stored, hid_t memory, const Hdf5Space& space,
                  const void* values) {
  require_hdf5_library();
  const std::string where = place_of(object, name);
  Hdf5Attribute attribute(
      hdf5_check(H5Acreate2(object, name.c_str(), stored, space.id(), H5P_DEFAULT, H5P_DEFAULT),
                 ExitCode::cannot_write, where, "creating"));
  hdf5_check(H5Awrite(attribute.id(), memory, values), ExitCode::cannot_write, where, "writing");
  attribute.close(ExitCode::cannot_write, where);
}

struct OpenAttribute {
  Hdf5Attribute attribute;
  Hdf5Type type;
  std::vector<std::int64_t> shape;
  std::string where;
};

OpenAttribute open_attribute(hid_t object, const std::string& name) {
  require_hdf5_library();
  OpenAttribute result;
  result.where = place_of(object, name);
  if (!has_attribute(object, name)) fail(ExitCode::bad_input, result.where + " is missing");
  result.attribute = Hdf5Attribute(
      hdf5_check(H5Aopen(object, name.c_str(), H5P_DEFAULT), ExitCode::bad_input, result.where, "opening"));
  result.type = Hdf5Type(
      hdf5_check(H5Aget_type(result.attribute.id()), ExitCode::bad_input, result.where, "reading the type"));
  const Hdf5Space space(hdf5_check(H5Aget_space(result.attribute.id()), ExitCode::bad_input, result.where,
                                   "reading the space"));
  result.shape = extents_of(space.id(), result.where);
  return result;
}

template <class Value>
void require_type(const OpenAttribute& open, std::size_t rank) {
  if (data_type_of(open.type.id()) != MemoryType<Value>::type || open.shape.size() != rank) {
    fail(ExitCode::bad_input,
         fmt::format("{}: expected {} with {} dims", open.where, to_string(MemoryType<Value>::type), rank));
  }
}

template <class Value>
void read_values(const OpenAttribute& open, Value* values) {
  hdf5_check(H5Aread(open.attribute.id(), MemoryType<Value>::id(), values), ExitCode::bad_input, open.where,
             "reading");
}

template <class Value>
Value read_scalar(hid_t object, const std::string& name) {
  const OpenAttribute open = open_attribute(object, name);
  require_type<Value>(open, 0);
  Value value{};
  read_values(open, &value);
  return value;
}

Hdf5Type text_type(std::size_t bytes) {
  Hdf5Type type(hdf5_check(H5Tcopy(H5T_C_S1), ExitCode::internal, "HDF5", "H5Tcopy"));
  hdf5_check(H5Tset_size(type.id(), bytes), ExitCode::internal, "HDF5", "H5Tset_size");
  hdf5_check(H5Tset_cset(type.id(), H5T_CSET_UTF8), ExitCode::internal, "HDF5", "H5Tset_cset");
  return type;
}

}  // namespace

void write_attribute(hid_t object, const std::string& name, const std::string& text) {
  require(text.find('\0') == std::string::npos, "attribute text contains no NUL");
  const Hdf5Type type = text_type(text.size() + 1);
  write_values(object, name, type.id(), type.id(), make_hdf5_space({}), text.c_str());
}

void write_attribute(hid_t object, const std::string& name, const char* text) {
  write_attribute(object, name, std::string(text));
}

void write_attribute(hid_t object, const std::string& name, std::int64_t value) {
  write_values(object, name, hdf5_stored_type(DataType::i64), H5T_NATIVE_INT64, make_hdf5_space({}), &value);
}

void write_attribute(hid_t object, const std::string& name, double value) {
  write_values(object, name, hdf5_stored_type(DataType::f64), H5T_NATIVE_DOUBLE, make_hdf5_space({}), &value);
}

void write_attribute(hid_t object, const std::string& name, std::span<const std::int64_t> values) {
  require(static_cast<std::int64_t>(values.size()) <= most_list_elements, "an attribute's list is short");
  const std::int64_t count = static_cast<std::int64_t>(values.size());
  const std::int64_t none = 0;  // HDF5 wants a buffer even for an empty list
  write_values(object, name, hdf5_stored_type(DataType::i64), H5T_NATIVE_INT64, make_hdf5_space({&count, 1}),
               values.empty() ? &none : values.data());
}

bool has_attribute(hid_t object, const std::string& name) {
  return hdf5_check(H5Aexists(object, name.c_str()), ExitCode::bad_input, hdf5_object_name(object),
                    "looking for attribute " + name) > 0;
}

std::string read_text_attribute(hid_t object, const std::string& name, std::int64_t limit_bytes) {
  const OpenAttribute open = open_attribute(object, name);
  if (H5Tget_class(open.type.id()) != H5T_STRING || H5Tis_variable_str(open.type.id()) != 0 ||
      !open.shape.empty()) {
    fail(ExitCode::bad_input, open.where + ": expected one text of fixed length");
  }
  const std::size_t bytes = H5Tget_size(open.type.id());
  if (bytes > static_cast<std::size_t>(limit_bytes)) {
    fail(ExitCode::bad_input,
         fmt::format("{}: {} bytes of text, at most {} are accepted", open.where, bytes, limit_bytes));
  }
  std::string text(bytes, '\0');
  hdf5_check(H5Aread(open.attribute.id(), open.type.id(), text.data()), ExitCode::bad_input, open.where,
             "reading");
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

std::int64_t read_integer_attribute(hid_t object, const std::string& name) {
  return read_scalar<std::int64_t>(object, name);
}

double read_real_attribute(hid_t object, const std::string& name) {
  return read_scalar<double>(object, name);
}

std::vector<std::int64_t> read_integers_attribute(hid_t object, const std::string& name) {
  const OpenAttribute open = open_attribute(object, name);
  require_type<std::int64_t>(open, 1);
  if (open.shape[0] > most_list_elements) {
    fail(ExitCode::bad_input, fmt::format("{}: a list of {} elements, at most {} are accepted", open.where,
                                          open.shape[0], most_list_elements));
  }
  std::vector<std::int64_t> values(static_cast<std::size_t>(open.shape[0]));
  if (!values.empty()) read_values(open, values.data());
  return values;
}

}  // namespace charter
