// report: one page of what was run, for the projector and for citing.
//
//   report runs/reproduce -o report.html            claims, plots and settings of all its runs
//   report runs/a runs/b -o compare.html --lang zh  single runs side by side, in Chinese
//
// The page is one file: it opens without a network and asks for nothing outside itself.
#include <CLI/CLI.hpp>

#include "../core/error.h"
#include "../core/file.h"
#include "harness/json.h"
#include "report/page.h"

using namespace isobar;

namespace {

struct CommandLine {
  std::vector<std::string> folders;
  std::string out = "report.html", lang = "en";
};

void write_report(const CommandLine& line) {
  report::Content content;
  for (const std::string& folder : line.folders) content.add(folder);
  const std::string page = content.page(line.lang);
  write_file_atomically(line.out, page);
  fmt::print("{}: {} claims, {} runs, {} KiB\n", line.out, content.claim_count(), content.run_count(),
             page.size() / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  CLI::App app("One page of what was run: claims and verdicts, plots, settings.", "report");
  app.add_option("DIR", line.folders, "folders of finished runs; of reproduce, with all its runs")
      ->required();
  app.add_option("-o,--out", line.out, "the page to write")->capture_default_str();
  app.add_option("--lang", line.lang, "language at first")
      ->check(CLI::IsMember({"en", "zh"}))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "report: {}; see report --help\n", error.what());
    return 2;
  }
  try {
    write_report(line);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "report: {}\n", error.what());
    return 2;
  }
}
