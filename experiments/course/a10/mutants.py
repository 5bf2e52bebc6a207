"""Wrong forms of a10.cpp: (name, a text that occurs once, what it becomes)."""
BEGIN = "rank * each + std::min<int64_t>(rank, more);"
CHILD = "    if (rank + stride < link.size()) add(sum, link.receive(rank + stride).values);"
UP = "for (int stride = 1; stride < link.size(); stride *= 2) {\n    if"
FROM = "if (rank % (2 * stride) == stride) values = link.receive(rank - stride).values;"
BOTH = "  std::vector<float> sum = reduce(link, numbers(x));\n  broadcast(link, sum);"
PHASES = "  for (auto& chunk : chunks) chunk = reduce(link, chunk);\n  for (auto& chunk : chunks) broadcast(link, chunk);"
OWNER = "while (share(count, size, rank).end <= leaf) ++rank;"
HEARD = "return message.dead ? message.from : message.tag - 1;"
DEAF = "    if (heard_of(part) != nobody)\n      dead = heard_of(part);\n    else\n      add(sum, part.values);"
WHOLE = "if (heard_of(whole) != nobody) dead = heard_of(whole);"
THROW = 'check(dead == nobody, "all_reduce: rank {} is dead, rank {} has no sum", dead, rank);'
MUTANTS = [
    ("share: the last has what is left", "begin, begin + each + (rank < more ? 1 : 0)",
     "rank * each, rank + 1 < size ? (rank + 1) * each : count"),
    ("share: the remainder is lost", "begin, begin + each + (rank < more ? 1 : 0)",
     "rank * each, (rank + 1) * each"),
    ("share: the last ranks have more", "min<int64_t>(rank, more);", "max<int64_t>(0, rank - size + more);"),
    ("share: begins overlap", "begin = rank * each + std::min<int64_t>(rank, more);", "begin = rank * each;"),
    ("share: rounded up", BEGIN, "std::min(count, rank * (each + (more > 0)));"),
    ("share: rows are ints", "begin = rank * each + std::", "begin = static_cast<int>(rank * each) + std::"),
    ("share: any rank", 'rank >= 0 && rank < size, "share: wanted a rank', 'true, "share: wanted a rank'),
    ("share: the rank size is one", '< size, "share: wanted a rank of', '<= size, "share: wanted a rank of'),
    ("share: another error", 'of 0 to {}, got {}", size - 1, rank', 'of 0 to {}, got another", size - 1'),
    ("reduce: gathered at rank 0", UP, "for (int other = 1; other < link.size() && rank == 0; ++other) add(sum, link.receive(other).values);\n"
     "  if (rank > 0) link.send(0, sum);\n  for (int stride = 1; stride < 1; stride *= 2) {\n    if"),
    ("reduce: a chain", UP, "if (rank + 1 < link.size()) add(sum, link.receive(rank + 1).values);\n  if (rank > 0) link.send(rank - 1, sum);\n"
     "  for (int stride = 1; stride < 1; stride *= 2) {\n    if"),
    ("reduce: an odd rank is dropped", ") != 0",
     ") == 0 && rank + 2 * stride > link.size()) continue;\n    if (rank % (2 * stride) != 0"),
    ("reduce: one round less", "stride < link.size(); stride *=", "2 * stride < link.size() + 1; stride *="),
    ("reduce: farthest first", CHILD, "    if (rank + stride < link.size()) {\n      static std::vector<std::vector<float>> parts;\n      parts.push_back(link.receive(rank + stride).values);\n"
     "      if (2 * stride >= link.size() || rank % (4 * stride) != 0)\n        while (!parts.empty()) add(sum, parts.back()), parts.pop_back();\n    }"),
    ("reduce: in the order of arrival", ", link.receive(rank + stride).values", ", link.receive().values"),
    ("reduce: both send first", ";\n      return", ";\n      link.receive(rank - stride);\n      return"),
    ("reduce: the partner is sent to first", "add(sum, link.receive(rank + stride).values);",
     "{\n      link.send(rank + stride, sum);\n      add(sum, link.receive(rank + stride).values);\n    }"),
    ("reduce: goes on after it has sent", "stride, sum);\n      return sum;\n    }", "stride, sum);\n    }"),
    ("reduce: the last rank is forgotten", "+ stride < link.size()) add", "+ stride + 1 < link.size()) add"),
    ("reduce: without a bound", "if (rank + stride < link.size()) add", "add"),
    ("reduce: a mean", "return link.rank() == 0 ? vector_of(sum) : Tensor();", "std::vector<float> mean = sum;\n  for (float& value : mean) value /= link.size();\n  return vector_of(mean);"),
    ("reduce: the first number is left out", "size_t i = 0; i < sum.size()", "size_t i = 1; i < sum.size()"),
    ("reduce: summed in double and rounded once", "void add(std::vector<float>& sum, const std::vector<float>& other) {\n", "void add(std::vector<float>& sum, const std::vector<float>& other) {\n"
     "  for (size_t i = 0; i < sum.size(); ++i) sum[i] = static_cast<float>(static_cast<int64_t>(4096.0 * (static_cast<double>(sum[i]) + other[i])) / 4096.0);\n  return;\n"),
    ("all-reduce: no broadcast", "broadcast(link, sum);\n  return vector_of(sum);", "return vector_of(sum);"),
    ("all-reduce: forgotten on the last leaf", "0 && rank + stride < link", "0 && rank + stride + 1 < link"),
    ("all-reduce: the last rank hears nothing, and expects nothing", FROM, "if (rank % (2 * stride) == stride && (rank + 1 < link.size() || rank % 2 == 0)) values = link.receive(rank - stride).values;\n"
     "    if (rank % (2 * stride) == 0 && rank + stride + 1 == link.size() && stride == 1) continue;"),
    ("all-reduce: one round less down", "(stride < link.size()) stride", "(2 * stride < link.size()) stride"),
    ("all-reduce: nearest first down", "for (stride /= 2; stride > 0; stride /= 2) ",
     "const int top = stride;\n  for (stride = 1; stride < top; stride *= 2) "),
    ("all-reduce: rank 0 tells all", BOTH, "  std::vector<float> sum = reduce(link, numbers(x));\n  if (link.rank() > 0) sum = link.receive(0).values;\n"
     "  for (int to = 1; to < link.size() && link.rank() == 0; ++to) link.send(to, sum);"),
    ("all-reduce: everyone to everyone", BOTH, "  std::vector<float> sum = numbers(x);\n  const std::vector<float> own = sum;\n  std::vector<std::vector<float>> all(link.size());\n  all[link.rank()] = own;\n"
     "  for (int round = 1; round < link.size(); ++round)\n    for (int a = 0; a < link.size(); ++a) {\n      const int b = (a + round) % link.size();\n"
     "      if (link.rank() == a) link.send(b, own);\n      if (link.rank() == b) all[a] = link.receive(a).values;\n    }\n"
     "  for (int stride = 1; stride < link.size(); stride *= 2)\n    for (int r = 0; r + stride < link.size(); r += 2 * stride) add(all[r], all[r + stride]);\n  sum = all[0];"),
    ("all-reduce: around a ring", BOTH, "  std::vector<float> sum = reduce(link, numbers(x));\n  if (link.rank() > 0) sum = link.receive(link.rank() - 1).values;\n"
     "  if (link.rank() + 1 < link.size()) link.send(link.rank() + 1, sum);"),
    ("all-reduce: twice", "(link, sum);\n  return", "(link, sum);\n  broadcast(link, sum);\n  return"),
    ("all-reduce: down before up", "reduce(link, numbers(x));\n  broadcast",
     "numbers(x);\n  broadcast(link, sum);\n  sum = reduce"),
    ("all-reduce: returns the sum of the last call", "sum);\n  return vector_of(sum",
     "sum);\n  static const std::vector<float> first = sum;\n  return vector_of(first"),
    ("chunks: one message", "= 0; first < count; first += most", "= 0; first < count; first += count"),
    ("chunks: what is left is dropped", "0; first < count; first +=", "0; first + most <= count; first +="),
    ("chunks: a chunk at the end is not sent", "; first < count; first +=", "; first + 1 < count; first +="),
    ("chunks: one number more", "+ std::min(first + most, count)", "+ std::min(first + most + 1, count)"),
    ("chunks: one number less", "+ std::min(first + most, count)", "+ std::min(first + most - 1, count)"),
    ("chunks: of one less", "; first < count; first += most",
     ", every = std::max<int64_t>(1, most - 1); first < count; first += every"),
    ("chunks: single numbers", "vector<float>> chunks;\n  for", "vector<float>> chunks;\n  most = 1;\n  for"),
    ("chunks: one after the other", PHASES, "  for (auto& chunk : chunks) {\n    chunk = reduce(link, chunk);\n    broadcast(link, chunk);\n  }"),
    ("chunks: down in another order than up", "chunk);\n  for",
     "chunk);\n  if (link.rank() == 0) std::reverse(chunks.begin(), chunks.end());\n  for"),
    ("chunks: only the first is told", "for (auto& chunk : chunks) broadcast(link, chunk",
     "if (!chunks.empty()) broadcast(link, chunks[0]"),
    ("step: a mean of means", "value = rows > 0 ? value * rows : 0;", "value = rows > 0 ? value : 0;"),
    ("step: a mean over ranks", "-= rate * total[c] / all_rows;", "-= rate * total[c] / link.size();"),
    ("step: own rows only", "const float all_rows = total.back();", "const float all_rows = rows;"),
    ("step: no rows are NaN", "value = rows > 0 ? value * rows : 0;", "value = value * rows;"),
    ("step: a sum", "next[c] -= rate * total[c] / all_rows;", "next[c] -= rate * total[c];"),
    ("step: upwards", "next[c] -= rate * total[c] / all_rows;", "next[c] += rate * total[c] / all_rows;"),
    ("step: no rate", "next[c] -= rate * total[c] / all_rows;", "next[c] -= total[c] / all_rows;"),
    ("step: own gradient only", "> total = numbers(all_reduce(link, vector_of(mine)));", "> total = mine;"),
    ("leaves: a rank's sum first", "broadcast(link, sums[0]);", "std::vector<float> own(width);\n  for (int64_t i = 0; i < leaves.size(0); ++i)\n    for (int64_t c = 0; c < width; ++c) own[c] += all[i * width + c];\n"
     "  sums[0] = reduce(link, own);\n  broadcast(link, sums[0]);"),
    ("leaves: one after the other at rank 0",
     "stride *= 2)\n    for (int64_t first = 0; first + stride < count; first += 2 * stride",
     "++stride)\n    for (const int64_t first : {0}"),
    ("leaves: nobody is told", "}\n  broadcast(link, sums[0]);", "}\n"),
    ("leaves: another's part is the first leaf's", "sums[mine + i].assign", "sums[i].assign"),
    ("leaves: the last column is left out", "i + 1) * width)", "i + 1) * width), sums[mine + i].back() = 0"),
    ("leaves: owners are rounded", OWNER, "rank = leaf * size / count;"),
    ("leaves: an owner too far", "(count, size, rank).end <= leaf", "(count, size, rank).end < leaf"),
    ("leaves: sent to rank 0", "link.send(left, sums[first + stride])", "link.send(0, sums[first + stride])"),
    ("leaves: both wait", "link.send(left, sums[first + stride]);", "link.receive(left);"),
    ("leaves: sent to oneself too", "(link.rank() == right && left != right)", "(link.rank() == right)"),
    ("leaves: the order of arrival", "(right).values",
     "().values);\n      else if (left != right && first == 0) sums[0].resize(width"),
    ("leaves: three rounds", "stride = 1; stride < count; stride *=", "stride = 1; stride < 8; stride *="),
    ("deaths: an empty message is added", DEAF, "    add(sum, part.dead ? std::vector<float>(sum.size()) : part.values);"),
    ("deaths: up only", "link.send(rank + stride, sum, dead + 1);", "link.send(rank + stride, sum);"),
    ("deaths: down only", "(!link.send(rank - stride, sum, dead + 1))", "(!link.send(rank - stride, sum))"),
    ("deaths: throws at once", DEAF, '    check(heard_of(part) == nobody, "rank {} is dead", heard_of(part));\n    add(sum, part.values);'),
    ("deaths: the parent's is not seen", WHOLE, "if (whole.tag > 0) dead = whole.tag - 1;"),
    ("deaths: news from above are not read", WHOLE, "if (whole.dead) dead = whole.from;"),
    ("deaths: news from below are not read", "? message.from : message.tag - 1;", "? message.from : nobody;"),
    ("deaths: names oneself", 'is dead, rank {} has no sum", dead,', 'is dead, rank {} has no sum", rank,'),
    ("deaths: names the neighbour", HEARD, "return message.dead || message.tag > 0 ? message.from : nobody;"),
    ("deaths: names all", THROW, 'check(dead == nobody, "one of the ranks 0 1 2 3 4 5 6 7 is dead");'),
    ("deaths: names nobody", ': rank {} is dead, rank {} has no sum", dead, rank', ': a rank is dead"'),
    ("deaths: no error", THROW, ""),
    ("deaths: always an error", THROW, 'isobar::throw_error(fmt::format("rank {} is dead", std::max(dead, 0)));'),
    ("deaths: tags without one", "sum, dead + 1)) dead = rank - stride", "sum, dead)) dead = rank - stride"),
    ("deaths: the sum is not taken over", "heard_of(whole);\n    sum = whole.values;", "heard_of(whole);\n"),
    ("times: rounds are not rounded", "ceil(std::log2(size)), others = size", "log2(size), others = size"),
    ("times: rounded down", "ceil(std::log2(size)), others = size", "floor(std::log2(size)), others = size"),
    ("times: a round for each rank", "= std::ceil(std::log2(size)), others =", "= size - 1.0, others ="),
    ("times: one way", "2 * rounds * (alpha + bytes / beta), ring", "rounds * (alpha + bytes / beta), ring"),
    ("times: no latency", "(alpha + bytes / beta), ring = 2 * others *", "bytes / beta, ring = 2 * others *"),
    ("times: latency once", "= 2 * rounds * (alpha + bytes / beta),", "= alpha + 2 * rounds * bytes / beta,"),
    ("times: multiplied by beta", "(alpha + bytes / beta), ring = 2 *", "(alpha + bytes * beta), ring = 2 *"),
    ("times: the ring sends all", "* (alpha + bytes / size / beta);", "* (alpha + bytes / beta);"),
    ("times: the ring has P rounds", ", ring = 2 * others *", ", ring = 2 * size *"),
    ("times: one rank from 0", "== 1 ? std::numeric_limits<double>::", "< 1 ? std::numeric_limits<double>::"),
    ("times: from in seconds", "() : alpha * beta * (others - rounds) /", "() : alpha * (others - rounds) /"),
    ("times: from where latencies are equal", "saved = rounds - others / size;  //", "saved = rounds;  //"),
]
EQUIVALENT = [
    ("all-reduce: children are told nearest first, each rank after it has heard", "no rank waits longer, by the clock of messages"),
    ("reduce: other + sum in place of sum + other", "addition commutes, to the last bit"),
    ("chunks: a vector of all chunks is kept", "memory, not messages"),
]
