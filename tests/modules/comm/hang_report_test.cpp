// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/hang_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modules/comm/collective_log.hpp"
#include "src/base/error.hpp"

namespace charter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A rank that made `calls` in a group of three; the last one is still open unless `computing`.
HangDump dump_of(int rank, const std::vector<Operation>& calls, bool computing) {
  CollectiveLog log;
  const int group = log.register_communicator("data", "data.1@0", rank, 3);
  std::int64_t sequence = 0;
  for (const Operation operation : calls) {
    LogEntry entry;
    entry.communicator = group;
    entry.sequence = ++sequence;
    entry.operation = operation;
    entry.count = 8;
    entry.where = CallSite::current();
    const auto ticket = log.enter(entry);
    if (computing || sequence < static_cast<std::int64_t>(calls.size())) log.exit(ticket);
  }
  log.set_phase(computing ? "computing" : "training");
  return parse_dump(log.to_json({"job", rank, 3, "a test"}), "dump");
}

TEST(HangReport, NamesTheRankThatIsBehind) {
  const auto text = diagnose_hang({dump_of(0, {Operation::broadcast, Operation::all_reduce}, false),
                                   dump_of(1, {Operation::broadcast}, true),
                                   dump_of(2, {Operation::broadcast, Operation::all_reduce}, false)});
  EXPECT_THAT(text, HasSubstr("ranks 0, 2 wait in all_reduce of 8 x u8, number 2"));
  EXPECT_THAT(text, HasSubstr("rank 1 is behind: its last call here is number 1 of 2, in phase 'computing'"));
  EXPECT_THAT(text, Not(HasSubstr("first differ")));
}

TEST(HangReport, NamesTheFirstDivergingCall) {
  const auto text = diagnose_hang({dump_of(0, {Operation::broadcast, Operation::all_reduce}, false),
                                   dump_of(1, {Operation::broadcast, Operation::barrier}, false),
                                   dump_of(2, {Operation::broadcast, Operation::all_reduce}, false)});
  EXPECT_THAT(text, HasSubstr("calls first differ at number 2: rank 0 made all_reduce"));
  EXPECT_THAT(text, HasSubstr("rank 1 made barrier"));
}

TEST(HangReport, NamesRanksWithoutADump) {
  const auto text = diagnose_hang({dump_of(0, {Operation::barrier}, false)});
  EXPECT_THAT(text, HasSubstr("without a dump"));
  EXPECT_THAT(text, HasSubstr("rank 1, 2"));
  EXPECT_THAT(diagnose_hang({}), HasSubstr("no rank left a dump"));
}

TEST(SuspectedRanks, AreThoseTheOthersWaitFor) {
  const auto waiting = [](int rank) {
    return dump_of(rank, {Operation::broadcast, Operation::all_reduce}, false);
  };
  EXPECT_THAT(suspected_ranks({waiting(0), dump_of(1, {Operation::broadcast}, true), waiting(2)}),
              ElementsAre(1));
  EXPECT_THAT(suspected_ranks({waiting(1)}), ElementsAre(0, 2))
      << "no dump at all is worse than being behind";
  EXPECT_THAT(suspected_ranks({waiting(0), waiting(1), waiting(2)}), IsEmpty()) << "a program's mistake";
  EXPECT_THAT(suspected_ranks({}), IsEmpty());
}

TEST(HangReport, RefusesWhatIsNoDump) {
  EXPECT_THROW(parse_dump("{}", "x.json"), Error);
  EXPECT_THROW(parse_dump("not json", "x.json"), Error);
}

}  // namespace
}  // namespace charter
