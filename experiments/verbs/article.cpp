// isobar article: what was asked, measured and found, as an article of some pages: HTML, and PDF by Chromium.
#include <filesystem>

#include "../../data/file.h"
#include "../article/article.h"
#include "../harness/tool.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

// By the first of these programs that is there.
void print_pdf(const std::string& html, const std::string& pdf) {
  const std::string address = "file://" + std::filesystem::absolute(html).string(),
                    flag = "--print-to-pdf=" + pdf;
  for (const char* browser : {"chromium", "chromium-browser", "google-chrome"}) {
    Finished run;
    try {
      run = run_child(
          browser, {"--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", flag, address},
          Complaints::kept);
    } catch (const Error&) {
      continue;  // it is not here
    }
    check(run.code == 0 && std::filesystem::exists(pdf), "--pdf: {} could not print {}: {}", browser, html,
          run.err);
    fmt::print("{}: {} KiB\n", pdf, std::filesystem::file_size(pdf) / 1024);
    return;
  }
  throw Error(fmt::format(
      "--pdf needs Chromium or Chrome, and none is in PATH; apt-get install chromium, or print {} "
      "from any browser",
      html));
}

}  // namespace

int article(const Words& words) {
  std::string output = "article.html", pdf;
  Tool tool("isobar article",
            "An article of what was asked, measured and found: every number of it from the kept runs.",
            "isobar article --pdf article.pdf");
  tool.option("-o,--output", output, "the file to write, HTML that loads nothing");
  tool.option("--pdf", pdf, "also print it, by Chromium, to this file");
  return tool.run(words, [&] {
    const std::string page = article::page(claims::Kept::shipped());
    write_file_atomically(output, page);
    fmt::print("{}: {} KiB\n", output, page.size() / 1024);
    if (!pdf.empty()) print_pdf(output, pdf);
  });
}

}  // namespace isobar::verbs
