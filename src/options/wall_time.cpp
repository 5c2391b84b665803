// SPDX-License-Identifier: Apache-2.0
// Moments as people write them. Local time follows TZ.
#include <ctime>

#include <fmt/format.h>

#include "src/options/option_types.hpp"

namespace charter {
namespace {

constexpr const char* what =
    "is not a time such as 2026-01-31T23:59, 2026-01-31T23:59:00Z, 1767225600 (seconds since 1970) or 23:59";
constexpr std::int64_t first_epoch = 1'000'000'000;   // September 2001: smaller numbers are typing errors
constexpr std::int64_t last_epoch = 253'402'300'799;  // end of the year 9999

// Reads a text from left to right; every step throws BadValue when the text does not go on that way.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int number(std::size_t digits, int low, int high) {
    if (rest_.size() < digits) throw BadValue(what);
    int value = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (c < '0' || c > '9') throw BadValue(what);
      value = value * 10 + (c - '0');
    }
    if (value < low || value > high) throw BadValue(what);
    rest_.remove_prefix(digits);
    return value;
  }
  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw BadValue(what);
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

void scan_clock(Scanner& scanner, std::tm& time) {
  time.tm_hour = scanner.number(2, 0, 23);
  scanner.expect(':');
  time.tm_min = scanner.number(2, 0, 59);
  time.tm_sec = scanner.take(':') ? scanner.number(2, 0, 59) : 0;
}

// Seconds east of Greenwich; false when the text names no zone.
bool scan_zone(Scanner& scanner, std::int64_t& offset_s) {
  offset_s = 0;
  if (scanner.take('Z')) return true;
  const bool east = scanner.take('+');
  if (!east && !scanner.take('-')) return false;
  offset_s = scanner.number(2, 0, 14) * 3600;
  scanner.take(':');
  offset_s += scanner.number(2, 0, 59) * 60;
  if (!east) offset_s = -offset_s;
  return true;
}

int days_of_month(int year, int month) {
  constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : days[month - 1];
}

WallTime checked_moment(std::int64_t epoch_s) {
  if (epoch_s < first_epoch || epoch_s > last_epoch) throw BadValue(what);
  return {epoch_s};
}

WallTime scan_date(std::string_view text) {
  Scanner scanner(text);
  std::tm time{};
  const int year = scanner.number(4, 1970, 9999);
  scanner.expect('-');
  const int month = scanner.number(2, 1, 12);
  scanner.expect('-');
  time.tm_year = year - 1900;
  time.tm_mon = month - 1;
  time.tm_mday = scanner.number(2, 1, days_of_month(year, month));
  if (!scanner.take('T')) scanner.expect(' ');
  scan_clock(scanner, time);
  std::int64_t offset_s = 0;
  const bool has_zone = scan_zone(scanner, offset_s);
  if (!scanner.at_end()) throw BadValue(what);
  if (has_zone) return checked_moment(::timegm(&time) - offset_s);
  time.tm_isdst = -1;
  return checked_moment(std::mktime(&time));
}

WallTime scan_next_clock(std::string_view text, std::int64_t now_epoch_s) {
  const auto now = static_cast<std::time_t>(now_epoch_s);
  std::tm time{};
  if (::localtime_r(&now, &time) == nullptr) throw BadValue(what);
  Scanner scanner(text);
  scan_clock(scanner, time);
  if (!scanner.at_end()) throw BadValue(what);
  // mktime may change its argument, so that tomorrow starts from a copy.
  std::tm tomorrow = time;
  time.tm_isdst = -1;
  const std::time_t today_s = std::mktime(&time);
  if (today_s > now) return {today_s};
  tomorrow.tm_mday += 1;
  tomorrow.tm_isdst = -1;
  return {std::mktime(&tomorrow)};
}

}  // namespace

WallTime parse_wall_time(std::string_view text, std::int64_t now_epoch_s) {
  if (text.find('-') != std::string_view::npos) return scan_date(text);
  if (text.find(':') != std::string_view::npos) return scan_next_clock(text, now_epoch_s);
  for (const char c : text) {
    if (c < '0' || c > '9') throw BadValue(what);
  }
  if (text.empty() || text.size() > 12) throw BadValue(what);
  return checked_moment(parse_integer(text));
}

std::string format_wall_time(const WallTime& value) {
  const auto moment = static_cast<std::time_t>(value.epoch_s);
  std::tm time{};
  ::gmtime_r(&moment, &time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", time.tm_year + 1900, time.tm_mon + 1,
                     time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec);
}

}  // namespace charter
