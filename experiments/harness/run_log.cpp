#include "run_log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "../../core/error.h"

namespace isobar {
namespace {

using ConsoleSink = spdlog::sinks::stdout_sink_base<spdlog::details::console_nullmutex>;

// spdlog catches what its sinks throw; a run that cannot write its log is to end.
spdlog::logger logger_to(std::shared_ptr<spdlog::sinks::sink> sink) {
  spdlog::logger logger("run", std::move(sink));
  logger.flush_on(spdlog::level::info);
  logger.set_error_handler([](const std::string& reason) { throw_error("run.log: " + reason); });
  return logger;
}

std::shared_ptr<spdlog::sinks::sink> file_sink(const std::string& path, bool truncate) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(path, truncate);
    sink->set_pattern("[%Y-%m-%d %H:%M:%S.%e] %v");
    return sink;
  } catch (const spdlog::spdlog_ex& error) {
    throw_error(std::string("run.log: ") + error.what());
  }
}

std::shared_ptr<spdlog::sinks::sink> console_sink(std::FILE* stream) {
  auto sink = std::make_shared<ConsoleSink>(stream);
  sink->set_formatter(
      std::make_unique<spdlog::pattern_formatter>("%v", spdlog::pattern_time_type::local, ""));
  return sink;
}

}  // namespace

struct RunLog::Loggers {
  spdlog::logger file, console;
};

RunLog::RunLog(const std::string& path, std::FILE* console, Begin begin)
    : loggers_(std::make_unique<Loggers>(
          Loggers{logger_to(file_sink(path, begin == Begin::anew)), logger_to(console_sink(console))})) {}

RunLog::~RunLog() = default;

void RunLog::say(std::string_view text) {
  loggers_->console.info(text);
  part_ += text;
  const size_t end = part_.rfind('\n');
  if (end == std::string::npos) return;
  note(std::string_view(part_).substr(0, end));
  part_.erase(0, end + 1);
}

void RunLog::note(std::string_view text) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    loggers_->file.info(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace isobar
