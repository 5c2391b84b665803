// SPDX-License-Identifier: Apache-2.0
#include "src/report/format_units.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace charter {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(FormatUnits, BytesUsePowersOf1024) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(std::int64_t{1} << 30), "1.00 GiB");
  EXPECT_EQ(format_bytes((std::int64_t{1} << 20) - 1), "1.00 MiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::int64_t>::max()), "8.00 EiB");
  EXPECT_EQ(format_bytes(-2048), "-2.00 KiB");
}

TEST(FormatUnits, SecondsFindTheirUnit) {
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(350e-6), "350 us");
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(format_seconds(4.56), "4.56 s");
  EXPECT_EQ(format_seconds(59.99), "1 min 00 s");
  EXPECT_EQ(format_seconds(245), "4 min 05 s");
  EXPECT_EQ(format_seconds(7380), "2 h 03 min");
  EXPECT_EQ(format_seconds(3599.7), "1 h 00 min");
  EXPECT_EQ(format_seconds(86399), "1 d 00 h");
  EXPECT_EQ(format_seconds(3 * 86400 + 4 * 3600), "3 d 04 h");
  EXPECT_EQ(format_seconds(nan), "-");
  EXPECT_EQ(format_seconds(infinity), "-");
  EXPECT_EQ(format_seconds(-1), "-");
  EXPECT_NE(format_seconds(1e300), "");
}

TEST(FormatUnits, CountsAndRatesUsePowersOf1000) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(999.7), "1.00 k");
  EXPECT_EQ(format_count(1234), "1.23 k");
  EXPECT_EQ(format_count(45.6e6), "45.6 M");
  EXPECT_EQ(format_count(0.5), "0.50");
  EXPECT_EQ(format_count(nan), "-");
  EXPECT_EQ(format_rate(12345, "tokens"), "12.3 k tokens/s");
  EXPECT_EQ(format_rate(infinity, "tokens"), "-");
}

TEST(FormatUnits, PercentsKeepSmallSharesVisible) {
  EXPECT_EQ(format_percent(60, 100), "60 %");
  EXPECT_EQ(format_percent(5, 10000), "0.05 %");
  EXPECT_EQ(format_percent(0, 5), "0 %");
  EXPECT_EQ(format_percent(1, 0), "-");
}

}  // namespace
}  // namespace charter
