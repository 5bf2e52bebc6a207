// isobar report: one page of what was run, a file that needs no other; or a plot as a picture.
#include <CLI/CLI.hpp>

#include "../../data/file.h"
#include "../page/figures.h"
#include "../page/page.h"
#include "../run/output_file.h"
#include "../run/tool.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

struct ReportLine {
  std::vector<std::string> folders;
  std::string output, lang = "en", svg;
  bool live = false, force = false;
};

// The output's name; a default one is no link's to follow.
struct Output {
  std::string path;
  PathFrom from;
};

Output output_of(const ReportLine& line) {
  Output output{line.output, PathFrom::user};
  if (line.output.empty()) output = {line.svg.empty() ? "report.html" : line.svg + ".svg", PathFrom::program};
  OutputRules rules{.force = line.force, .page = true};
  for (const std::string& folder : line.folders) rules.inputs.push_back(folder + "/summary.json");
  check_output(output.path, rules);
  return output;
}

void write_page(const ReportLine& line, const Output& output, const report::Content& content) {
  const std::string page = content.page(line.lang, line.live);
  write_file_atomically(output.path, page, output.from);
  say_written(output.path, fmt::format("{}: {} claims, {} runs, {} KiB\n", output.path, content.claim_count(),
                                       content.run_count(), page.size() / 1024));
}

void write_figure(const ReportLine& line, const Output& output, const report::Content& content) {
  const std::string figure = report::figure_svg(report::plot_named(content.runs(), line.svg), line.lang);
  write_file_atomically(output.path, figure, output.from);
  say_written(output.path, fmt::format("{}: {} bytes\n", output.path, figure.size()));
}

}  // namespace

int report(const Words& words) {
  ReportLine line;
  Tool tool("isobar report", "Writes a page of finished runs: claims and verdicts, plots, settings.",
            "isobar report runs/verify -o report.html");
  tool.app()
      .add_option("DIR", line.folders,
                  "folders of finished runs; the folder of isobar verify has all its runs")
      ->required();
  tool.option("-o,--output", line.output, "the file to write; default: report.html, or KEY.svg");
  tool.option("--svg", line.svg,
              "write a picture of one plot instead of the page: RUN.KEY, or KEY of all runs");
  tool.option("--live", line.live, "add a chapter that runs decay_study in the browser of the reader");
  tool.option("--lang", line.lang, "the first language of the page", one_of({"en", "zh"}));
  tool.option("--force", line.force, "replace an existing file that is not a page or chart");
  return tool.run(words, [&] {
    const Output output = output_of(line);
    report::Content content;
    for (const std::string& folder : line.folders) content.add(folder);
    line.svg.empty() ? write_page(line, output, content) : write_figure(line, output, content);
  });
}

}  // namespace isobar::verbs
