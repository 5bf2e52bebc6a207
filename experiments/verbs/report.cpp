// isobar report: one page of what was run, a file that needs no other; or a plot as a picture.
#include <CLI/CLI.hpp>

#include "../../data/file.h"
#include "../harness/tool.h"
#include "../report/figures.h"
#include "../report/page.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

struct ReportLine {
  std::vector<std::string> folders;
  std::string output, lang = "en", svg;
  bool live = false;
};

void write_page(const ReportLine& line, const report::Content& content) {
  const std::string page = content.page(line.lang, line.live),
                    output = line.output.empty() ? "report.html" : line.output;
  write_file_atomically(output, page);
  fmt::print("{}: {} claims, {} runs, {} KiB\n", output, content.claim_count(), content.run_count(),
             page.size() / 1024);
}

void write_figure(const ReportLine& line, const report::Content& content) {
  const std::string figure = report::figure_svg(report::plot_named(content.runs(), line.svg), line.lang);
  const std::string output = line.output.empty() ? line.svg + ".svg" : line.output;
  write_file_atomically(output, figure);
  fmt::print("{}: {} bytes\n", output, figure.size());
}

}  // namespace

int report(const Words& words) {
  ReportLine line;
  Tool tool("isobar report", "One page of what was run: claims and verdicts, plots, settings.",
            "isobar report runs/verify -o report.html");
  tool.app()
      .add_option("DIR", line.folders, "folders of finished runs; of isobar verify, with all its runs")
      ->required();
  tool.option("-o,--output", line.output, "the file to write; report.html, or KEY.svg, where it is not said");
  tool.option("--svg", line.svg, "a picture of one plot in place of the page: RUN.KEY, or KEY of all runs");
  tool.option("--live", line.live, "the page has a chapter that runs decay_study in the reader's browser");
  tool.option("--lang", line.lang, "language, of the page at first", one_of({"en", "zh"}));
  return tool.run(words, [&] {
    report::Content content;
    for (const std::string& folder : line.folders) content.add(folder);
    line.svg.empty() ? write_page(line, content) : write_figure(line, content);
  });
}

}  // namespace isobar::verbs
