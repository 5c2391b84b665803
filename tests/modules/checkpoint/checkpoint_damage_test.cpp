// SPDX-License-Identifier: Apache-2.0
// Checkpoints that something happened to on disk: found, put aside with a reason, the one before used; and if
// none is left, never a silent start from scratch.
#include <functional>

#include <unistd.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "tests/modules/checkpoint/checkpoint_test_support.hpp"

namespace charter::test {
namespace {

namespace fs = std::filesystem;

class CheckpointDamageTest : public testing::Test {
 protected:
  // Two checkpoints, steps 1 and 2, with two parts each; then step 2 is damaged by `damage`.
  void save_two_and(const std::function<void(const fs::path& step2)>& damage) {
    CheckpointStore store(self_, run(), small_options(2));
    ASSERT_TRUE(save_alone(store, self_, 1, 1).committed);
    ASSERT_TRUE(save_alone(store, self_, 2, 2).committed);
    damage(step(2));
  }

  // Opening finds step 1 whole, step 2 put aside for a reason that contains `reason`, and never again.
  void expect_fallback(const char* reason) {
    CheckpointStore store(self_, run(), small_options());
    const auto reader = store.find_latest();
    ASSERT_TRUE(reader.has_value());
    EXPECT_EQ(reader->step(), 1);
    expect_state(*reader, self_, small_state(), 1);
    EXPECT_TRUE(fs::exists(checkpoints() / "step-0000000002.bad"));
    EXPECT_THAT(read_bytes(checkpoints() / "BAD"), testing::HasSubstr(reason));
    EXPECT_EQ(store.find_latest()->step(), 1);
  }

  fs::path run() const { return folder_.path(); }
  fs::path checkpoints() const { return folder_ / "checkpoints"; }
  fs::path step(std::int64_t number) const { return checkpoints() / step_folder_name(number); }

  TemporaryFolder folder_;
  Communicator self_ = Communicator::self("self");
};

TEST_F(CheckpointDamageTest, APartCutShortByOneByteIsFound) {
  save_two_and([](const fs::path& step2) {
    const fs::path part = step2 / "part_0001.h5";
    fs::resize_file(part, fs::file_size(part) - 1);
  });
  expect_fallback("cut short");
}

TEST_F(CheckpointDamageTest, APartCutInHalfOrEmptiedIsFound) {
  save_two_and([](const fs::path& step2) {
    fs::resize_file(step2 / "part_0000.h5", fs::file_size(step2 / "part_0000.h5") / 2);
  });
  expect_fallback("part_0000.h5");
  fs::remove_all(checkpoints());
  save_two_and([](const fs::path& step2) { fs::resize_file(step2 / "part_0000.h5", 0); });
  expect_fallback("has 0 bytes");
}

TEST_F(CheckpointDamageTest, AnAppendedByteIsFound) {
  save_two_and([](const fs::path& step2) {
    write_bytes(step2 / "part_0000.h5", read_bytes(step2 / "part_0000.h5") + "x");
  });
  expect_fallback("part_0000.h5");
}

TEST_F(CheckpointDamageTest, AMissingPartIsFound) {
  save_two_and([](const fs::path& step2) { fs::remove(step2 / "part_0001.h5"); });
  expect_fallback("part_0001.h5: No such file");
}

TEST_F(CheckpointDamageTest, APartThatIsAFolderIsFound) {
  save_two_and([](const fs::path& step2) {
    fs::remove(step2 / "part_0001.h5");
    fs::create_directory(step2 / "part_0001.h5");
  });
  expect_fallback("part_0001.h5");
}

TEST_F(CheckpointDamageTest, PartsOfTwoStepsSwappedAreFound) {
  save_two_and([this](const fs::path& step2) {
    ASSERT_EQ(fs::file_size(step(1) / "part_0000.h5"), fs::file_size(step2 / "part_0000.h5"))
        << "sizes alone must not tell them apart";
    fs::copy_file(step(1) / "part_0000.h5", step2 / "part_0000.h5", fs::copy_options::overwrite_existing);
  });
  expect_fallback("belongs to another checkpoint");
}

TEST_F(CheckpointDamageTest, TwoPartsOfOneStepSwappedAreFound) {
  save_two_and([](const fs::path& step2) {
    fs::rename(step2 / "part_0000.h5", step2 / "x");
    fs::rename(step2 / "part_0001.h5", step2 / "part_0000.h5");
    fs::rename(step2 / "x", step2 / "part_0001.h5");
  });
  expect_fallback("part_0000.h5");
}

TEST_F(CheckpointDamageTest, AMissingOrForeignManifestIsFound) {
  save_two_and([](const fs::path& step2) { fs::remove(step2 / "MANIFEST.json"); });
  expect_fallback("never committed");
  fs::remove_all(checkpoints());
  save_two_and([this](const fs::path& step2) {
    fs::copy_file(step(1) / "MANIFEST.json", step2 / "MANIFEST.json", fs::copy_options::overwrite_existing);
  });
  expect_fallback("step-0000000002");
}

TEST_F(CheckpointDamageTest, AChangedTextFileIsFound) {
  save_two_and([](const fs::path& step2) { flip_bit(step2 / "files/tokenizer.json", 3, 0); });
  expect_fallback("files/tokenizer.json");
}

TEST_F(CheckpointDamageTest, DamageMetWhileLoadingFallsBackToo) {
  save_two_and([](const fs::path& step2) {
    const std::string bytes = read_bytes(step2 / "part_0000.h5");
    // The first float of weights/model.embed_tokens.weight.
    const auto value = static_cast<float>(value_at(small_state()[0], 0, 2));
    const std::string_view pattern(reinterpret_cast<const char*>(&value), sizeof(value));
    const std::size_t at = bytes.find(pattern);
    ASSERT_NE(at, std::string::npos);
    flip_bit(step2 / "part_0000.h5", static_cast<std::int64_t>(at), 0);
  });
  CheckpointStore store(self_, run(), small_options());
  int calls = 0;
  const auto restored = store.restore([&](const CheckpointReader& reader) {
    ++calls;
    expect_state(reader, self_, small_state(), static_cast<int>(reader.step()));
  });
  EXPECT_EQ(restored, 1);
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(read_bytes(checkpoints() / "BAD"), testing::HasSubstr("changed on disk"));
}

// Blocks and manifest are each right by themselves, but not those of one tensor.
TEST_F(CheckpointDamageTest, AFingerprintThatIsNotThatOfTheValuesIsFound) {
  save_two_and([](const fs::path& step2) {
    std::string text = read_bytes(step2 / "MANIFEST.json");
    const std::size_t at = text.find("\"fingerprint\":\"") + 15;
    text[at] = text[at] == '0' ? '1' : '0';
    write_bytes(step2 / "MANIFEST.json", reseal(text));
  });
  CheckpointStore store(self_, run(), small_options());
  const auto restored = store.restore([&](const CheckpointReader& reader) {
    expect_state(reader, self_, small_state(), static_cast<int>(reader.step()));
  });
  EXPECT_EQ(restored, 1);
  EXPECT_THAT(read_bytes(checkpoints() / "BAD"), testing::HasSubstr("has fingerprint"));
}

TEST_F(CheckpointDamageTest, AnErrorOfTheCallerIsNotTakenForDamage) {
  save_two_and([](const fs::path&) {});
  CheckpointStore store(self_, run(), small_options());
  const std::vector<ExpectedTensor> other = {{"weights", "not.there", {3}}};
  expect_error([&] { store.restore([&](const CheckpointReader& reader) { reader.require_exactly(other); }); },
               ExitCode::bad_input, {"weights/not.there is missing"});
  EXPECT_TRUE(fs::exists(step(2)));
}

// Flips anywhere in a part, values and HDF5's own metadata alike: either refused, or every value is still
// right.
TEST_F(CheckpointDamageTest, NoFlippedBitOfAPartGivesAWrongValue) {
  save_two_and([](const fs::path&) {});
  const fs::path part = step(2) / "part_0000.h5";
  const auto size = static_cast<std::int64_t>(fs::file_size(part));
  int refused = 0;
  int flips = 0;
  for (std::int64_t byte = 0; byte < size; byte += 1 + (byte * 7919) % 331) {
    const int bit = static_cast<int>(byte % 8);
    flip_bit(part, byte, bit);
    try {
      const CheckpointReader reader = read_checkpoint_folder(step(2));
      reader.verify_blocks(0, 1);
      expect_state(reader, self_, small_state(), 2);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input) << error.what();
      ++refused;
    }
    flip_bit(part, byte, bit);
    ++flips;
    ASSERT_FALSE(HasFailure()) << "byte " << byte << " bit " << bit;
  }
  EXPECT_GT(refused, flips / 10);
  read_checkpoint_folder(step(2)).verify_blocks(0, 1);
}

TEST_F(CheckpointDamageTest, LatestIsOnlyAHint) {
  save_two_and([](const fs::path&) {});
  for (const char* text : {"step-0000000001\n", "step-0000009999\n", "../../../etc\n", ""}) {
    write_bytes(checkpoints() / "LATEST", text);
    EXPECT_EQ(CheckpointStore(self_, run(), small_options()).find_latest()->step(), 2) << text;
  }
  fs::remove(checkpoints() / "LATEST");
  EXPECT_EQ(CheckpointStore(self_, run(), small_options()).find_latest()->step(), 2);
}

TEST_F(CheckpointDamageTest, NoneLeftIsAnErrorWithAllReasonsEachTime) {
  save_two_and([this](const fs::path& step2) {
    fs::remove(step2 / "MANIFEST.json");
    fs::resize_file(step(1) / "part_0000.h5", 100);
  });
  CheckpointStore store(self_, run(), small_options());
  expect_error(
      [&] { store.find_latest(); }, ExitCode::missing_input,
      {"step-0000000001: ", "has 100 bytes", "step-0000000002: ", "never committed", "from scratch"});
  // A restart does not take the folder for a new one either.
  CheckpointStore again(self_, run(), small_options());
  expect_error([&] { again.restore([](const CheckpointReader&) {}); }, ExitCode::missing_input,
               {"step-0000000001.bad", "step-0000000002.bad"});
  // A repaired one that gets its name back is used.
  fs::remove_all(step(1));
  CheckpointStore other(self_, folder_ / "other", small_options());
  ASSERT_TRUE(save_alone(other, self_, 1, 9).committed);
  fs::rename(folder_ / "other/checkpoints/step-0000000001", step(1));
  EXPECT_EQ(again.find_latest()->step(), 1);
}

TEST_F(CheckpointDamageTest, ACheckpointThatMayNotBeReadIsNotCalledDamaged) {
  constexpr uid_t nobody = 65534;
  const bool is_root = ::geteuid() == 0;
  // Root may read everything, so it becomes someone else for a while.
  if (is_root) {
    ASSERT_EQ(::chown(folder_.path().c_str(), nobody, static_cast<gid_t>(-1)), 0);
    ASSERT_EQ(::seteuid(nobody), 0);
  }
  save_two_and([](const fs::path& step2) { fs::permissions(step2 / "MANIFEST.json", fs::perms::none); });
  {
    CheckpointStore store(self_, run(), small_options());
    expect_error([&] { store.find_latest(); }, ExitCode::missing_input,
                 {"MANIFEST.json", "Permission denied"});
  }
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_TRUE(fs::exists(step(2)));
}

TEST_F(CheckpointDamageTest, ANewerSchemaStopsInsteadOfFallingBack) {
  save_two_and([](const fs::path&) {});
  // Only the text matters here: the seal is right, the schema is not ours.
  std::string text = read_bytes(step(2) / "MANIFEST.json");
  const std::size_t at = text.find("[1,0]");
  ASSERT_NE(at, std::string::npos);
  text[at + 1] = '2';
  write_bytes(step(2) / "MANIFEST.json", reseal(text));
  CheckpointStore store(self_, run(), small_options());
  expect_error([&] { store.find_latest(); }, ExitCode::configuration, {"schema 2"});
  EXPECT_TRUE(fs::exists(step(2)));
}

}  // namespace
}  // namespace charter::test
