// isobar report: one page of what was run, for the projector and for citing.
//
//   isobar report runs/verify -o report.html            claims, plots and settings of all its runs
//   isobar report runs/a runs/b -o compare.html --lang zh  single runs side by side, in Chinese
//   isobar report runs/verify --svg blog8.std -o std.svg     one plot of it as a picture
//   isobar report runs/a runs/b --svg std -o both.svg      a plot of several runs of one study, over each other
//
// The page is one file: it opens without a network and asks for nothing outside itself.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "../../data/file.h"
#include "../harness/json.h"
#include "../harness/tool.h"
#include "../report/figure.h"
#include "../report/overlay.h"
#include "../report/page.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

struct ReportLine {
  std::vector<std::string> folders;
  std::string out, lang = "en", svg;
};

void write_page(const ReportLine& line, const report::Content& content) {
  const std::string page = content.page(line.lang), out = line.out.empty() ? "report.html" : line.out;
  write_file_atomically(out, page);
  fmt::print("{}: {} claims, {} runs, {} KiB\n", out, content.claim_count(), content.run_count(),
             page.size() / 1024);
}

void write_figure(const ReportLine& line, const report::Content& content) {
  const std::string figure = report::figure_svg(report::plot_named(content.runs(), line.svg));
  const std::string out = line.out.empty() ? line.svg + ".svg" : line.out;
  write_file_atomically(out, figure);
  fmt::print("{}: {} bytes\n", out, figure.size());
}

}  // namespace

int report(const Words& words) {
  ReportLine line;
  Tool tool("isobar report", "One page of what was run: claims and verdicts, plots, settings.");
  tool.app()
      .add_option("DIR", line.folders, "folders of finished runs; of isobar verify, with all its runs")
      ->required();
  tool.option("-o,--out", line.out, "the file to write; report.html, or KEY.svg, where it is not said");
  tool.option("--svg", line.svg, "a picture of one plot in place of the page: RUN.KEY, or KEY of all runs");
  tool.app()
      .add_option("--lang", line.lang, "language at first")
      ->check(CLI::IsMember({"en", "zh"}))
      ->capture_default_str();
  return tool.run(words, [&] {
    report::Content content;
    for (const std::string& folder : line.folders) content.add(folder);
    line.svg.empty() ? write_page(line, content) : write_figure(line, content);
  });
}

}  // namespace isobar::verbs
