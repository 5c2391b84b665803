// SPDX-License-Identifier: Apache-2.0
// Numbers for people: three or four digits and a unit. Never for files that a program reads. A value that is
// not finite becomes "-".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace charter {

// Powers of 1,024: "512 B", "1.50 KiB", "2.25 GiB".
std::string format_bytes(std::int64_t bytes);

// "350 us", "12.3 ms", "4.56 s", "4 min 05 s", "2 h 03 min", "3 d 04 h". Negative durations become "-".
std::string format_seconds(double seconds);

// Powers of 1,000: "999", "1.23 k", "45.6 M", "7.89 G".
std::string format_count(double count);

// A rate with its unit: "12.3 k tokens/s".
std::string format_rate(double per_second, std::string_view unit);

// "60 %", "0.05 %"; `part` of `whole`. A whole of 0 gives "-".
std::string format_percent(double part, double whole);

}  // namespace charter
