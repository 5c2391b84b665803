// SPDX-License-Identifier: Apache-2.0
#include "src/options/option_types.hpp"

#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace charter {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

TEST(OptionTypes, IntegersAreWholeTextsThatFit64Bits) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("+12"), 12);
  EXPECT_EQ(parse_integer("9223372036854775807"), largest);
  for (const char* bad :
       {"", "1.5", "12x", " 12", "12 ", "1e3", "9223372036854775808", "+-1", "0x10", "nan", "--1"}) {
    EXPECT_THROW(parse_integer(bad), BadValue) << bad;
  }
  EXPECT_EQ(parse_unsigned("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_THROW(parse_unsigned("-1"), BadValue);
  EXPECT_THROW(parse_unsigned("18446744073709551616"), BadValue);
}

TEST(OptionTypes, RealsAreFinite) {
  EXPECT_EQ(parse_real("1e-4"), 1e-4);
  EXPECT_EQ(parse_real("+.5"), 0.5);
  EXPECT_EQ(parse_real("-0"), 0.0);
  for (const char* bad : {"nan", "NaN", "-nan", "inf", "-inf", "infinity", "1e400", "-1e400", "1e-400", "",
                          "1,5", "0x1p3", "1e", "1 ", "1f"}) {
    EXPECT_THROW(parse_real(bad), BadValue) << bad;
  }
}

TEST(OptionTypes, RealsReadBackToTheSameBits) {
  for (const double value : {0.1, 1e-4, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -2.5, 100.0}) {
    EXPECT_EQ(parse_real(format_real(value)), value);
  }
}

TEST(OptionTypes, DurationsTakeUnits) {
  EXPECT_EQ(parse_duration("90").seconds, 90);
  EXPECT_EQ(parse_duration("90s").seconds, 90);
  EXPECT_EQ(parse_duration("15m").seconds, 900);
  EXPECT_EQ(parse_duration("2h").seconds, 7200);
  EXPECT_EQ(parse_duration("1.5h").seconds, 5400);
  EXPECT_EQ(parse_duration("1d").seconds, 86400);
  EXPECT_EQ(parse_duration("1h30m").seconds, 5400);
  EXPECT_EQ(parse_duration("1d2h3m4.5s").seconds, 93784.5);
  for (const char* bad :
       {"", "-1", "h", "1x", "1m1h", "1h1h", "1h30", "nan", "inf", "1e400", "1 h", "1e308d", "1h-5m"}) {
    EXPECT_THROW(parse_duration(bad), BadValue) << bad;
  }
}

TEST(OptionTypes, DurationsReadBackToTheSameValue) {
  for (const double seconds :
       {0.0, 0.25, 1.0, 59.0, 60.0, 90.0, 3600.0, 5400.0, 7200.0, 86401.0, 1e300, 0.1}) {
    const std::string text = format_duration({seconds});
    EXPECT_EQ(parse_duration(text).seconds, seconds) << text;
  }
  EXPECT_EQ(format_duration({7200}), "2h");
  EXPECT_EQ(format_duration({900}), "15m");
  EXPECT_EQ(format_duration({90}), "90s");
}

TEST(OptionTypes, ByteSizesTakeDecimalAndBinarySuffixes) {
  EXPECT_EQ(parse_byte_size("4096").bytes, 4096);
  EXPECT_EQ(parse_byte_size("4k").bytes, 4000);
  EXPECT_EQ(parse_byte_size("4KiB").bytes, 4096);
  EXPECT_EQ(parse_byte_size("1.5G").bytes, 1'500'000'000);
  EXPECT_EQ(parse_byte_size("1.5Gi").bytes, 1'610'612'736);
  EXPECT_EQ(parse_byte_size("2MB").bytes, 2'000'000);
  EXPECT_EQ(parse_byte_size("0.1k").bytes, 100);
  EXPECT_EQ(parse_byte_size("9.2T").bytes, 9'200'000'000'000);
  for (const char* bad : {"", "-1", "k", "1.5", "1.0005k", "4i", "4KB2", "1..5G", ".5G", "5.G",
                          "10000000000G", "9223372036854775808", "0.0001Ki", "nanG", "1e3", "B", "-1.5Gi"}) {
    EXPECT_THROW(parse_byte_size(bad), BadValue) << bad;
  }
  EXPECT_EQ(parse_byte_size(format_byte_size({largest})).bytes, largest);
}

TEST(OptionTypes, BatchSizesCountSequencesOrTokens) {
  EXPECT_EQ(parse_batch_size("512"), (BatchSize{512, BatchSize::Unit::sequences}));
  EXPECT_EQ(parse_batch_size("262144t"), (BatchSize{262144, BatchSize::Unit::tokens}));
  EXPECT_EQ(parse_batch_size("500kt"), (BatchSize{500'000, BatchSize::Unit::tokens}));
  EXPECT_EQ(parse_batch_size("0.5Mt"), (BatchSize{500'000, BatchSize::Unit::tokens}));
  EXPECT_EQ(parse_batch_size("2k"), (BatchSize{2000, BatchSize::Unit::sequences}));
  for (const char* bad : {"", "t", "-5", "5tk", "1.5", "5 t", "0.0005kt"}) {
    EXPECT_THROW(parse_batch_size(bad), BadValue) << bad;
  }
  const BatchSize tokens{262144, BatchSize::Unit::tokens};
  EXPECT_EQ(parse_batch_size(format_batch_size(tokens)), tokens);
}

// The tests below need a known local zone: two hours east of Greenwich in POSIX notation, without daylight
// saving.
class WallTimes : public testing::Test {
 protected:
  void SetUp() override {
    const char* zone = std::getenv("TZ");
    had_zone_ = zone != nullptr;
    if (had_zone_) zone_ = zone;
    ::setenv("TZ", "XST-2", 1);
    ::tzset();
  }
  void TearDown() override {
    if (had_zone_) {
      ::setenv("TZ", zone_.c_str(), 1);
    } else {
      ::unsetenv("TZ");
    }
    ::tzset();
  }

 private:
  bool had_zone_ = false;
  std::string zone_;
};

TEST_F(WallTimes, TakeIsoTimesWithAndWithoutAZone) {
  constexpr std::int64_t new_year = 1'767'225'600;  // 2026-01-01T00:00:00Z
  EXPECT_EQ(parse_wall_time("2026-01-01T00:00:00Z", 0).epoch_s, new_year);
  EXPECT_EQ(parse_wall_time("2026-01-01T00:00Z", 0).epoch_s, new_year);
  EXPECT_EQ(parse_wall_time("2026-01-01T02:00", 0).epoch_s, new_year);
  EXPECT_EQ(parse_wall_time("2026-01-01 02:00:30", 0).epoch_s, new_year + 30);
  EXPECT_EQ(parse_wall_time("2026-01-01T05:30+05:30", 0).epoch_s, new_year);
  EXPECT_EQ(parse_wall_time("2025-12-31T16:00:00-0800", 0).epoch_s, new_year);
  EXPECT_EQ(parse_wall_time("1767225600", 0).epoch_s, new_year);
}

TEST_F(WallTimes, AClockTimeIsTheNextOne) {
  constexpr std::int64_t ten_am = 1'767'225'600 + 8 * 3600;  // 10:00 in the zone of the test
  EXPECT_EQ(parse_wall_time("10:01", ten_am).epoch_s, ten_am + 60);
  EXPECT_EQ(parse_wall_time("10:00", ten_am).epoch_s, ten_am + 86400);
  EXPECT_EQ(parse_wall_time("09:59", ten_am).epoch_s, ten_am + 86400 - 60);
  EXPECT_EQ(parse_wall_time("10:00:01", ten_am).epoch_s, ten_am + 1);
}

TEST_F(WallTimes, RefuseWhatIsNoMoment) {
  for (const char* bad : {"", "24:00", "23:60", "2359", "9:00", "2026-02-29T00:00", "2026-13-01T00:00",
                          "2026-01-01", "2026-01-01T00:00X", "99999999999999999999", "-5", "1e9",
                          "2026-1-1T00:00", "23:59:60", "soon", "2026-01-01T00:00+15:00"}) {
    EXPECT_THROW(parse_wall_time(bad, 1'767'225'600), BadValue) << bad;
  }
  EXPECT_NO_THROW(parse_wall_time("2028-02-29T00:00", 0));
}

TEST_F(WallTimes, ReadBackToTheSameMoment) {
  for (const std::int64_t moment :
       {std::int64_t{1'000'000'000}, std::int64_t{1'767'225'599}, std::int64_t{253'402'300'799}}) {
    EXPECT_EQ(parse_wall_time(format_wall_time({moment}), 0).epoch_s, moment);
  }
  EXPECT_EQ(format_wall_time({1'767'225'599}), "2025-12-31T23:59:59Z");
}

}  // namespace
}  // namespace charter
