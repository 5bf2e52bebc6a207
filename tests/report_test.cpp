// The report: one file that asks for nothing outside, holds what was run, and works in a browser.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "../experiments/charts/charts.h"
#include "../experiments/charts/scale.h"
#include "../experiments/harness/plot.h"
#include "../experiments/report/figures.h"
#include "../experiments/report/overlay.h"
#include "../experiments/report/page.h"
#include "../experiments/report/shown.h"
#include "command.h"
#include "documents.h"
#include "message_of.h"
#include "skip.h"

namespace isobar::report_test {

namespace {

// Isobar needs no Python. Where there is none, the checks that use it are skipped.
bool has_python() {
  const bool has = run_command("command -v python3").code == 0;
  if (!has) skip("python3 is not installed, which reads SVG files and drives the browser");
  return has;
}

// How many elements of class "curve" an SVG file has, as Python's XML reader sees it.
std::string curves_of_svg(const std::string& path) {
  const std::string script =
      "import sys, xml.etree.ElementTree as xml; print(sum('curve' in e.get('class', '').split() "
      "for e in xml.parse(sys.argv[1]).iter()))";
  const Outcome run = run_command("python3 -c \"" + script + "\" " + path);
  return run.out + run.err;
}

}  // namespace

TEST_CASE("a plot is its curves' points, with the value itself where there is no band") {
  const Plot plot{
      "t",
      "layer",
      "std",
      true,
      {{"a", Role::measured, {1, 2}, {3, 4}, {2, 3}, {5, 6}}, {"b", Role::printed, {1}, {9}, {}, {}}}};
  CHECK(to_json(plot)["curves"][0]["points"].dump() == "[[1.0,2.0,3.0,5.0],[2.0,3.0,4.0,6.0]]");
  CHECK(to_json(plot)["curves"][1]["points"].dump() == "[[1.0,9.0,9.0,9.0]]");
  CHECK(to_json(plot)["curves"][1]["role"] == "printed");
  CHECK(to_json(plot)["key"] == "t");
  CHECK(to_json(Plot{"std of each layer's, D=8", "", "", false, {}})["key"] == "std_of_each_layer_s_D_8");
  const Plot crooked{"t", "x", "y", false, {{"a", Role::measured, {1, 2}, {3}, {}, {}}}};
  CHECK(message_of([&] { to_json(crooked); }) ==
        "plot 't': curve 'a' has 2 x, 1 y, 0 low and 0 high; wanted one length");
}

TEST_CASE("a heatmap has a value for each row and column") {
  Heatmap heatmap{"t", "step", "std", true, {0, 10}, {"a"}, {{1, 2}}};
  CHECK(to_json(heatmap)["values"].dump() == "[[1.0,2.0]]");
  heatmap.rows.push_back("b");
  CHECK(message_of([&] { to_json(heatmap); }) == "heatmap 't': 1 rows of values for 2 names");
  heatmap.values.push_back({3});
  CHECK(message_of([&] { to_json(heatmap); }) == "heatmap 't': a row has 1 values for 2 columns");
}

TEST_CASE("text of a run cannot break out of the page's data") {
  const TemporaryFolder folder;
  std::ofstream(folder / "summary.json") << R"({"program": "</script><script>alert(1)</script>"})";
  report::Content content;
  content.add(folder / "");
  const std::string page = content.page("en");
  CHECK(page.find("<script>alert(1)") == std::string::npos);
  CHECK(page.find(R"(\u003c/script>)") != std::string::npos);
}

TEST_CASE("a text of a run is no tag, no attribute and no direction mark in its page and pictures") {
  const std::string attack = "\"><script>\u009b\u202e\x01</script>";
  const TemporaryFolder folder;
  folder.write("summary.json",
               json_text({{"program", attack}, {"claims", {{{"id", attack}, {"parts", Json::array()}}}}}));
  report::Content content;
  content.add(folder / "");
  const std::string page = content.page("en");
  CHECK(page.find("<td>&quot;&gt;&lt;script&gt;") != std::string::npos);
  for (const char* mark : {"\u202e", "\u009b", "\x01"}) CHECK(page.find(mark) == std::string::npos);
  Json plot = to_json(Plot{"t", "x", "y", false, {{"a", Role::measured, {1, 2}, {3, 4}, {}, {}}}});
  for (const char* text : {"title", "x", "y"}) plot[text] = attack;
  plot["curves"][0]["label"] = attack;
  const std::string svg = report::figure_svg(plot_of(plot));
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find("&quot;&gt;&lt;script&gt;") != std::string::npos);
  plot["curves"][0]["role"] = attack;
  CHECK(message_of([&] {
          report::shown_run({{"program", "s"}, {"plots", {plot}}});
        }) == "report: a curve's role: wanted measured, theory or printed; run the study again");
}

TEST_CASE("what is no folder of a run is refused by name") {
  const TemporaryFolder folder;
  const Outcome missing = run_built("isobar report", (folder / "none") + " -o " + (folder / "page.html"));
  CHECK(missing.code == 2);
  CHECK(missing.err == "isobar report: '" + (folder / "none") +
                           "' has no summary.json; name the folder of a finished run\n");
  std::ofstream(folder / "summary.json") << "{";
  const Outcome broken = run_built("isobar report", folder / "");
  CHECK(broken.code == 2);
  CHECK(broken.err.find("is not the summary of a run; run the study again") != std::string::npos);
  std::ofstream(folder / "summary.json") << R"({"program": "s", "config": )" << std::string(1'000'000, '[')
                                         << std::string(1'000'000, ']') << "}";
  CHECK(run_built("isobar report", folder / "").err == broken.err);
  folder.write("summary.json",
               R"({"program": "verify", "runs": [{"name": "a", "folder": "../b", "done": true}]})");
  CHECK(run_built("isobar report", folder / "").err.find("names a run outside of its folder, '../b'") !=
        std::string::npos);
  CHECK(run_built("isobar report", "").code == 2);
  CHECK_FALSE(std::filesystem::exists(folder / "page.html"));
}

TEST_CASE("runs of one name keep apart, and claims point to their own") {
  const TemporaryFolder folder;
  const std::string study = R"({"program": "s", "plots": [{"title": "t", "curves": []}]})",
                    all = R"({"program": "verify", "runs": [{"name": "s", "done": true},
                             {"name": "r", "done": false, "cannot_run": "no data"}],
                             "claims": [{"id": "A01", "parts": [{"run": "s", "key": "k", "bounds": [0, 1]}]}]})";
  for (const char* name : {"a", "b"}) {
    folder.write(std::string(name) + "/summary.json", all);
    folder.write(std::string(name) + "/s/summary.json", study);
  }
  report::Content content;
  content.add(folder / "a");
  content.add(folder / "b");
  CHECK(content.runs()[0]["name"] == "s");
  CHECK(content.runs()[1]["name"] == folder / "b/s");
  const std::string page = content.page("en");
  CHECK(page.find("\"run\":\"s\"") != std::string::npos);
  CHECK(page.find("\"run\":\"" + (folder / "b/s") + "\"") != std::string::npos);
  CHECK(page.find(R"({"name":"r","reason":"no data"})") != std::string::npos);
}

TEST_CASE("a run under way has a page with every claim, those to come among them") {
  const TemporaryFolder folder;
  folder.write("s/summary.json", R"({"program": "s"})");
  const Json summary = Json::parse(R"({"program": "verify",
      "claims": [{"id": "A01", "claim": "it is 1", "verdict": "confirmed", "parts": [{"run": "s", "key": "k", "bounds": [0, 1]}]},
                 {"id": "A02", "claim": "it is <2", "verdict": "still to come", "parts": [{"run": "s", "key": "k", "bounds": [null, null]}]}],
      "runs": [{"name": "s", "done": true}, {"name": "later", "done": false, "cannot_run": ""}],
      "progress": {"done": 1, "of": 2, "seconds_left": 300}})");
  report::Content content;
  content.add(summary, folder / "");
  CHECK(content.claim_count() == 2);
  CHECK(content.run_count() == 1);
  const std::string page = content.page("en");
  CHECK(page.find(R"("progress":{"done":1,"of":2,"seconds_left":300})") != std::string::npos);
  CHECK(page.find("later") == std::string::npos);
  CHECK(page.find("<span data-strip=\"1 0\"></span>") != std::string::npos);  // with nothing to draw
  // Without scripts it is a table.
  CHECK(page.find("<td>it is &lt;2</td>\n<td>still to come</td>") != std::string::npos);
}

TEST_CASE("of long curves the page shows what a screen can, with both ends") {
  std::vector<double> x, y;
  for (int i = 0; i < 5000; ++i) {
    x.push_back(i);
    y.push_back(1.0 / 3);
  }
  const Json plot = to_json(Plot{"t", "step", "loss", false, {{"training", Role::measured, x, y, {}, {}}}});
  const Json shown = report::shown_run({{"program", "s"}, {"plots", {plot}}});
  const Json& points = shown["plots"][0]["curves"][0]["points"];
  CHECK(points.size() == 160);
  CHECK(points.front()[0] == 0);
  CHECK(points.back()[0] == 4999);
}

TEST_CASE("a plot is found by run and key, and the same of several runs is one") {
  const auto run = [](const char* name, const char* program) {
    Json plot = to_json(Plot{"t",
                             "layer",
                             "std",
                             true,
                             {{"measured", Role::measured, {1, 2}, {3, 4}, {}, {}},
                              {"theory", Role::theory, {1, 2}, {3, 4}, {}, {}},
                              {"printed", Role::printed, {1}, {9}, {}, {}}},
                             "std"});
    return Json{{"name", name}, {"program", program}, {"plots", {std::move(plot)}}};
  };
  const Json runs = {run("a", "decay_study"), run("b", "decay_study")};
  CHECK(report::plot_named(runs, "a.std").curves.size() == 3);
  const Plot both = report::plot_named(runs, "std");
  std::vector<std::string> labels;
  for (const PlotCurve& curve : both.curves) labels.push_back(curve.label.en);
  CHECK(labels == std::vector<std::string>{"a", "a: theory", "b", "b: theory"});
  CHECK(both.curves[3].colour == 1);
  CHECK(message_of([&] { report::plot_named(runs, "a.sdt"); }) ==
        "--svg: wanted one of a.std, b.std, got 'a.sdt'; did you mean a.std?");
  CHECK(message_of([&] {
          report::plot_named({run("a", "x"), run("b", "y")}, "std");
        }) == "--svg: x and y have a plot 'std'; name the run before it, with a dot: a.std");
}

TEST_CASE("a figure is XML with one element for each curve, and its text is text") {
  const TemporaryFolder folder;
  const std::string run = folder / "run", svg = folder / "figure.svg";
  REQUIRE(run_built("decay_study", "--seeds 3 --out " + run).code == 0);
  const Outcome outcome = run_built("isobar report", run + " --svg std -o " + svg);
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  if (has_python()) CHECK(curves_of_svg(svg) == "3\n");  // measured, theory, printed
  CHECK(file_text(svg).find(">std of each layer's output, plain default none sum D=8</text>") !=
        std::string::npos);
  CHECK(run_built("isobar report", run + " --svg sdt -o " + (folder / "none.svg")).code == 2);
  CHECK_FALSE(std::filesystem::exists(folder / "none.svg"));
}

TEST_CASE("numbers are written as a reader of any field reads them, and at round places of an axis") {
  const std::vector<std::pair<double, const char*>> numbers = {{0.33868, "0.3387"},
                                                               {0.000012, "0.000012"},
                                                               {3.766e-40, "3.766×10⁻⁴⁰"},
                                                               {-1e-6, "−10⁻⁶"},
                                                               {0, "0"},
                                                               {INFINITY, "∞"},
                                                               {12345678.9, "1.235×10⁷"},
                                                               {-1.25, "−1.25"},
                                                               {99999.96, "100000"},
                                                               {1e7, "10⁷"}};
  for (const auto& [value, text] : numbers) CHECK(charts::number(value) == text);
  CHECK(charts::plain(0.123456) == "0.123456");
  CHECK(charts::plain(1e-10) == "10⁻¹⁰");
  CHECK(charts::tick_text(0.001) == "0.001");
  CHECK(charts::tick_text(1e-7) == "10⁻⁷");
  using Ticks = std::vector<double>;
  CHECK(charts::Scale(1e-5, 2, 0, 1, true).ticks(5) == Ticks{1e-5, 1e-3, 0.1});
  CHECK(charts::Scale(0.02, 1, 0, 1, true).ticks(5) == Ticks{0.02, 0.05, 0.1, 0.2, 0.5, 1});
  CHECK(charts::Scale(0, 8, 0, 1).ticks(5) == Ticks{0, 2, 4, 6, 8});
}

TEST_CASE("a chart speaks both languages, and a picture the one that is asked for") {
  const Json plot = to_json(Plot{.title = {"loss", "损失"},
                                 .x = {"step", "步"},
                                 .y = "y",
                                 .curves = {{{"training", "训练"}, Role::measured, {1, 2}, {3, 4}}}});
  CHECK(plot["title_zh"] == "损失");
  const std::string both = charts::svg(charts::line_chart(plot_of(plot), {})).text();
  CHECK(both.find("<tspan class=\"en\">step</tspan><tspan class=\"zh\">步</tspan>") != std::string::npos);
  CHECK(both.find(">y</text>") != std::string::npos);
  const std::string english = report::figure_svg(plot_of(plot)),
                    chinese = report::figure_svg(plot_of(plot), "zh");
  CHECK(english.find("损失") == std::string::npos);
  CHECK(chinese.find(">损失</text>") != std::string::npos);
  CHECK(chinese.find("training") == std::string::npos);
}

TEST_CASE("a figure escapes text, draws ranges of named things, and leaves out what has no place") {
  const TemporaryFolder folder;
  const Plot plot{.title = "a < b & c",
                  .x = "net",
                  .y = "loss",
                  .log = true,
                  .curves = {{"x", Role::measured, {0, 1}, {1, 0}, {0.5, 0}, {2, 0}}},
                  .ticks = {"pre.<none>", "post"}};
  const auto path = folder.write("figure.svg", report::figure_svg(plot));
  if (has_python()) CHECK(curves_of_svg(path) == "1\n");
  const std::string svg = file_text(path);
  CHECK(svg.find("a &lt; b &amp; c</text>") != std::string::npos);
  CHECK(svg.find(">pre.&lt;none&gt;</text>") != std::string::npos);
  CHECK(svg.find("class=\"range\"") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  const Plot empty{
      .title = "t", .x = "", .y = "", .log = true, .curves = {{"x", Role::measured, {1}, {0}, {}, {}}}};
  CHECK(message_of([&] { report::figure_svg(empty); }) == "plot 't': no point can be drawn");
}

TEST_CASE("the charts of the documents are small, well-formed, shown, and made by a command that is shown") {
  std::string shown;
  for (const std::filesystem::path& document : documents()) shown += file_text(document);
  const bool python = has_python();
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ISOBAR_SOURCE_DIR "/experiments/figures")) {
    const std::string name = entry.path().filename();
    CAPTURE(name);
    if (name.ends_with(".png")) {  // of the report, by tests/report_screenshot.py
      CHECK(entry.file_size() < 200 << 10);
      CHECK(shown.find("figures/" + name + ")") != std::string::npos);
      continue;
    }
    CHECK(entry.file_size() < 40 << 10);
    if (python) CHECK(curves_of_svg(entry.path()) != "0\n");
    CHECK(shown.find("(../figures/" + name + ")") != std::string::npos);
    CHECK(shown.find("-o experiments/figures/" + name) != std::string::npos);
    ++count;
  }
  CHECK(count > 0);
}

namespace {

const std::string one_claim = R"([source]
id = "005"
title = "Why I normalize"
author = "A. Blogger"
date = "2026-01-31"
address = "unknown"
[run.two_layers]
study = "decay_study"
flags = "--depth 2 --width 32 --seeds 3"
[[claim]]
id = "N02"
quote = "They use RMSNorm."
says = "they use RMSNorm"
kind = "source"
note = "a note"
[[claim.passage]]
title = "Their paper"
address = "https://example.org"
read = "2026-01-31"
quote = "We use RMSNorm."
reading = "they do"
bears_out = "RMSNorm"
[[claim]]
id = "N01"
quote = "The first layer keeps its std."
says = "the first layer keeps the std"
[[claim.part]]
says = "layer 1"
run = "two_layers"
key = "layer1.std"
rule = "mean"
between = [0.9, 1.1]
why = "a tenth to either side"
)";

// Gives the words to a script that uses a browser, where there is one.
void browse(const std::string& script, const std::vector<std::string>& words) {
  std::string command = "python3 " ISOBAR_SOURCE_DIR "/tests/" + script;
  for (const std::string& word : words) command += " " + word;
  const Outcome run = run_command(command);
  INFO(run.out, run.err);
  if (run.code == 77 || run.code == 127)
    skip("python3, chromium and chromedriver are not installed");
  else
    CHECK(run.code == 0);
}

}  // namespace

TEST_CASE("the page of a run stands alone and works in a browser") {
  const TemporaryFolder folder;
  const std::string out = folder / "all", rmsnorm = folder / "rmsnorm", lm = folder / "lm";
  REQUIRE(run_built("isobar verify", "--only blog8 --out " + out).code == 0);
  REQUIRE(run_built("decay_study", "--preset blog8_rmsnorm --seeds 2 --out " + rmsnorm).code == 0);
  REQUIRE(run_built("train_lm",
                    "--max_iters 20 --warmup_iters 5 --eval_interval 10 --eval_iters 2 --log_interval 5 "
                    "--n_layer 1 --n_embd 32 --n_head 2 --block_size 32 --out " +
                        lm)
              .code == 0);
  const std::string claims = folder / "claims.html", training = folder / "training.html",
                    study = folder / "study.html";
  const Outcome outcome = run_built("isobar report", out + " " + rmsnorm + " -o " + claims);
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  REQUIRE(run_built("isobar report", rmsnorm + " -o " + study).code == 0);
  REQUIRE(run_built("isobar report", lm + " -o " + training).code == 0);
  const std::string page = file_text(claims);
  CHECK(page.size() < 1 << 20);
  CHECK(page.find("\"D01\"") != std::string::npos);
  CHECK(page.find("std of each layer's output") != std::string::npos);
  // Nothing is fetched: no element names a file or a host, and the page forbids the browser to ask.
  for (const char* element : {"<link", "<iframe", "<script src", "@import"})
    CHECK(page.find(element) == std::string::npos);
  CHECK(page.find("default-src 'none'") != std::string::npos);

  const std::string own = folder / "own.html", file = folder.write("mine.toml", one_claim);
  REQUIRE(run_built("isobar verify", file + " --seed 3 --out " + (folder / "own")).code == 0);
  REQUIRE(run_built("isobar report", (folder / "own") + " -o " + own).code == 0);
  CHECK(file_text(own).find("\"seed\":3") != std::string::npos);
  browse("report_page.py", {claims, study, training, own});
  browse("hostile_page.py", {ISOBAR_BINARY_DIR "/bin/isobar", file, lm, folder / "own"});
}

}  // namespace isobar::report_test
