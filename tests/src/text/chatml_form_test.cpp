// SPDX-License-Identifier: Apache-2.0
#include "src/text/chatml_form.hpp"

#include <string>

#include <gtest/gtest.h>

#include "src/text/jinja_outline.hpp"

namespace charter {
namespace {

const std::string turn =
    "{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}";
const std::string cue = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
const std::string loop = "{% for message in messages %}";
const std::string default_system =
    "{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nBe brief.<|im_end|>\\n' "
    "}}{% endif %}";

bool is_chatml(const std::string& jinja) {
  return recognise_chatml(jinja).has_value();
}

TEST(ChatmlForm, PlainLoopIsKnown) {
  const auto form = recognise_chatml(loop + turn + "{% endfor %}" + cue);
  ASSERT_TRUE(form);
  EXPECT_FALSE(form->default_system);
  EXPECT_FALSE(form->begins_with_bos);
}

TEST(ChatmlForm, DefaultSystemMessageIsTakenFromTheTemplate) {
  const auto form = recognise_chatml(loop + default_system + turn + "{% endfor %}" + cue);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->default_system, "Be brief.");
}

TEST(ChatmlForm, SpellingDoesNotMatter) {
  EXPECT_TRUE(is_chatml(
      "{%- for message in messages -%}\n  {{- \"<|im_start|>\" + message.role + \"\n\" + message.content + "
      "\"<|im_end|>\\n\" -}}\n{%- endfor -%}\n{%- if add_generation_prompt -%}\n"
      "  {{- '<|im_start|>assistant\\n' -}}\n{%- endif -%}\n"));
  // Text outside of expressions, as lines; blocks swallow the end of their own line.
  EXPECT_FALSE(is_chatml(
      "{% for message in messages %}\n<|im_start|>{{ message.role }}\n{{ message['content'] }}<|im_end|>\n"
      "{% endfor %}\n{% if add_generation_prompt %}\n<|im_start|>assistant\n\n{% endif %}\n"));
  EXPECT_TRUE(is_chatml(
      "{% for message in messages %}\n<|im_start|>{{ message.role }}\n{{ message['content'] }}<|im_end|>\n"
      "{% endfor %}\n{% if add_generation_prompt %}\n<|im_start|>assistant\n{% endif %}\n"));
  EXPECT_TRUE(is_chatml(
      "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}"
      "{# a comment #}" +
      loop + turn + "{% endfor %}" + cue));
}

TEST(ChatmlForm, ATemplateMayPutTheBosItself) {
  const auto form = recognise_chatml("{{ bos_token }}" + loop + turn + "{% endfor %}" + cue);
  ASSERT_TRUE(form);
  EXPECT_TRUE(form->begins_with_bos);
}

TEST(ChatmlForm, AnOpenLastMessageIsKnown) {
  const std::string open =
      "{{'<|im_start|>' + message['role'] + '\\n' + message['content']}}"
      "{% if (loop.last and add_generation_prompt) or not loop.last %}{{ '<|im_end|>' + '\\n'}}{% endif %}";
  EXPECT_TRUE(is_chatml(loop + default_system + open + "{% endfor %}" + cue));
}

std::string with_tools(const std::string& condition) {
  return "{%- if tools %}\n    {{- '<|im_start|>system\\n' }}\n    {%- if messages[0]['role'] == 'system' "
         "%}\n"
         "        {{- messages[0]['content'] }}\n    {%- else %}\n        {{- 'Be brief.' }}\n    {%- endif "
         "%}\n"
         "    {{- \"\\n\\n# Tools: <tools>\" }}\n    {%- for tool in tools %}\n        {{- tool | tojson "
         "}}\n    {%- endfor %}\n"
         "    {{- \"</tools><|im_end|>\\n\" }}\n{%- else %}\n    {%- if messages[0]['role'] == 'system' %}\n"
         "        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}\n    {%- else "
         "%}\n"
         "        {{- '<|im_start|>system\\nBe brief.<|im_end|>\\n' }}\n    {%- endif %}\n{%- endif %}\n"
         "{%- for message in messages %}\n    {%- if " +
         condition +
         " %}\n"
         "        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}\n"
         "    {%- elif message.role == \"assistant\" %}\n        {{- '<|im_start|>' + message.role }}\n"
         "        {%- if message.content %}\n            {{- '\\n' + message.content }}\n        {%- endif "
         "%}\n"
         "    {%- elif message.role == \"tool\" %}\n        {{- '<tool_response>' }}\n    {%- endif %}\n{%- "
         "endfor %}\n"
         "{%- if add_generation_prompt %}\n    {{- '<|im_start|>assistant\\n' }}\n{%- endif %}\n";
}

TEST(ChatmlForm, BranchesForToolsAreLeftOut) {
  const auto form = recognise_chatml(
      with_tools("(message.role == \"user\") or (message.role == \"system\" and not loop.first) or "
                 "(message.role == \"assistant\" and not message.tool_calls)"));
  ASSERT_TRUE(form);
  EXPECT_EQ(form->default_system, "Be brief.");
  EXPECT_FALSE(is_chatml(with_tools("message.role == \"user\"")));
}

TEST(ChatmlForm, AnythingElseIsUnknown) {
  EXPECT_FALSE(is_chatml(""));
  EXPECT_FALSE(is_chatml("{{ '<|im_start|>' }}"));
  EXPECT_FALSE(is_chatml(loop + turn + "{% endfor %}"));
  // A trimmed content, another cue, a default message of other form, a second loop, an unclosed tag.
  EXPECT_FALSE(
      is_chatml(loop +
                "{{'<|im_start|>' + message['role'] + '\\n' + message['content'] | trim + '<|im_end|>\\n'}}"
                "{% endfor %}" +
                cue));
  EXPECT_FALSE(is_chatml(
      loop + turn + "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant' }}{% endif %}"));
  EXPECT_FALSE(
      is_chatml(loop + "{% if loop.first and messages[0]['role'] != 'system' %}{{ 'Be brief.' }}{% endif %}" +
                turn + "{% endfor %}" + cue));
  EXPECT_FALSE(is_chatml(loop + turn + "{% endfor %}" + cue + loop + turn + "{% endfor %}"));
  EXPECT_FALSE(is_chatml(loop + turn + "{% endfor %}" + cue + "{{ 'x'"));
  EXPECT_FALSE(is_chatml("{% if tools %}" + loop + turn + "{% endfor %}" + cue));
}

TEST(JinjaOutline, KeepsQuotedMarksAndEscapes) {
  const std::vector<JinjaStep> steps = outline_jinja("a{{ '%}}}\\'' + x[\"y\"][0] }}\n b");
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].content, "a%}}}'");
  EXPECT_EQ(steps[1].content, "x.y[0]");
  EXPECT_EQ(steps[2].content, "\n b");
}

}  // namespace
}  // namespace charter
