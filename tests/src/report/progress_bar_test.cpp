// SPDX-License-Identifier: Apache-2.0
#include "src/report/progress_bar.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace charter {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A bar on a string with a clock that the test moves.
class ProgressBarTest : public testing::Test {
 protected:
  ProgressSettings settings(bool is_terminal, int columns = 100) {
    ProgressSettings s;
    s.total_steps = 200;
    s.is_terminal = is_terminal;
    s.columns = columns;
    s.plain_interval_s = 30;
    s.redraw_interval_s = 0.1;
    s.now_s = [this] { return now_s_; };
    return s;
  }
  // What a terminal would show on its last line.
  std::string visible() const {
    const std::string text = out_.str();
    const std::size_t start = text.rfind("\x1b[2K");
    return start == std::string::npos ? text : text.substr(start + 4);
  }

  std::ostringstream out_;
  double now_s_ = 100;
};

TEST_F(ProgressBarTest, PlainLinesComeEveryInterval) {
  ProgressBar bar(&out_, settings(false));
  for (int step = 1; step <= 100; ++step) {
    now_s_ += 1;
    bar.update({step, 2.0, 12345});
  }
  bar.finish();
  const std::string text = out_.str();
  // Steps 1, 31, 61, 91 and the last state.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("step 1/200"), HasSubstr("step 31/200"), HasSubstr("step 100/200"),
                          Not(HasSubstr("\x1b"))));
  EXPECT_THAT(text, AllOf(HasSubstr("(50 %)"), HasSubstr("loss 2.0000"), HasSubstr("12.3 k tokens/s"),
                          HasSubstr("ETA 1 min 40 s")));
}

TEST_F(ProgressBarTest, CountsWhatItIsToldAndShowsALossOnlyWhereThereIsOne) {
  ProgressSettings s = settings(false);
  s.step_name = "prompt";
  ProgressBar bar(&out_, s);
  now_s_ += 1;
  bar.update({50, std::nullopt, 10});
  bar.finish();
  EXPECT_EQ(out_.str(), "prompt 50/200 (25 %)  10 tokens/s  ETA 3.00 s\n");
}

TEST_F(ProgressBarTest, EtaOfAResumedRunCountsItsOwnSteps) {
  ProgressSettings s = settings(false);
  s.first_step = 100;
  ProgressBar bar(&out_, s);
  now_s_ += 10;
  bar.update({110, 2.0, 1});
  EXPECT_THAT(out_.str(), HasSubstr("ETA 1 min 30 s"));
}

TEST_F(ProgressBarTest, TheLastStepSaysHowLongItTook) {
  ProgressBar bar(&out_, settings(false));
  now_s_ += 20;
  bar.update({200, 1.0, 1});
  EXPECT_THAT(out_.str(), HasSubstr("took 20.0 s"));
}

TEST_F(ProgressBarTest, ATerminalShowsOneLineThatFits) {
  for (const int columns : {200, 100, 80, 60, 40, 10, 1}) {
    out_.str("");
    ProgressSettings s = settings(true, columns);
    s.hint = "kill -USR2 1234 saves and stops";
    ProgressBar bar(&out_, s);
    now_s_ += 1;
    bar.update({100, 2.0, 12345});
    EXPECT_LT(visible().size(), static_cast<std::size_t>(columns)) << visible();
    EXPECT_EQ(out_.str().find('\n'), std::string::npos);
    if (columns == 200) {
      EXPECT_THAT(visible(), HasSubstr("[###############...............] step 100/200"));
      EXPECT_THAT(visible(), HasSubstr("kill -USR2 1234"));
    }
    if (columns == 60) {
      EXPECT_THAT(visible(), Not(HasSubstr("[")));
    }
  }
}

TEST_F(ProgressBarTest, ATerminalIsNotDrawnMoreOftenThanTheInterval) {
  ProgressBar bar(&out_, settings(true));
  for (int step = 1; step <= 100; ++step) {
    now_s_ += 0.01;
    bar.update({step, 2.0, 1});
  }
  const std::string text = out_.str();
  EXPECT_LE(std::count(text.begin(), text.end(), '\r'), 12);
}

TEST_F(ProgressBarTest, ClearTakesTheLineAwayAndFinishEndsIt) {
  ProgressBar bar(&out_, settings(true));
  bar.update({1, 2.0, 1});
  bar.clear();
  EXPECT_EQ(visible(), "");
  bar.update({2, 2.0, 1});  // within the interval, drawn by finish()
  bar.finish();
  EXPECT_THAT(visible(), AllOf(HasSubstr("step 2/200"), testing::EndsWith("\n")));
  const std::string text = out_.str();
  bar.finish();
  EXPECT_EQ(out_.str(), text);
}

TEST_F(ProgressBarTest, ANullStreamAndNoStepsShowNothing) {
  ProgressBar silent(nullptr, settings(true));
  silent.update({1, 2.0, 1});
  silent.clear();
  silent.finish();
  { const ProgressBar unused(&out_, settings(false)); }
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ProgressBarTest, ALossThatIsNotANumberIsShownAsSuch) {
  ProgressBar bar(&out_, settings(false));
  bar.update({1, std::nan(""), std::nan("")});
  EXPECT_THAT(out_.str(), HasSubstr("loss nan"));
}

TEST(TerminalShape, AFileIsNoTerminal) {
  const int descriptor = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  EXPECT_FALSE(terminal_shape(descriptor).is_terminal);
  EXPECT_EQ(terminal_shape(descriptor).columns, 80);
  ::close(descriptor);
}

}  // namespace
}  // namespace charter
