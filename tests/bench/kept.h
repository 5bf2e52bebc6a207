// Kept: a file of what each case was at one commit, with which later commits are compared.
//
// Milliseconds differ from machine to machine, so the file holds what does not, or little: a step's share of
// what the machine can do (limits.h), and counts of a step. One JSON object a line, the machine first:
//
//   {"bench":"environment","cpu":"Intel(R) Xeon(R) …", …}
//   {"bench":"study8_fwdbwd","threads":1,"share":0.54,"step_bytes":1572864,"storage_allocations":0,
//    "heap_allocations":0,"page_faults":0}
//
// README.md says what each is, and when a row has fallen.
#pragma once

#include "../../experiments/run/json.h"
#include "cases.h"

namespace isobar::bench {

// What of a case is measured.
enum class Measured { times, counts };
// The case's row as bench --json prints it.
using Measure = std::function<Json(const Case& one, int threads, Measured what)>;

// Whether a case has anything to keep: it is a step of ours that has a limit.
bool can_be_kept(const Case& one);

// Measures the cases with these numbers of threads and puts their rows into the file, in place of those that
// it has for them. Prints each row.
void keep(const std::string& file, const Cases& cases, const std::vector<int>& threads,
          const Measure& measure);

struct Comparison {
  size_t rows = 0;                // that were compared
  std::vector<std::string> fell;  // a line for each of them that fell
};
// Measures the file's rows of these cases and numbers of threads. Throws Error where the file has none.
Comparison compare(const std::string& file, const Cases& cases, const std::vector<int>& threads,
                   const std::vector<Measured>& what, const Measure& measure);

}  // namespace isobar::bench
