// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "src/base/file.hpp"
#include "src/storage/hdf5_attribute.hpp"
#include "src/storage/hdf5_dataset.hpp"
#include "src/storage/hdf5_virtual.hpp"
#include "tests/src/storage/storage_test_support.hpp"

namespace charter {
namespace {

using Extents = std::vector<std::int64_t>;

class Hdf5 : public testing::Test {
 protected:
  // A file with one float data set /t/w of shape [rows, columns] holding 0, 1, 2, ...
  void write_counting_file(const std::string& name, std::int64_t rows, std::int64_t columns,
                           float first = 0.0F) {
    std::vector<float> values(static_cast<std::size_t>(rows * columns));
    std::iota(values.begin(), values.end(), first);
    Hdf5File file = create_hdf5_file(folder_ / name);
    const Hdf5Dataset dataset =
        create_contiguous_dataset(file.id(), "/t/w", DataType::f32, Extents{rows, columns});
    write_block<float>(dataset, Extents{0, 0}, Extents{rows, columns}, values);
    close_hdf5_file(std::move(file), folder_ / name);
  }
  // Adds to a file with the plain library what Charter itself never writes.
  template <class Action>
  void tamper(const std::string& name, const Action& action) {
    const hid_t file = H5Fopen((folder_ / name).c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    action(file);
    ASSERT_GE(H5Fclose(file), 0);
  }
  Hdf5Library library_;
  TemporaryFolder folder_;
};

// A part that fuzzing found.
std::filesystem::path kept_part(const std::string& name) {
  return test::source_folder() / "tests/fuzz/corpus/hdf5_part" / name;
}

template <class Value>
void expect_round_trip(const std::filesystem::path& path, DataType type) {
  std::vector<Value> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<Value>(i * 7 + 1) / static_cast<Value>(3);
  }
  {
    Hdf5File file = create_hdf5_file(path);
    const Hdf5Dataset dataset = create_contiguous_dataset(file.id(), "/a/b/c", type, Extents{4, 6});
    write_block<Value>(dataset, Extents{2, 0}, Extents{2, 6}, std::span<const Value>(values).subspan(12));
    write_block<Value>(dataset, Extents{0, 0}, Extents{2, 6}, std::span<const Value>(values).first(12));
    close_hdf5_file(std::move(file), path);
  }
  const Hdf5File file = open_hdf5_file(path);
  const Hdf5Dataset dataset = open_plain_dataset(file.id(), "/a/b/c");
  const Hdf5Layout layout = require_plain_dataset(dataset);
  EXPECT_EQ(layout.type, type);
  EXPECT_EQ(layout.shape, (Extents{4, 6}));
  std::vector<Value> all(24);
  read_block<Value>(dataset, Extents{0, 0}, Extents{4, 6}, all);
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(all)), std::as_bytes(std::span(values))));
  std::vector<Value> inner(4);
  read_block<Value>(dataset, Extents{1, 3}, Extents{2, 2}, inner);
  EXPECT_EQ(inner, (std::vector<Value>{values[9], values[10], values[15], values[16]}));
}

TEST_F(Hdf5, EveryElementTypeComesBackBitForBit) {
  expect_round_trip<float>(folder_ / "f32.h5", DataType::f32);
  expect_round_trip<double>(folder_ / "f64.h5", DataType::f64);
  expect_round_trip<std::int64_t>(folder_ / "i64.h5", DataType::i64);
  expect_round_trip<std::int32_t>(folder_ / "i32.h5", DataType::i32);
  expect_round_trip<std::uint8_t>(folder_ / "u8.h5", DataType::u8);
}

TEST_F(Hdf5, ScalarsAndEmptyDataSetsComeBack) {
  {
    Hdf5File file = create_hdf5_file(folder_ / "a.h5");
    const float pi = 3.25F;
    write_block<float>(create_contiguous_dataset(file.id(), "scalar", DataType::f32, {}), {}, {}, {&pi, 1});
    create_contiguous_dataset(file.id(), "empty", DataType::f32, Extents{0, 3});
    close_hdf5_file(std::move(file), folder_ / "a.h5");
  }
  const Hdf5File file = open_hdf5_file(folder_ / "a.h5");
  float value = 0.0F;
  read_block<float>(open_plain_dataset(file.id(), "scalar"), {}, {}, {&value, 1});
  EXPECT_EQ(value, 3.25F);
  EXPECT_EQ(require_plain_dataset(open_plain_dataset(file.id(), "empty")).shape, (Extents{0, 3}));
}

TEST_F(Hdf5, BlocksOutsideOrOfAnotherTypeAreRefused) {
  write_counting_file("a.h5", 4, 6);
  const Hdf5File file = open_hdf5_file(folder_ / "a.h5");
  const Hdf5Dataset dataset = open_plain_dataset(file.id(), "/t/w");
  std::vector<float> values(24);
  std::vector<double> doubles(24);
  expect_error(ExitCode::bad_input, {"a.h5", "/t/w", "dim 0"}, [&] {
    read_block<float>(dataset, Extents{1, 0}, Extents{4, 6}, values);
  });
  expect_error(ExitCode::bad_input, {"2 dims"},
               [&] { read_block<float>(dataset, Extents{0}, Extents{24}, values); });
  expect_error(ExitCode::bad_input, {"F64"}, [&] {
    read_block<double>(dataset, Extents{0, 0}, Extents{4, 6}, doubles);
  });
  expect_error(ExitCode::internal, {"as many elements"}, [&] {
    read_block<float>(dataset, Extents{0, 0}, Extents{4, 5}, values);
  });
}

TEST_F(Hdf5, AttributesComeBack) {
  const std::string long_text(100000, 'x');
  {
    Hdf5File file = create_hdf5_file(folder_ / "a.h5");
    const Hdf5Group group = create_hdf5_group(file.id(), "/t/deep/er");
    write_attribute(group.id(), "text", "Gr\xc3\xbc\xc3\x9f\x65");
    write_attribute(group.id(), "empty", "");
    write_attribute(group.id(), "long", long_text);
    write_attribute(group.id(), "number", std::int64_t{-5});
    write_attribute(group.id(), "real", 0.1);
    write_attribute(group.id(), "shape", std::span<const std::int64_t>(Extents{3, 4}));
    write_attribute(group.id(), "none", std::span<const std::int64_t>());
    close_hdf5_file(std::move(file), folder_ / "a.h5");
  }
  const Hdf5File file = open_hdf5_file(folder_ / "a.h5");
  const Hdf5Group group = open_hdf5_group(file.id(), "/t/deep/er");
  EXPECT_EQ(read_text_attribute(group.id(), "text"), "Gr\xc3\xbc\xc3\x9f\x65");
  EXPECT_EQ(read_text_attribute(group.id(), "empty"), "");
  EXPECT_EQ(read_text_attribute(group.id(), "long"), long_text);
  EXPECT_EQ(read_integer_attribute(group.id(), "number"), -5);
  EXPECT_EQ(read_real_attribute(group.id(), "real"), 0.1);
  EXPECT_EQ(read_integers_attribute(group.id(), "shape"), (Extents{3, 4}));
  EXPECT_TRUE(read_integers_attribute(group.id(), "none").empty());
  EXPECT_FALSE(has_attribute(group.id(), "absent"));
  expect_error(ExitCode::bad_input, {"a.h5", "/t/deep/er", "absent", "missing"},
               [&] { read_integer_attribute(group.id(), "absent"); });
  expect_error(ExitCode::bad_input, {"number"}, [&] { read_text_attribute(group.id(), "number"); });
  expect_error(ExitCode::bad_input, {"real"}, [&] { read_integer_attribute(group.id(), "real"); });
  expect_error(ExitCode::bad_input, {"at most 10"}, [&] { read_text_attribute(group.id(), "long", 10); });
}

TEST_F(Hdf5, GroupsAreListedAndLookedUp) {
  write_counting_file("a.h5", 2, 2);
  const Hdf5File file = open_hdf5_file(folder_ / "a.h5");
  EXPECT_EQ(list_hdf5_group(file.id()), std::vector<std::string>{"t"});
  EXPECT_TRUE(hdf5_path_exists(file.id(), "/t/w"));
  EXPECT_FALSE(hdf5_path_exists(file.id(), "/t/x"));
  EXPECT_FALSE(hdf5_path_exists(file.id(), "/s/w"));
  expect_error(ExitCode::bad_input, {"there is no /t/x"}, [&] { open_plain_dataset(file.id(), "/t/x"); });
}

TEST_F(Hdf5, MissingTruncatedAndForeignFilesAreRefused) {
  expect_error(ExitCode::missing_input, {"absent.h5"}, [&] { open_hdf5_file(folder_ / "absent.h5"); });
  expect_error(ExitCode::missing_input, {"regular file"}, [&] { open_hdf5_file(folder_.path()); });
  write_bytes(folder_ / "text.h5", "hello");
  expect_error(ExitCode::bad_input, {"text.h5", "not a complete HDF5 file"},
               [&] { open_hdf5_file(folder_ / "text.h5"); });
  write_counting_file("a.h5", 100, 100);
  const std::string whole = read_bytes(folder_ / "a.h5");
  for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{100}, std::size_t{0}}) {
    write_bytes(folder_ / "cut.h5", whole.substr(0, size));
    expect_error(ExitCode::bad_input, {"cut.h5"}, [&] { open_hdf5_file(folder_ / "cut.h5"); });
  }
}

TEST_F(Hdf5, AFileItsWriterNeverClosedIsRefused) {
  Hdf5File file = create_hdf5_file(folder_ / "a.h5");
  const Hdf5Dataset dataset = create_contiguous_dataset(file.id(), "w", DataType::f32, Extents{4});
  const std::vector<float> values(4, 1.0F);
  write_block<float>(dataset, Extents{0}, Extents{4}, values);
  H5Fflush(file.id(), H5F_SCOPE_GLOBAL);
  std::filesystem::copy_file(folder_ / "a.h5", folder_ / "copy.h5");
  expect_error(ExitCode::bad_input, {"copy.h5"}, [&] { open_hdf5_file(folder_ / "copy.h5"); });
}

TEST_F(Hdf5, WhatTheLibrarySaysInSeveralLinesIsOneInAMessage) {
  H5Epush2(H5E_DEFAULT, "file.c", "H5FD_sec2_read", 1, H5E_ERR_CLS, H5E_IO, H5E_READERROR,
           "file read failed: time = Tue Dec  1 13:00:00 2026\n, filename = 'part_0000.h5'");
  EXPECT_EQ(hdf5_error_text(),
            "H5FD_sec2_read: file read failed: time = Tue Dec 1 13:00:00 2026 , filename = 'part_0000.h5'");
}

TEST_F(Hdf5, AFullDiskIsAnErrorThatSaysSo) {
  const std::vector<float> values(100000, 1.0F);
  Hdf5File file = create_hdf5_file(folder_ / "a.h5");
  const Hdf5Dataset dataset = create_contiguous_dataset(file.id(), "w", DataType::f32, Extents{100000});
  const FileSizeLimit limit(200000);
  expect_error(ExitCode::cannot_write, {"a.h5: /w", "File too large"},
               [&] { write_block<float>(dataset, Extents{0}, Extents{100000}, values); });
}

TEST_F(Hdf5, AnExistingFileIsNotOverwritten) {
  write_counting_file("a.h5", 2, 2);
  expect_error(ExitCode::cannot_write, {"a.h5"}, [&] { create_hdf5_file(folder_ / "a.h5"); });
  expect_error(ExitCode::cannot_write, {"no/a.h5"}, [&] { create_hdf5_file(folder_ / "no/a.h5"); });
}

TEST_F(Hdf5, LinksThatLeadElsewhereAreRefused) {
  write_counting_file("a.h5", 2, 2);
  write_counting_file("b.h5", 2, 2);
  tamper("a.h5", [](hid_t file) {
    H5Lcreate_external("b.h5", "/t/w", file, "/t/outside", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("b.h5", "/t", file, "/group", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/t/w", file, "/t/soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/loop", file, "/loop", H5P_DEFAULT, H5P_DEFAULT);
  });
  const Hdf5File file = open_hdf5_file(folder_ / "a.h5");
  expect_error(ExitCode::bad_input, {"/t/outside", "external link"},
               [&] { open_plain_dataset(file.id(), "/t/outside"); });
  expect_error(ExitCode::bad_input, {"/group", "external link"},
               [&] { open_plain_dataset(file.id(), "/group/w"); });
  expect_error(ExitCode::bad_input, {"/t/soft", "soft link"},
               [&] { open_plain_dataset(file.id(), "/t/soft"); });
  expect_error(ExitCode::bad_input, {"/loop", "soft link"}, [&] { open_hdf5_group(file.id(), "/loop"); });
}

// Makes /bad with the plain library, after `prepare` has filled the creation list.
template <class Prepare>
void make_dataset(hid_t file, hid_t type, const Prepare& prepare) {
  const hsize_t extent = 8;
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  prepare(creation);
  const hid_t dataset = H5Dcreate2(file, "/bad", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  ASSERT_GE(dataset, 0);
  H5Dclose(dataset);
  H5Pclose(creation);
  H5Sclose(space);
}

TEST_F(Hdf5, DataSetsThatAreNotPlainAreRefused) {
  struct Case {
    std::string says;
    hid_t type;
    void (*prepare)(hid_t);
  };
  const std::vector<Case> cases{
      {"filter 32015 is not allowed", H5T_IEEE_F32LE,
       [](hid_t list) {
         const hsize_t chunk = 4;
         H5Pset_chunk(list, 1, &chunk);
         H5Pset_filter(list, 32015, H5Z_FLAG_OPTIONAL, 0, nullptr);
       }},
      {"filter 1 is not allowed", H5T_IEEE_F32LE,
       [](hid_t list) {
         const hsize_t chunk = 4;
         H5Pset_chunk(list, 1, &chunk);
         H5Pset_deflate(list, 6);
       }},
      {"external storage", H5T_IEEE_F32LE, [](hid_t list) { H5Pset_external(list, "/etc/hostname", 0, 32); }},
      {"chunked", H5T_IEEE_F32LE,
       [](hid_t list) {
         const hsize_t chunk = 4;
         H5Pset_chunk(list, 1, &chunk);
       }},
      {"compact", H5T_IEEE_F32LE, [](hid_t list) { H5Pset_layout(list, H5D_COMPACT); }},
      {"never written", H5T_IEEE_F32LE, [](hid_t) {}},
      {"element type", H5T_IEEE_F32BE, [](hid_t) {}},
      {"element type", H5T_C_S1, [](hid_t) {}},
  };
  for (const Case& item : cases) {
    SCOPED_TRACE(item.says);
    std::filesystem::remove(folder_ / "a.h5");
    write_counting_file("a.h5", 2, 2);
    tamper("a.h5", [&](hid_t file) { make_dataset(file, item.type, item.prepare); });
    const Hdf5File file = open_hdf5_file(folder_ / "a.h5");
    expect_error(ExitCode::bad_input, {"/bad", item.says}, [&] { open_plain_dataset(file.id(), "/bad"); });
  }
}

// Found by fuzzing: HDF5 asks for the length that stands in its own metadata before it compares their
// checksum.
TEST_F(Hdf5, ALengthThatNoMemoryHoldsIsRefused) {
  const Hdf5File file = open_hdf5_file(kept_part("length_that_no_memory_holds"));
  const Hdf5Group group = open_hdf5_group(file.id(), "/weights");
  expect_error(ExitCode::bad_input, {"length_that_no_memory_holds"}, [&] {
    for (const std::string& name : list_hdf5_group(group.id())) {
      for (const char* block : {"/0", "/1", "/2", "/3", "/4"}) {
        const std::string path = "/weights/" + name + block;
        if (hdf5_path_exists(file.id(), path)) open_plain_dataset(file.id(), path);
      }
    }
  });
}

// Walks a part as deep as it can be read.
void walk_part(const std::filesystem::path& path) {
  const Hdf5File file = open_hdf5_file(path);
  for (const std::string& group : list_hdf5_group(file.id())) {
    const Hdf5Group tensors = open_hdf5_group(file.id(), group);
    for (const std::string& tensor : list_hdf5_group(tensors.id())) {
      const Hdf5Group blocks = open_hdf5_group(tensors.id(), tensor);
      for (const std::string& block : list_hdf5_group(blocks.id())) {
        try {
          open_plain_dataset(blocks.id(), block);
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ExitCode::bad_input) << error.what();
        }
      }
    }
  }
}

// Found by fuzzing: HDF5 1.10 cannot close this file, and its own end would then follow a dangling pointer.
TEST(Hdf5Library, EndsWithoutACrashAfterAFileThatCannotBeClosed) {
  const Hdf5Library library;
  walk_part(kept_part("close_fails"));
}

TEST_F(Hdf5, AVirtualDataSetShowsTheWholeTensorToOtherPrograms) {
  write_counting_file("part_0.h5", 2, 3, 100.0F);
  write_counting_file("part_1.h5", 3, 3, 200.0F);
  {
    Hdf5File view = create_hdf5_file(folder_ / "view.h5");
    make_virtual_dataset(view, "/t/whole", DataType::f32, Extents{5, 3},
                         {{"part_0.h5", "/t/w", {0, 0}, {2, 3}}, {"part_1.h5", "/t/w", {2, 0}, {3, 3}}});
    expect_error(ExitCode::internal, {"inside its tensor"}, [&] {
      make_virtual_dataset(view, "/x", DataType::f32, Extents{5, 3}, {{"part_0.h5", "/t/w", {4, 0}, {2, 3}}});
    });
    expect_error(ExitCode::internal, {"inside the folder"}, [&] {
      make_virtual_dataset(view, "/x", DataType::f32, Extents{2, 3},
                           {{"../part_0.h5", "/t/w", {0, 0}, {2, 3}}});
    });
    close_hdf5_file(std::move(view), folder_ / "view.h5");
  }
  {
    const Hdf5File view = open_hdf5_file(folder_ / "view.h5");
    expect_error(ExitCode::bad_input, {"virtual"}, [&] { open_plain_dataset(view.id(), "/t/whole"); });
    const Hdf5Dataset whole(H5Dopen2(view.id(), "/t/whole", H5P_DEFAULT));
    std::vector<float> values(15);
    read_block<float>(whole, Extents{0, 0}, Extents{5, 3}, values);
    EXPECT_EQ(values, (std::vector<float>{100, 101, 102, 103, 104, 105, 200, 201, 202, 203, 204, 205, 206,
                                          207, 208}));
  }
  if (std::system("h5dump --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no h5dump";
  const std::string command = "cd / && h5dump -d /t/whole " + (folder_ / "view.h5").string();
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string shown;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) shown += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_NE(shown.find("( 5, 3 )"), std::string::npos) << shown;
  EXPECT_NE(shown.find("206, 207, 208"), std::string::npos) << shown;
}

TEST(Hdf5WithoutGuard, IsAnErrorOfOurOwn) {
  expect_error(ExitCode::internal, {"Hdf5Library"}, [] { open_hdf5_file("x.h5"); });
}

}  // namespace
}  // namespace charter
