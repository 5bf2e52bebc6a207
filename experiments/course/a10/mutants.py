"""Wrong forms of a10.cpp: (name, a text that occurs once, what it becomes)."""
BEGIN = "rank * each + std::min<int64_t>(rank, more);"
PARENT = "      link.send(rank - stride, sum);\n      return sum;"
CHILD = "    if (rank + stride < link.size()) add(sum, link.receive(rank + stride).values);"
UP = "for (int stride = 1; stride < link.size(); stride *= 2) {\n    if"
TOP = "while (stride < link.size()) stride *= 2;"
FROM = "if (rank % (2 * stride) == stride) values = link.receive(rank - stride).values;"
TO = "if (rank % (2 * stride) == 0 && rank + stride < link.size()) link.send(rank + stride, values);"
BOTH = "  std::vector<float> sum = reduce(link, numbers(x));\n  broadcast(link, sum);"
CUT = "chunks.emplace_back(all.begin() + first, all.begin() + std::min(first + most, count));"
EACH = "for (int64_t first = 0; first < count; first += most)"
PHASES = "  for (auto& chunk : chunks) chunk = reduce(link, chunk);\n  for (auto& chunk : chunks) broadcast(link, chunk);"
WEIGHT = "value = rows > 0 ? value * rows : 0;"
NEXT = "next[c] -= rate * total[c] / all_rows;"
MINE = "sums[mine + i].assign(all.begin() + i * width, all.begin() + (i + 1) * width);"
OWNER = "while (share(count, size, rank).end <= leaf) ++rank;"
RIGHT = "if (link.rank() == right && left != right) link.send(left, sums[first + stride]);"
LEFT = "add(sums[first], left == right ? sums[first + stride] : link.receive(right).values);"
TOLD = "  broadcast(link, sums[0]);"
HEARD = "return message.dead ? message.from : message.tag - 1;"
DEAF = "    if (heard_of(part) != nobody)\n      dead = heard_of(part);\n    else\n      add(sum, part.values);"
SENT = "if (!link.send(rank - stride, sum, dead + 1)) dead = rank - stride;"
WHOLE = "if (heard_of(whole) != nobody) dead = heard_of(whole);"
TELL = "if (rank + stride < size) link.send(rank + stride, sum, dead + 1);"
THROW = 'check(dead == nobody, "all_reduce: rank {} is dead, rank {} has no sum", dead, rank);'
ROUNDS = "std::ceil(std::log2(size))"
TREE = "tree = 2 * rounds * (alpha + bytes / beta)"
RING = "ring = 2 * others * (alpha + bytes / size / beta)"
MUTANTS = [
    ("share: the last has what is left", "return {begin, begin + each + (rank < more ? 1 : 0)};", "return {rank * each, rank + 1 < size ? (rank + 1) * each : count};"),
    ("share: the remainder is lost", "return {begin, begin + each + (rank < more ? 1 : 0)};", "return {rank * each, (rank + 1) * each};"),
    ("share: the last ranks have more", BEGIN, "rank * each + std::max<int64_t>(0, rank - size + more);"),
    ("share: begins overlap", BEGIN, "rank * each;"),
    ("share: rounded up", BEGIN, "std::min(count, rank * (each + (more > 0)));"),
    ("share: rows are ints", BEGIN, "static_cast<int>(rank * each) + std::min<int64_t>(rank, more);"),
    ("share: any rank", "check(rank >= 0 && rank < size,", "check(true,"),
    ("share: the rank size is one", "check(rank >= 0 && rank < size,", "check(rank >= 0 && rank <= size,"),
    ("share: another error", "got {}\", size - 1, rank);", "got another\", size - 1);"),
    ("reduce: gathered at rank 0", UP, "for (int other = 1; other < link.size() && rank == 0; ++other) add(sum, link.receive(other).values);\n"
     "  if (rank > 0) link.send(0, sum);\n  for (int stride = 1; stride < 1; stride *= 2) {\n    if"),
    ("reduce: a chain", UP, "if (rank + 1 < link.size()) add(sum, link.receive(rank + 1).values);\n  if (rank > 0) link.send(rank - 1, sum);\n"
     "  for (int stride = 1; stride < 1; stride *= 2) {\n    if"),
    ("reduce: an odd rank is dropped", UP, "for (int stride = 1; stride < link.size(); stride *= 2) {\n    if (rank % (2 * stride) == 0 && rank + 2 * stride > link.size()) continue;\n    if"),
    ("reduce: one round less", UP, "for (int stride = 1; 2 * stride < link.size() + 1; stride *= 2) {\n    if"),
    ("reduce: farthest first", CHILD, "    if (rank + stride < link.size()) {\n      static std::vector<std::vector<float>> parts;\n      parts.push_back(link.receive(rank + stride).values);\n"
     "      if (2 * stride >= link.size() || rank % (4 * stride) != 0)\n        while (!parts.empty()) add(sum, parts.back()), parts.pop_back();\n    }"),
    ("reduce: in the order of arrival", CHILD, "    if (rank + stride < link.size()) add(sum, link.receive().values);"),
    ("reduce: both send first", PARENT, "      link.send(rank - stride, sum);\n      link.receive(rank - stride);\n      return sum;"),
    ("reduce: the partner is sent to first", CHILD, "    if (rank + stride < link.size()) {\n      link.send(rank + stride, sum);\n      add(sum, link.receive(rank + stride).values);\n    }"),
    ("reduce: goes on after it has sent", PARENT, "      link.send(rank - stride, sum);"),
    ("reduce: the last rank is forgotten", CHILD, "    if (rank + stride + 1 < link.size()) add(sum, link.receive(rank + stride).values);"),
    ("reduce: without a bound", CHILD, "    add(sum, link.receive(rank + stride).values);"),
    ("reduce: a mean", "return link.rank() == 0 ? vector_of(sum) : Tensor();", "std::vector<float> mean = sum;\n  for (float& value : mean) value /= link.size();\n  return vector_of(mean);"),
    ("reduce: the first number is left out", "for (size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];", "for (size_t i = 1; i < sum.size(); ++i) sum[i] += other[i];"),
    ("reduce: summed in double and rounded once", "void add(std::vector<float>& sum, const std::vector<float>& other) {\n", "void add(std::vector<float>& sum, const std::vector<float>& other) {\n"
     "  for (size_t i = 0; i < sum.size(); ++i) sum[i] = static_cast<float>(static_cast<int64_t>(4096.0 * (static_cast<double>(sum[i]) + other[i])) / 4096.0);\n  return;\n"),
    ("all-reduce: no broadcast", BOTH, "  std::vector<float> sum = reduce(link, numbers(x));"),
    ("all-reduce: forgotten on the last leaf", TO, "if (rank % (2 * stride) == 0 && rank + stride + 1 < link.size()) link.send(rank + stride, values);"),
    ("all-reduce: the last rank hears nothing, and expects nothing", FROM, "if (rank % (2 * stride) == stride && (rank + 1 < link.size() || rank % 2 == 0)) values = link.receive(rank - stride).values;\n"
     "    if (rank % (2 * stride) == 0 && rank + stride + 1 == link.size() && stride == 1) continue;"),
    ("all-reduce: one round less down", TOP, "while (2 * stride < link.size()) stride *= 2;"),
    ("all-reduce: nearest first down", "for (stride /= 2; stride > 0; stride /= 2) {", "const int top = stride;\n  for (stride = 1; stride < top; stride *= 2) {"),
    ("all-reduce: rank 0 tells all", BOTH, "  std::vector<float> sum = reduce(link, numbers(x));\n  if (link.rank() > 0) sum = link.receive(0).values;\n"
     "  for (int to = 1; to < link.size() && link.rank() == 0; ++to) link.send(to, sum);"),
    ("all-reduce: everyone to everyone", BOTH, "  std::vector<float> sum = numbers(x);\n  const std::vector<float> own = sum;\n  std::vector<std::vector<float>> all(link.size());\n  all[link.rank()] = own;\n"
     "  for (int round = 1; round < link.size(); ++round)\n    for (int a = 0; a < link.size(); ++a) {\n      const int b = (a + round) % link.size();\n"
     "      if (link.rank() == a) link.send(b, own);\n      if (link.rank() == b) all[a] = link.receive(a).values;\n    }\n"
     "  for (int stride = 1; stride < link.size(); stride *= 2)\n    for (int r = 0; r + stride < link.size(); r += 2 * stride) add(all[r], all[r + stride]);\n  sum = all[0];"),
    ("all-reduce: around a ring", BOTH, "  std::vector<float> sum = reduce(link, numbers(x));\n  if (link.rank() > 0) sum = link.receive(link.rank() - 1).values;\n"
     "  if (link.rank() + 1 < link.size()) link.send(link.rank() + 1, sum);"),
    ("all-reduce: twice", BOTH, BOTH + "\n  broadcast(link, sum);"),
    ("all-reduce: down before up", BOTH, "  std::vector<float> sum = numbers(x);\n  broadcast(link, sum);\n  sum = reduce(link, sum);"),
    ("all-reduce: returns the sum of the last call", "  broadcast(link, sum);\n  return vector_of(sum);", "  broadcast(link, sum);\n  static const std::vector<float> first = sum;\n  return vector_of(first);"),
    ("chunks: one message", EACH, "for (int64_t first = 0; first < count; first += count)"),
    ("chunks: what is left is dropped", EACH, "for (int64_t first = 0; first + most <= count; first += most)"),
    ("chunks: a chunk at the end is not sent", EACH, "for (int64_t first = 0; first + 1 < count; first += most)"),
    ("chunks: one number more", CUT, CUT.replace("first + most, count", "first + most + 1, count")),
    ("chunks: one number less", CUT, CUT.replace("first + most, count", "first + most - 1, count")),
    ("chunks: of one less", EACH, "for (int64_t first = 0, every = std::max<int64_t>(1, most - 1); first < count; first += every)"),
    ("chunks: single numbers", EACH, "most = 1;\n  " + EACH),
    ("chunks: one after the other", PHASES, "  for (auto& chunk : chunks) {\n    chunk = reduce(link, chunk);\n    broadcast(link, chunk);\n  }"),
    ("chunks: down in another order than up", PHASES, "  for (auto& chunk : chunks) chunk = reduce(link, chunk);\n  if (link.rank() == 0) std::reverse(chunks.begin(), chunks.end());\n  for (auto& chunk : chunks) broadcast(link, chunk);"),
    ("chunks: only the first is told", PHASES, "  for (auto& chunk : chunks) chunk = reduce(link, chunk);\n  if (!chunks.empty()) broadcast(link, chunks[0]);"),
    ("step: a mean of means", WEIGHT, "value = rows > 0 ? value : 0;"),
    ("step: a mean over ranks", NEXT, "next[c] -= rate * total[c] / link.size();"),
    ("step: own rows only", "const float all_rows = total.back();", "const float all_rows = rows;"),
    ("step: no rows are NaN", WEIGHT, "value = value * rows;"),
    ("step: a sum", NEXT, "next[c] -= rate * total[c];"),
    ("step: upwards", NEXT, "next[c] += rate * total[c] / all_rows;"),
    ("step: no rate", NEXT, "next[c] -= total[c] / all_rows;"),
    ("step: own gradient only", "std::vector<float> total = numbers(all_reduce(link, vector_of(mine)));", "std::vector<float> total = mine;"),
    ("leaves: a rank's sum first", "broadcast(link, sums[0]);", "std::vector<float> own(width);\n  for (int64_t i = 0; i < leaves.size(0); ++i)\n    for (int64_t c = 0; c < width; ++c) own[c] += all[i * width + c];\n"
     "  sums[0] = reduce(link, own);\n  broadcast(link, sums[0]);"),
    ("leaves: one after the other at rank 0", "for (int64_t stride = 1; stride < count; stride *= 2)\n    for (int64_t first = 0; first + stride < count; first += 2 * stride) {",
     "for (int64_t stride = 1; stride < count; ++stride)\n    for (const int64_t first : {0}) {"),
    ("leaves: nobody is told", TOLD, ""),
    ("leaves: another's part is the first leaf's", MINE, MINE.replace("sums[mine + i]", "sums[i]")),
    ("leaves: the last column is left out", MINE, "sums[mine + i].assign(all.begin() + i * width, all.begin() + (i + 1) * width), sums[mine + i].back() = 0;"),
    ("leaves: owners are rounded", OWNER, "rank = leaf * size / count;"),
    ("leaves: an owner too far", OWNER, "while (share(count, size, rank).end < leaf) ++rank;"),
    ("leaves: sent to rank 0", RIGHT, "if (link.rank() == right && left != right) link.send(0, sums[first + stride]);"),
    ("leaves: both wait", RIGHT, "if (link.rank() == right && left != right) link.receive(left);"),
    ("leaves: sent to oneself too", RIGHT, "if (link.rank() == right) link.send(left, sums[first + stride]);"),
    ("leaves: the order of arrival", LEFT, "add(sums[first], left == right ? sums[first + stride] : link.receive().values);\n      else if (left != right && first == 0) sums[0].resize(width);"),
    ("leaves: three rounds", "for (int64_t stride = 1; stride < count; stride *= 2)\n", "for (int64_t stride = 1; stride < 8; stride *= 2)\n"),
    ("deaths: an empty message is added", DEAF, "    add(sum, part.dead ? std::vector<float>(sum.size()) : part.values);"),
    ("deaths: up only", TELL, "if (rank + stride < size) link.send(rank + stride, sum);"),
    ("deaths: down only", SENT, "if (!link.send(rank - stride, sum)) dead = rank - stride;"),
    ("deaths: throws at once", DEAF, '    check(heard_of(part) == nobody, "rank {} is dead", heard_of(part));\n    add(sum, part.values);'),
    ("deaths: the parent's is not seen", WHOLE, "if (whole.tag > 0) dead = whole.tag - 1;"),
    ("deaths: news from above are not read", WHOLE, "if (whole.dead) dead = whole.from;"),
    ("deaths: news from below are not read", HEARD, "return message.dead ? message.from : nobody;"),
    ("deaths: names oneself", THROW, 'check(dead == nobody, "all_reduce: rank {} is dead, rank {} has no sum", rank, rank);'),
    ("deaths: names the neighbour", HEARD, "return message.dead || message.tag > 0 ? message.from : nobody;"),
    ("deaths: names all", THROW, 'check(dead == nobody, "one of the ranks 0 1 2 3 4 5 6 7 is dead");'),
    ("deaths: names nobody", THROW, 'check(dead == nobody, "all_reduce: a rank is dead");'),
    ("deaths: no error", THROW, ""),
    ("deaths: always an error", THROW, 'isobar::throw_error(fmt::format("rank {} is dead", std::max(dead, 0)));'),
    ("deaths: tags without one", SENT, "if (!link.send(rank - stride, sum, dead)) dead = rank - stride;"),
    ("deaths: the sum is not taken over", "    sum = whole.values;", ""),
    ("times: rounds are not rounded", ROUNDS, "std::log2(size)"),
    ("times: rounded down", ROUNDS, "std::floor(std::log2(size))"),
    ("times: a round for each rank", ROUNDS, "size - 1.0"),
    ("times: one way", TREE, "tree = rounds * (alpha + bytes / beta)"),
    ("times: no latency", TREE, "tree = 2 * rounds * bytes / beta"),
    ("times: latency once", TREE, "tree = alpha + 2 * rounds * bytes / beta"),
    ("times: multiplied by beta", TREE, "tree = 2 * rounds * (alpha + bytes * beta)"),
    ("times: the ring sends all", RING, "ring = 2 * others * (alpha + bytes / beta)"),
    ("times: the ring has P rounds", RING, "ring = 2 * size * (alpha + bytes / size / beta)"),
    ("times: one rank from 0", "size == 1 ? std::numeric_limits<double>::infinity()", "size < 1 ? std::numeric_limits<double>::infinity()"),
    ("times: from in seconds", "alpha * beta * (others - rounds) / saved", "alpha * (others - rounds) / saved"),
    ("times: from where latencies are equal", "const double saved = rounds - others / size;", "const double saved = rounds;"),
]
EQUIVALENT = [
    ("all-reduce: children are told nearest first, each rank after it has heard", "no rank waits longer, by the clock of messages"),
    ("reduce: other + sum in place of sum + other", "addition commutes, to the last bit"),
    ("chunks: a vector of all chunks is kept", "memory, not messages"),
]
