#include "trainings.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "../../core/parallel.h"
#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../../data/utf8_stream.h"
#include "../run/each.h"
#include "../run/program.h"
#include "../run/provenance.h"

namespace isobar::duel {
namespace {

using Entry = std::pair<Training, Trained>;

constexpr size_t checksum_length = 16, record_head = sizeof(uint64_t) + checksum_length,
                 most_bytes = size_t{1} << 30;
constexpr const char* journal_name = "trainings.journal";

std::string record_of(const std::string& bytes) {
  return to_bytes<uint64_t>(bytes.size()) + checksum(bytes) + bytes;
}

// The bytes of the record that begins at `at`, which moves behind it; none where it is not whole.
std::optional<std::string> next_record(const std::string& text, size_t& at) {
  const size_t head = record_head;
  if (text.size() - at < head) return std::nullopt;
  const auto length = from_bytes<uint64_t>(text.substr(at, sizeof(uint64_t)));
  if (text.size() - at - head < length) return std::nullopt;
  std::string bytes = text.substr(at + head, length);
  if (checksum(bytes) != text.substr(at + sizeof(uint64_t), checksum_length)) return std::nullopt;
  at += head + length;
  return bytes;
}

// Whether a whole record begins anywhere behind `at`. A kill leaves half a record at the end alone. Where the bytes
// look like so many beginnings that to try them all would read 1 GiB, a stranger wrote them: then true.
bool goes_on_behind(const std::string& text, size_t at) {
  const auto is_digit = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  uint64_t tried = 0;
  for (size_t begin = at + 1; begin + record_head < text.size(); ++begin) {
    const auto digits = std::string_view(text).substr(begin + sizeof(uint64_t), checksum_length);
    if (!std::ranges::all_of(digits, is_digit)) continue;
    const auto length = from_bytes<uint64_t>(text.substr(begin, sizeof(uint64_t)));
    if (length > text.size() - begin - record_head) continue;
    if ((tried += length) > uint64_t{1} << 30) return true;
    if (size_t end = begin; next_record(text, end)) return true;
  }
  return false;
}

// Throws Error where a record is damaged that others follow: they are hours of work perhaps.
void refuse_damage(const std::string& text, const std::string& path) {
  size_t at = 0;
  int64_t record = 1;
  while (next_record(text, at)) ++record;
  check(
      !goes_on_behind(text, at),
      "{}: its record {}, at byte {}, is damaged, and whole records follow; restore the file, or add --force to "
      "train anew what it holds from there on",
      path, record, at);
}

// Throws Error where these are the bytes of another run's journal, hours of work perhaps.
void refuse_other(const std::string& text, const Json& heading, const std::string& folder) {
  if (text.empty()) return;
  size_t at = 0;
  const std::optional<std::string> first = next_record(text, at);
  int64_t trainings = 0;
  while (first && next_record(text, at)) ++trainings;
  if (first && trainings == 0) return;
  std::string differences = "it is not a journal of trainings";
  if (const Json head = first ? parse_json<Json>(*first) : Json(); head.is_object()) {
    const auto object = [](const Json& json) { return json.is_object() ? json : Json::object(); };
    const Json there = object(head.value("of", Json()));
    differences = differences_between(object(there.value("config", Json())),
                                      object(heading.value("config", Json())), {});
    const std::string others = differences_between(there, heading, {"config"});
    differences += (differences.empty() || others.empty() ? "" : ", ") + others;
  }
  throw_error(fmt::format(
      "--out: '{}/trainings.journal' holds {} trainings of a run that did not end and is not this one: {}; choose "
      "another folder, or add --force to begin anew without them",
      folder, trainings, one_line(differences)));
}

}  // namespace

// The heading's record and those of trainings, as far as they are whole, that count in this run.
std::string Trainings::known_records(const Json& heading) {
  const Json now = provenance(isobar_sources(), run_.environment().value("data", Json::object()));
  const std::string first = record_of(Json{{"of", heading}, {"provenance", now}}.dump());
  const std::string text = std::filesystem::exists(path_) ? read_regular_file(path_, most_bytes) : "";
  if (!run_.force()) refuse_damage(text, path_);
  size_t at = 0;
  const std::optional<std::string> there = next_record(text, at);
  const Json old = there ? parse_json<Json>(*there) : Json();
  if (!old.is_object() || old.value("of", Json()) != heading) {
    if (!run_.force()) refuse_other(text, heading, run_.folder());
    return first;
  }
  size_t count = 0;
  while (next_record(text, at)) ++count;
  if (const std::string change = change_since(old.value("provenance", Json::object()), now);
      !change.empty()) {
    if (count == 0 || !run_.accept_old()) {
      if (count > 0)
        run_.say("{} trainings of an earlier run do not count: {}; measured anew\n", count, change);
      return first;
    }
    run_.say("{} trainings of an earlier run are taken by --accept-old, though {}\n", count, change);
    run_.summary()["accepted_old"] = change;
  }
  return text.substr(0, at);
}

Trainings::Trainings(Run& run, const Json& heading, std::function<Trained(const Training&)> train)
    : run_(run), train_(std::move(train)), path_(run.folder() + "/" + journal_name) {
  const std::string known = by_first(run.ranks(), [&] { return known_records(heading); });
  size_t at = 0;
  next_record(known, at);  // the heading
  try {
    while (const std::optional<std::string> bytes = next_record(known, at))
      done_.insert(from_bytes<Entry>(*bytes));
  } catch (const Error& error) {
    throw_error(fmt::format(
        "{}: its record {} is none of a training ({}); restore the file, or add --force to begin anew", path_,
        done_.size() + 2, error.what()));
  }
  found_ = std::ssize(done_);
  at_a_time_ =
      std::stol(by_first(run.ranks(), [&] { return fmt::format("{}", threads() * run.ranks().size()); }));
  if (!run.ranks().first()) return;
  write_file_atomically(run.staying_file(journal_name), known);
  descriptor_ = open_to_append(path_);
}

Trainings::~Trainings() { ::close(descriptor_); }

void Trainings::of(const std::vector<Training>& wanted,
                   const std::function<void(size_t, const Trained&)>& done) {
  std::vector<Training> missing;
  for (const Training& training : wanted)
    if (!done_.contains(training)) missing.push_back(training);
  Progress progress = run_.progress(std::ssize(missing), "trainings");
  size_t told = 0;
  const auto tell = [&] {
    for (; told < wanted.size() && done_.contains(wanted[told]); ++told) {
      progress.clear();
      done(told, done_.at(wanted[told]));
    }
  };
  tell();
  const auto train = [&](int64_t i) {
    const Training& training = missing[static_cast<size_t>(i)];
    Trained trained = train_(training);
    progress.advance(1, fmt::format("learning rate {}, loss {:.3f}", training.rate, trained.val_loss));
    return trained;
  };
  each(run_.ranks(), std::ssize(missing), train, [&](int64_t i, const Trained& trained) {
    keep(missing[static_cast<size_t>(i)], trained);
    tell();
  });
}

void Trainings::keep(const Training& training, const Trained& trained) {
  done_.emplace(training, trained);
  if (descriptor_ >= 0) append_to(descriptor_, record_of(to_bytes(Entry(training, trained))), path_);
}

void Trainings::end() { run_.remove_when_finished(journal_name); }

}  // namespace isobar::duel
