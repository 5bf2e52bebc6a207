// isobar report: one page of what was run, a file that needs no other; or a plot as a picture.
#include <CLI/CLI.hpp>

#include <filesystem>

#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../claims/pace.h"
#include "../claims/verify.h"
#include "../page/figures.h"
#include "../page/page.h"
#include "../run/output_file.h"
#include "../run/tool.h"
#include "tree.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

struct ReportLine {
  std::vector<std::string> folders;
  std::string output, lang = "en", svg, tree, found, article;
  bool kept = false, live = false, force = false;
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

// The claims that the folders have no verdict on, by kept values, or by those runs among the folders that are of a kept
// run's settings.
void add_kept(const ReportLine& line, report::Content& content) {
  const TreeClaims from = claims_of(line.tree);
  std::map<std::string, Json> made;
  std::map<std::string, std::string> names;
  for (const std::string& folder : line.folders) {
    Json summary = report::summary_in(folder);
    const std::string run = claims::kept_run_of(summary, from.files, from.kept);
    if (run.empty()) continue;
    names[run] = std::filesystem::path(folder).lexically_normal().filename().string();
    made[run] = std::move(summary);
  }
  content.add_kept(claims::kept_summary(from.files, from.kept, made), names);
  content.set_norms(norms_of(line.tree));
  if (!line.found.empty())
    content.set_found(parse_json<Json>(read_regular_file(line.found, size_t{1} << 20)));
}

void write_page(const ReportLine& line, const Output& output, const report::Content& content) {
  const std::string page = content.page(line.lang, line.live);
  write_file_atomically(output.path, page, output.from);
  std::string text = fmt::format("{}: {} claims, {} runs, {} KiB\n", output.path, content.claim_count(),
                                 content.run_count(), page.size() / 1024);
  if (line.kept) {
    double seconds = 0;  // of the machine that the values were kept on
    for (const auto& [run, took] : claims::Kept::shipped().seconds("quick")) seconds += took;
    text += fmt::format(
        "next: isobar verify --quick measures all claims here with small nets, in {}; --full uses larger ones\n",
        claims::rough_time(seconds));
  }
  say_written(output.path, text);
}

void write_figure(const ReportLine& line, const Output& output, const report::Content& content) {
  const std::string figure = report::figure_svg(report::plot_named(content.runs(), line.svg), line.lang);
  write_file_atomically(output.path, figure, output.from);
  say_written(output.path, fmt::format("{}: {} bytes\n", output.path, figure.size()));
}

}  // namespace

int report(const Words& words) {
  ReportLine line;
  Tool tool("isobar report", "Writes an HTML report of finished runs: claims and verdicts, plots, settings.",
            "isobar report runs/verify -o report.html");
  tool.app().add_option("DIR", line.folders,
                        "folders of finished runs; a folder of isobar verify has all its runs");
  tool.option("-o,--output", line.output, "the file to write; default: report.html, or KEY.svg");
  tool.option("--svg", line.svg,
              "write one plot as SVG instead of the page: RUN.KEY, or KEY for the plot of all runs");
  tool.option("--kept", line.kept,
              "also show all claims of the texts; claims without a run in DIR are judged by stored values");
  tool.option(
      "--tree", line.tree,
      "with --kept: take claims, stored values and the table of norms from this source tree; default: claims and values "
      "of this program");
  tool.option("--found", line.found,
              "with --kept: JSON file with the sentences for the first screen of the page, such as "
              "experiments/page/found.json");
  tool.option("--article", line.article, "address of the article; the first screen of the page links to it");
  tool.option("--live", line.live,
              "add chapters that run decay_study and train nets in the reader's browser");
  tool.option("--lang", line.lang, "the first language of the page", one_of({"en", "zh"}));
  tool.option("--force", line.force, "replace an existing file that is not a page or chart");
  return tool.run(words, [&] {
    check(!line.folders.empty() || line.kept, "wanted a DIR with a finished run, or --kept; see --help");
    check(line.kept || (line.tree.empty() && line.found.empty()), "--{}: belongs to --kept; add it",
          line.tree.empty() ? "found" : "tree");
    const Output output = output_of(line);
    report::Content content;
    content.set_article(line.article);
    for (const std::string& folder : line.folders) content.add(folder);
    if (line.kept) add_kept(line, content);
    line.svg.empty() ? write_page(line, output, content) : write_figure(line, output, content);
  });
}

}  // namespace isobar::verbs
