// isobar article: what was asked, measured and found, as an article of some pages: HTML, and PDF by Chromium.
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "../../data/file.h"
#include "../page/article/article.h"
#include "../run/output_file.h"
#include "../run/tool.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

// A new folder of this user's own, gone at the end.
struct PrivateFolder {
  std::string path = (std::filesystem::temp_directory_path() / "isobar_XXXXXX").string();
  PrivateFolder() {
    check(::mkdtemp(path.data()) != nullptr, "cannot make a folder {}: {}", path, std::strerror(errno));
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

// By the first of these programs that is there.
void print_pdf(const std::string& page, const std::string& pdf) {
  const PrivateFolder folder;
  const std::string html = folder.path + "/article.html", printed = folder.path + "/article.pdf",
                    address = "file://" + html, flag = "--print-to-pdf=" + printed;
  write_file_atomically(html, page);
  for (const char* browser : {"chromium", "chromium-browser", "google-chrome"}) {
    Finished run;
    try {
      run = run_child(
          browser, {"--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", flag, address},
          Complaints::kept);
    } catch (const Error&) {
      continue;  // it is not here
    }
    check(run.code == 0 && std::filesystem::exists(printed), "--pdf: {} could not print {}: {}", browser,
          html, run.err);
    const std::string bytes = read_regular_file(printed, size_t{1} << 30);
    write_file_atomically(pdf, bytes, PathFrom::user);
    say_written(pdf, fmt::format("{}: {} KiB\n", pdf, bytes.size() / 1024));
    return;
  }
  throw Error(
      "--pdf needs Chromium or Chrome, and none is in PATH; apt-get install chromium, or print the page from "
      "any browser");
}

}  // namespace

int article(const Words& words) {
  std::string output, pdf;
  bool force = false;
  Tool tool("isobar article",
            "An article of what was asked, measured and found: every number of it from the kept runs.",
            "isobar article --pdf article.pdf");
  tool.option("-o,--output", output,
              "the file to write, HTML that loads nothing; article.html where it is not said");
  tool.option("--pdf", pdf, "also print it, by Chromium, to this file");
  tool.option("--force", force, "replace files that are there and not an article");
  return tool.run(words, [&] {
    const PathFrom from = output.empty() ? PathFrom::program : PathFrom::user;
    if (output.empty()) output = "article.html";
    check_output(output, {.force = force, .page = true});
    if (!pdf.empty()) check_output(pdf, {.force = force});
    const std::string page = article::page(claims::Kept::shipped());
    write_file_atomically(output, page, from);
    say_written(output, fmt::format("{}: {} KiB\n", output, page.size() / 1024));
    if (!pdf.empty()) print_pdf(page, pdf);
  });
}

}  // namespace isobar::verbs
