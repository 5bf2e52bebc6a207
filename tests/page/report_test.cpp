// The report: one file that asks for nothing outside, holds what was run, and works in a browser.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "../../experiments/claims/file.h"
#include "../../experiments/page/charts/charts.h"
#include "../../experiments/page/figures.h"
#include "../../experiments/page/norms.h"
#include "../../experiments/page/page.h"
#include "../docs/documents.h"
#include "../message_of.h"
#include "../run.h"
#include "../skip.h"

namespace isobar::report_test {

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

TEST_CASE("a text of a run is no tag, no attribute and no direction mark in its page and pictures") {
  const std::string attack = "\"><script>alert(1)\u009b\u202e\x01</script>";
  const TemporaryFolder folder;
  folder.write("summary.json",
               json_text({{"program", attack}, {"claims", {{{"id", attack}, {"parts", Json::array()}}}}}));
  report::Content content;
  content.add(folder / "");
  const std::string page = content.page("en");
  CHECK(holds(page, "<td>&quot;&gt;&lt;script&gt;"));
  CHECK(holds(page, R"(\u003c/script>)"));  // in the page's data
  CHECK_FALSE(holds(page, "<script>alert"));
  for (const char* mark : {"\u202e", "\u009b", "\x01"}) CHECK_FALSE(holds(page, mark));
  Json plot = to_json(Plot{"t", "x", "y", false, {{"a", Role::measured, {1, 2}, {3, 4}, {}, {}}}});
  for (const char* text : {"title", "x", "y"}) plot[text] = attack;
  plot["curves"][0]["label"] = attack;
  const std::string svg = report::figure_svg(plot_of(plot));
  CHECK_FALSE(holds(svg, "<script"));
  CHECK(holds(svg, "&quot;&gt;&lt;script&gt;"));
  plot["curves"][0]["role"] = attack;
  CHECK(message_of([&] {
          report::shown_run({{"program", "s"}, {"plots", {plot}}});
        }) == "report: a curve's role: wanted measured, theory or printed; run the study again");
}

TEST_CASE("what is no folder of a run is refused by name") {
  const TemporaryFolder folder;
  check_refused("isobar report", (folder / "none") + " -o " + (folder / "page.html"),
                "'" + (folder / "none") + "' has no summary.json; name the folder of a finished run\n");
  std::ofstream(folder / "summary.json") << "{";
  const Outcome broken = run_built("isobar report", folder / "");
  CHECK(broken.code == 2);
  CHECK(holds(broken.err, "is not the summary of a run; run the study again"));
  std::ofstream(folder / "summary.json") << R"({"program": "s", "config": )" << std::string(1'000'000, '[')
                                         << std::string(1'000'000, ']') << "}";
  CHECK(run_built("isobar report", folder / "").err == broken.err);
  folder.write("summary.json",
               R"({"program": "verify", "runs": [{"name": "a", "folder": "../b", "done": true}]})");
  CHECK(holds(run_built("isobar report", folder / "").err, "names a run outside of its folder, '../b'"));
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
  CHECK(holds(page, "\"run\":\"s\""));
  CHECK(holds(page, "\"run\":\"" + (folder / "b/s") + "\""));
  CHECK(holds(page, R"({"name":"r","reason":"no data"})"));
}

TEST_CASE("a claim's ladder is drawn against what is asked, and told in words without scripts") {
  Json reach = {{"optimizer", "Muon"}, {"text", "Muon: flips"}, {"text_zh", "Muon：翻转"}};
  for (const double rung : {1.0, 2.0, 3.0})
    reach["rungs"].push_back({{"short", fmt::format("{} wide", 16 * rung)},
                              {"log2_compute", 30 + rung},
                              {"value", 2 - rung},
                              {"interval", {1.5 - rung, 2.5 - rung}}});
  const Json part = {{"says", "better"}, {"bounds", {nullptr, 0}}, {"log", false}, {"reaches", {reach}}};
  const Json claim = {{"id", "A01"}, {"reach", "Muon: <flips>"}, {"parts", {part}}};
  const std::string table = report::claims_table(Json::array({claim})).text();
  CAPTURE(table);
  const std::string svg = table.substr(table.find("data-strip=\"0 0 reach 0\""));
  CHECK(holds(svg, "aria-label=\"better: Muon: flips\""));
  // The middle rung is at the bound, half-way between the others.
  std::smatch zone, dots;
  REQUIRE(std::regex_search(svg, zone, std::regex("class=\"zone\" d=\"M42 ([0-9.]+)h")));
  REQUIRE(std::regex_search(
      svg, dots, std::regex("cx=\"50\" cy=\"([0-9.]+)\"[^]*cx=\"124\" cy=\"([0-9.]+)\"[^]*cx=\"198\"")));
  CHECK(dots[2] == zone[1]);
  CHECK(std::stod(dots[1]) < std::stod(zone[1]));
  CHECK(holds(svg, ">16 wide</text>"));
  CHECK(holds(svg, ">48 wide</text>"));
  CHECK(holds(table, "<small>Muon: &lt;flips&gt;</small>"));
  const Json shown = report::shown_claim(claim);
  CHECK(shown["parts"][0]["reaches"].dump() == R"([{"text":"Muon: flips","text_zh":"Muon：翻转"}])");
}

TEST_CASE("a part on the page says its outcome once, and has no field that no script reads") {
  const auto shown = [](const char* text) {
    const Json part = {{"says", "better"},           {"outcome", "holds"}, {"outcome_text", text},
                       {"outcome_text_zh", "成立…"}, {"margin", 0.0},      {"pooled", false},
                       {"reaches", Json::array()}};
    return report::shown_claim({{"id", "A01"}, {"parts", {part}}})["parts"][0].dump();
  };
  CHECK(shown("holds") == R"({"says":"better","outcome":"holds"})");
  CHECK(
      shown("holds, assuming normal values") ==
      R"({"says":"better","outcome":"holds","outcome_text":"holds, assuming normal values","outcome_text_zh":"成立…"})");
}

TEST_CASE("a run under way has a page with every claim, those to come among them") {
  const TemporaryFolder folder;
  folder.write("s/summary.json", R"({"program": "s"})");
  const Json summary = Json::parse(R"({"program": "verify",
      "claims": [{"id": "A01", "claim": "it is 1", "verdict": "true", "parts": [{"run": "s", "key": "k", "bounds": [0, 1]}]},
                 {"id": "A02", "claim": "it is <2", "verdict": "still to come", "parts": [{"run": "s", "key": "k", "bounds": [null, null]}]}],
      "runs": [{"name": "s", "done": true}, {"name": "later", "done": false, "cannot_run": ""}],
      "progress": {"done": 1, "of": 2, "seconds_left": 300}})");
  report::Content content;
  content.add(summary, folder / "");
  CHECK(content.claim_count() == 2);
  CHECK(content.run_count() == 1);
  const std::string page = content.page("en");
  CHECK(holds(page, R"("progress":{"done":1,"of":2,"seconds_left":300})"));
  CHECK_FALSE(holds(page, "later"));
  CHECK(holds(page, "<span data-strip=\"1 0\"></span>"));  // with nothing to draw
  // Without scripts it is a table.
  CHECK(holds(page, "<td>it is &lt;2</td>\n<td>still to come</td>"));
}

TEST_CASE("the table of norms is in the order of outcomes, in both languages, and no text of it is a tag") {
  const auto found = [](const char* outcome, double difference) {
    return Json{{"outcome", outcome},
                {"likeness", "different"},
                {"difference", difference},
                {"low", difference - 0.01},
                {"high", "inf"},
                {"pairs", 8},
                {"largest_rates", {0.01, 0.3}},
                {"signal_dies", {10.0, "inf"}},
                {"gradient_dies", {"nan", 556.0}},
                {"timing", {{"step", 1.234}, {"busy", true}}}};
  };
  const auto norm = [](const char* title, const Json& result, const Json& second) {
    return Json{{"title", title},
                {"formula", "f(x)"},
                {"results", {{"synthetic", result}}},
                {"second", {{"synthetic", second}}}};
  };
  Json facts = {{"max_pairs", 12},
                {"texts", {"synthetic"}},
                {"norms",
                 {norm("<i>last", found("worse", 0.2), Json()), norm("third", found("worse", 0.1), Json()),
                  norm("second", found("equal", 0.001), Json()), norm("none", Json(), Json()),
                  norm("first", found("better", -0.1), Json())}}};
  const auto order = [&](const std::vector<std::string>& pieces) {
    const std::string text = report::norms_section(facts).text();
    CAPTURE(text);
    for (size_t at = 0, i = 0; i < pieces.size(); ++i) {
      CAPTURE(pieces[i]);
      at = text.find(pieces[i], at);
      CHECK(at != std::string::npos);
    }
    return text;
  };
  const std::string text =
      order({"<section id=\"norms\"", "与 RMSNorm 相比的各种归一化",
             "The synthetic language: 1 better, 1 equal, 2 worse, 1 not measured yet",
             "合成语言: 1 较好, 1 相等, 2 较差, 1 尚未测量", ">RMSNorm</th>",
             "<td>0.3</td>\n<td>1</td>\n<td>∞</td>\n<td>556</td>", ">first<small>f(x)</small>",
             "<td>−0.100 [−0.110, ∞]</td>\n<td>8</td>\n<td>0.01</td>\n<td>1.2*</td>\n<td>10</td>\n<td>–</td>",
             ">second<", ">third<", ">&lt;i&gt;last<"});
  CHECK_FALSE(holds(text, "Muon"));
  CHECK_FALSE(holds(text, ">none<"));
  facts["norms"][1]["second"]["synthetic"] = found("equal", 0.02);
  order({"with Muon", ">third<", "<span class=\"en\">equal +0.020 [+0.010, ∞]</span>",
         "not measured yet</span>"});
  CHECK(report::norms_section(Json()).empty());
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
  ran("decay_study", "--seeds 3 --out " + run);
  ran("isobar report", run + " --svg std -o " + svg);
  if (has_python()) CHECK(curves_of_svg(svg) == "3\n");  // measured, theory, printed
  CHECK(holds(file_text(svg), ">std of each layer's output, plain default none sum D=8</text>"));
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
  CHECK(holds(both, "<tspan class=\"en\">step</tspan><tspan class=\"zh\">步</tspan>"));
  CHECK(holds(both, ">y</text>"));
  const std::string english = report::figure_svg(plot_of(plot)),
                    chinese = report::figure_svg(plot_of(plot), "zh");
  CHECK_FALSE(holds(english, "损失"));
  CHECK(holds(chinese, ">损失</text>"));
  CHECK_FALSE(holds(chinese, "training"));
}

TEST_CASE("a chart draws an infinite value at its edge, and the band to it") {
  PlotCurve curve{"median"};
  curve.add(1, spread_of(std::vector<double>{1, 2, 4}));
  curve.add(2, spread_of(std::vector<double>{8, 9, HUGE_VAL}));
  curve.add(3, spread_of(std::vector<double>{20, HUGE_VAL, HUGE_VAL}));
  curve.add(4, spread_of(std::vector<double>{20, NAN, 30}));
  const Plot plot{.title = "std", .x = "layer", .y = "std", .log = true, .curves = {curve}};
  const std::vector<charts::DrawnCurve> drawn = charts::drawn_curves(plot);
  REQUIRE(drawn.size() == 1);
  REQUIRE(drawn[0].points.size() == 3);  // NaN is nowhere
  CHECK(drawn[0].points[2].y == HUGE_VAL);
  const std::string svg = charts::svg(charts::line_chart(plot, {})).text();
  CHECK(holds(svg, ">∞</text>"));
  const auto count = [&](const std::string& part) {
    int64_t n = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++n;
    return n;
  };
  CHECK(count("<path class=\"beyond\"") == 1);
  CHECK(count("<circle") == 2);
  CHECK_FALSE(holds(svg, "inf"));
  CHECK_FALSE(holds(svg, "nan"));
  // The greatest of two seeds is at the upper edge, y = 26, where the median of the third layer is too.
  CHECK(holds(svg, " 26L"));
  // All are infinite.
  const Plot none{.title = "std",
                  .x = "layer",
                  .y = "std",
                  .log = true,
                  .curves = {{"a", Role::measured, {1}, {HUGE_VAL}}}};
  CHECK(holds(charts::svg(charts::line_chart(none, {})).text(), "class=\"beyond\""));
  const Heatmap map{
      .title = "t", .x = "step", .value = "std", .columns = {1, 2}, .rows = {"a"}, .values = {{1, HUGE_VAL}}};
  CHECK(holds(charts::svg(charts::heat_map(map, {})).text(), ">infinite<"));
  CHECK(holds(charts::svg(charts::strip({.label = "x", .value = HUGE_VAL, .high = 1})).text(),
              "class=\"beyond\""));
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
  CHECK(holds(svg, "a &lt; b &amp; c</text>"));
  CHECK(holds(svg, ">pre.&lt;none&gt;</text>"));
  CHECK(holds(svg, "class=\"range\""));
  CHECK_FALSE(holds(svg, "nan"));
  const Plot empty{
      .title = "t", .x = "", .y = "", .log = true, .curves = {{"x", Role::measured, {1}, {0}, {}, {}}}};
  CHECK(message_of([&] { report::figure_svg(empty); }) == "plot 't': no point can be drawn");
}

TEST_CASE("the charts of the documents are small, well-formed, shown, and made by a command that is shown") {
  std::string shown;
  for (const std::filesystem::path& document : documents()) shown += file_text(document);
  const bool python = has_python();
  size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(ISOBAR_SOURCE_DIR "/experiments/page/figures")) {
    const std::string name = entry.path().filename();
    CAPTURE(name);
    if (name.ends_with(".png")) {  // of the report, by tests/page/report_screenshot.py
      CHECK(entry.file_size() < 200 << 10);
      CHECK(holds(shown, "page/figures/" + name + "\""));
      continue;
    }
    CHECK(entry.file_size() < 40 << 10);
    if (python) CHECK(curves_of_svg(entry.path()) != "0\n");
    CHECK(holds(shown, "page/figures/" + name + ")"));
    CHECK(holds(shown, "-o experiments/page/figures/" + name));
    ++count;
  }
  CHECK(count > 0);
}

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

// What a page says, as its scripts read it: the claims by their ids.
std::map<std::string, Json> claims_of_page(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const size_t from = page.find(begin) + begin.size();
  std::map<std::string, Json> claims;
  const Json data = Json::parse(page.substr(from, page.find("</script>", from) - from));
  for (const Json& claim : data["claims"]) claims[claim["id"]] = claim;
  return claims;
}

TEST_CASE("a page has kept values where nothing was measured, says so, and every claim by `report --kept`") {
  const TemporaryFolder folder;
  const auto is_kept = [](const Json& part) { return part.value("kept", false); };
  const auto page_of = [&](const std::string& arguments) {
    ran("isobar report", arguments + " --force -o " + (folder / "page.html"));
    return claims_of_page(file_text(folder / "page.html"));
  };
  // D23 is of trained nets, whose values are kept; D01 reads the eight layers alone.
  const std::string verified = folder / "verified", layers = folder / "layers";
  const Outcome made = ran("isobar verify", "--only blog8 --claim D01,D23 --out " + verified);
  CHECK(holds(made.out, "1 open (1 kept)"));
  std::map<std::string, Json> claims = page_of(verified);
  CHECK(std::ranges::none_of(claims["D01"]["parts"], is_kept));
  CHECK(std::ranges::all_of(claims["D23"]["parts"], is_kept));
  CHECK(claims["D23"]["parts"][0]["value"].is_number());
  // A value that was not measured is in no table.
  CHECK(file_text(verified + "/claims.csv").find(claims["D23"]["parts"][0]["value"].dump()) ==
        std::string::npos);

  claims = page_of("--kept");
  CHECK(claims.size() == claims::builtin_table().size());
  CHECK(std::ranges::all_of(claims["D01"]["parts"], is_kept));
  CHECK(claims["D01"]["kept"]["verdict"] == claims["D01"]["verdict"]);
  ran("decay_study", "--out " + layers);
  claims = page_of("--kept " + layers);
  CHECK(claims.size() == claims::builtin_table().size());
  CHECK(std::ranges::none_of(claims["D01"]["parts"], is_kept));
  CHECK(claims["D01"]["parts"][0]["run"] == "layers");
  CHECK(std::ranges::all_of(claims["D23"]["parts"], is_kept));
  // Other seeds are not what was kept.
  ran("decay_study", "--seeds 3 --force --out " + layers);
  CHECK(std::ranges::all_of(page_of("--kept " + layers)["D01"]["parts"], is_kept));
  CHECK(std::ranges::none_of(page_of("--kept " + verified)["D01"]["parts"], is_kept));

  check_refused("isobar report", "", "wanted a DIR with a finished run, or --kept");
  check_refused("isobar report", layers + " --tree .", "--tree: belongs to --kept; add it");
}

TEST_CASE("the live chapter's module was made of the sources that are here") {
  const std::string root = ISOBAR_SOURCE_DIR,
                    text = file_text(root + "/experiments/fixtures/live_module.txt");
  const Outcome sources = run_command(root + "/experiments/page/live/build --sources");
  REQUIRE(sources.code == 0);
  const std::string made = "made by experiments/page/live/build of sources " + sources.out;
  CHECK_MESSAGE(text.starts_with(made), "run experiments/page/live/build");
}

TEST_CASE(
    "the pages of runs and of the kept values stand alone, work in a browser and print on a few sheets") {
  const TemporaryFolder folder;
  const std::string out = folder / "some", rmsnorm = folder / "rmsnorm", lm = folder / "lm";
  // One claim at least of each colour, some without their runs.
  ran("isobar verify", "--only blog8 --claim D01,D03,D04,D06,D12,D35,D40,D41,D42,A07 --out " + out);
  ran("decay_study", "--preset blog8_rmsnorm --seeds 2 --out " + rmsnorm);
  ran("train_lm", "--tiny --max_iters 20 --log_interval 5 --out " + lm);
  const std::string claims = folder / "claims.html", training = folder / "training.html",
                    kept = folder / "kept.html";  // of all claims, by their kept values
  ran("isobar verify", "--kept --out " + (folder / "kept"));
  ran("isobar report", (folder / "kept") + " --kept --tree " ISOBAR_SOURCE_DIR " -o " + kept);
  ran("isobar report", out + " " + rmsnorm + " -o " + claims);
  ran("isobar report", lm + " -o " + training);
  CHECK(std::filesystem::file_size(kept) < (size_t{1} << 20) * claims::builtin_table().size() / 140);
  const std::string page = file_text(claims);
  CHECK(holds(page, "\"D01\""));
  CHECK(holds(page, "std of each layer's output"));
  // Nothing is fetched: no element names a file or a host, and the page forbids the browser to ask.
  for (const char* element : {"<link", "<iframe", "<script src", "@import"})
    CHECK_FALSE(holds(page, element));
  CHECK(holds(page, "default-src 'none'"));

  const std::string own = folder / "own.html", file = folder.write("mine.toml", one_claim);
  ran("isobar verify", file + " --seed 3 --out " + (folder / "own"));
  ran("isobar report", (folder / "own") + " -o " + own);
  CHECK(holds(file_text(own), "\"seed\":3"));
  const std::string live = folder / "live.html";
  ran("isobar report", out + " " + rmsnorm + " --live -o " + live);
  // 118 KiB of it belong to what_trains: its digits, the map and the code that trains.
  CHECK(file_text(live).size() - page.size() < (1 << 18) + (1 << 15) + 120 * 1024);
  CHECK_FALSE(holds(page, "wasm"));
  const std::string programs = ISOBAR_BINARY_DIR "/bin/";
  browse("page/pages.py", {programs + "isobar", programs + "decay_study", live, file, lm, folder / "own",
                           claims, training, own, kept});
}

}  // namespace isobar::report_test
