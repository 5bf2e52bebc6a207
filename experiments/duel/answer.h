// Answer: what a duel says at its end, on one screen; and what it leaves for claims, tables and charts.
#pragma once

#include "../run/run.h"
#include "findings.h"

namespace isobar::duel {

struct Row {
  Phrase name;
  std::string a, b;
};

// "dyt is worse than dyt_sqrtd by 0.118 nats, [0.10, 0.14]: decided by 8 pairs".
Phrase headline_of(const Findings& found, double margin);
// What both are, side by side.
std::vector<Row> rows_of(const Findings& found);

std::vector<Row> cost_rows(const Costs& costs);

// "pair 9: 2.183 and 2.163, +0.020; mean +0.018, [-0.003, 0.039]", for who waits.
std::string pair_text(const Findings& found);

// The summary, measured values, pairs.csv, rates.csv, series and charts.
void record(Run& run, const Findings& found, double margin, const std::vector<Row>& rows,
            const std::vector<Row>& costs);
// The headline, the rows and the reasons.
void print(Run& run, const Findings& found, double margin, const std::vector<Row>& rows,
           const std::vector<Row>& costs);

}  // namespace isobar::duel
