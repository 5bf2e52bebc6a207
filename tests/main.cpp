// The test program: doctest's main, and the count of what was skipped. `isobar_tests -tc='*dropout*'` runs
// the cases that match.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <map>

#include "skip.h"

namespace {

std::map<std::string, std::string>& skipped_cases() {
  static std::map<std::string, std::string> reasons;
  return reasons;
}

unsigned cases_run = 0;

struct Counter : doctest::IReporter {
  explicit Counter(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    cases_run = stats.numTestCasesPassingFilters;
  }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("counter", 1, Counter);

}  // namespace

void isobar::skip(const std::string& why) {
  skipped_cases()[doctest::getContextOptions()->currentTest->m_name] = why;
}

int main(int argc, char** argv) {
  const int code = doctest::Context(argc, argv).run();
  for (const auto& [name, why] : skipped_cases())
    std::printf("skipped: %s [%s]\n", why.c_str(), name.c_str());
  return code == 0 && cases_run > 0 && skipped_cases().size() == cases_run ? 77 : code;
}
