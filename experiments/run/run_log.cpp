#include "run_log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>

#include "../../data/file.h"
#include "../../data/utf8_stream.h"
#include "lists.h"
#include "process.h"

namespace isobar {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  return level == LogLevel::off ? spdlog::level::off
                                : static_cast<spdlog::level::level_enum>(static_cast<int>(level));
}

// Lines as they are; those of level warn on stderr, with a word before them.
class ConsoleSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit ConsoleSink(const LogConsole& console) : console_(console) {
    set_level(spdlog_level(console.level));
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const bool warning = message.level == spdlog::level::warn;
    std::string line = warning ? "warning: " : "";
    line.append(message.payload.data(), message.payload.size()) += '\n';
    std::fwrite(line.data(), 1, line.size(), warning ? console_.err : console_.out);
  }
  // What could not be written, Run::finish() finds.
  void flush_() override {
    std::fflush(console_.out);
    std::fflush(console_.err);
  }

  LogConsole console_;
};

void write(spdlog::logger& logger, std::string_view bytes, LogLevel level) {
  const std::string text = printable(bytes);  // names and quotations may be of an untrusted file
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    logger.log(spdlog_level(level), std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  logger.flush();
}

}  // namespace

LogLevel log_level_from_name(const std::string& name, const std::string& who) {
  const auto it = std::ranges::find(log_level_names, name);
  check(it != log_level_names.end(), "{}: {}", who, not_one_of(log_level_names, name));
  return static_cast<LogLevel>(it - log_level_names.begin());
}

struct RunLog::Loggers {
  // Lines with their time and level, in a file; in memory until it is open.
  class FileSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
   public:
    explicit FileSink(LogLevel console) {
      set_pattern("%Y-%m-%d %H:%M:%S.%e %-7l %v");
      set_level(spdlog_level(std::min(console, LogLevel::debug)));
    }
    FileSink(const FileSink&) = delete;
    FileSink& operator=(const FileSink&) = delete;
    ~FileSink() override { ::close(descriptor_); }

    void open(const std::string& path, RunLog::Begin begin) {
      std::error_code none;
      const bool there =
          std::filesystem::symlink_status(path, none).type() != std::filesystem::file_type::not_found;
      if (begin == RunLog::Begin::anew || !there) write_file_atomically(path, "");
      descriptor_ = open_to_append(path);
      path_ = path;
    }
    void write_waiting() { append_to(descriptor_, std::exchange(waiting_, ""), path_); }
    void close() {
      set_level(spdlog::level::off);
      waiting_.clear();
    }

   private:
    void sink_it_(const spdlog::details::log_msg& message) override {
      spdlog::memory_buf_t line;
      formatter_->format(message, line);
      if (descriptor_ < 0)
        waiting_.append(line.data(), line.size());
      else
        append_to(descriptor_, {line.data(), line.size()}, path_);
    }
    void flush_() override {}

    std::string path_, waiting_;
    int descriptor_ = -1;
  };

  std::shared_ptr<FileSink> sink;
  std::FILE* err;
  spdlog::logger both, file;

  // A full disk is no reason to lose the run: its results are written elsewhere, and fail by themselves.
  void give_up(const std::string& reason) const {
    if (sink->level() == spdlog::level::off) return;
    sink->close();
    complain(err, "warning", fmt::format("run.log: {}; the run goes on, its log ends here", reason));
  }
};

RunLog::RunLog(const LogConsole& console) {
  const auto file = std::make_shared<Loggers::FileSink>(console.level);
  const spdlog::sinks_init_list both = {file, std::make_shared<ConsoleSink>(console)};
  loggers_ = std::make_unique<Loggers>(Loggers{file, console.err, {"run", both}, {"run", file}});
  for (spdlog::logger* logger : {&loggers_->both, &loggers_->file}) {
    logger->set_level(spdlog::level::trace);  // each sink has its own level
    logger->set_error_handler([all = loggers_.get()](const std::string& reason) { all->give_up(reason); });
  }
}

RunLog::RunLog(const std::string& path, Begin begin, const LogConsole& console) : RunLog(console) {
  open(path, begin);
}

void RunLog::open(const std::string& path, Begin begin) {
  try {
    loggers_->sink->open(path, begin);
  } catch (const Error& error) {
    throw_error(std::string("run.log: ") + error.what());
  }
  try {
    loggers_->sink->write_waiting();
  } catch (const Error& error) {
    loggers_->give_up(error.what());
  }
}

void RunLog::close() { loggers_->sink->close(); }

RunLog::~RunLog() {
  if (!part_.empty()) say("\n");
}

void RunLog::say(std::string_view text) {
  part_ += text;
  const size_t end = part_.rfind('\n');
  if (end == std::string::npos) return;
  write(loggers_->both, std::string_view(part_).substr(0, end), LogLevel::info);
  part_.erase(0, end + 1);
}

void RunLog::warn(std::string_view text) {
  write(loggers_->both, one_line(text, longest_message), LogLevel::warn);
}
void RunLog::note(std::string_view text, LogLevel level) { write(loggers_->both, text, level); }
void RunLog::keep(std::string_view text, LogLevel level) {
  write(loggers_->file, one_line(text, longest_message), level);
}

}  // namespace isobar
