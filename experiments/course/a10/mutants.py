"""Wrong forms of a10.cpp: name | a text that occurs once, in it «right→wrong»."""
MUTANTS = r"""
share: the last has what is left | «begin, begin + each +→rank * each, rank + 1 < size ?» (rank «< more ? 1 :
    0)→+ 1) * each : count»
share: the remainder is lost | «begin, begin + each + (rank < more ? 1 : 0)→rank * each, (rank + 1) * each»
share: the last ranks have more | «min<int64_t>(rank,→max<int64_t>(0, rank - size +»
share: begins overlap | each« + std::min<int64_t>(rank, more)→»
share: rounded up | «rank * each + std::min<int64_t>(rank, more→std::min(count, rank * (each + (more > 0))»
share: rows are ints | «rank * each→static_cast<int>(rank * each)»
share: any rank; share: the rank size is one | «rank >= 0 && rank < siz→tru→rank >= 0 && rank <= siz»e
share: another error | «{}", size - 1, rank→another", size - 1»
reduce: gathered at rank 0; reduce: one round less | «stride = 1; stride < link.size()→other = 1; other <
    link.size() && rank == 0; ++other) add(sum, link.receive(other).values); if (rank > 0) link.send(0, sum);
    for (int stride = 1; stride < 1→stride = 1; 2 * stride < link.size() + 1»
reduce: a chain | «→if (rank + 1 < link.size()) add(sum, link.receive(rank + 1).values); if (rank > 0)
    link.send(rank - 1, sum); »for (int stride = 1; stride < «link.size()→1»
reduce: an odd rank is dropped | ) «→== 0 && rank + 2 * stride > link.size()) continue; if (rank % (2 *
    stride) »!= 0
reduce: farthest first | «add(sum, →{ static std::vector<std::vector<float>> parts;
    parts.push_back(»link.receive(rank + stride).values);«→ if (2 * stride >= link.size() || rank % (4 *
    stride) != 0) while (!parts.empty()) add(sum, parts.back()), parts.pop_back(); }»
reduce: in the order of arrival | «rank + stride→»).
reduce: both send first | ; «→link.receive(rank - stride); »return sum
reduce: the partner is sent to first | «→{ link.send(rank + stride, sum); »add(sum, link.receive(rank +
    stride).values);«→ }»
reduce: goes on after it has sent | ; «return sum; →»}
reduce: the last rank is forgotten | «→+ 1 »< link.size()) add
reduce: without a bound | «if (rank + stride < link.size()) →»add
reduce: a mean | «return→std::vector<float> mean = sum; for (float& value : mean) value /=» link.«rank() == 0
    ?→size(); return» vector_of(«sum) : Tensor();→mean);»
reduce: the first number is left out | «0→1»; i < sum
reduce: summed in double and rounded once | { «→for (size_t i = 0; i < sum.size(); ++i) sum[i] =
    static_cast<float>(static_cast<int64_t>(4096.0 * (static_cast<double>(sum[i]) + other[i])) / 4096.0);
    return; » for
all-reduce: no broadcast | «broadcast(link, sum); →»return
all-reduce: forgotten on the last leaf | & rank + stride «→+ 1 »<
all-reduce: the last rank hears nothing, and expects nothing | «→ && (rank + 1 < link.size() || rank % 2 ==
    0)») values = link.receive(rank - stride).values;«→ if (rank % (2 * stride) == 0 && rank + stride + 1 ==
    link.size() && stride == 1) continue;»
all-reduce: one round less down | («→2 * »stride <
all-reduce: nearest first down | «→const int top = stride; »for (stride «/= 2→= 1»; stride «> 0→< top»; stride
    «/→*»= 2) {
all-reduce: rank 0 tells all | «broadcast→if »(link«→.rank() > 0) sum = link.receive(0).values; for (int to =
    1; to < link.size() && link.rank() == 0; ++to) link.send(to», sum)
all-reduce: everyone to everyone | «reduce(link, →»numbers(x)«); broadcast→; const std::vector<float> own =
    sum; std::vector<std::vector<float>> all(link.size()); all[link.rank()] = own; for (int round = 1; round <
    link.size(); ++round) for (int a = 0; a < link.size(); ++a) { const int b = (a + round) % link.size(); if
    »(link«, sum);→.rank() == a) link.send(b, own); if (link.rank() == b) all[a] = link.receive(a).values; }
    for (int stride = 1; stride < link.size(); stride *= 2) for (int r = 0; r + stride < link.size(); r += 2 *
    stride) add(all[r], all[r + stride]); sum = all[0];»
all-reduce: around a ring | «broadcast→if »(link«→.rank() > 0) sum = link.receive(link.rank() - 1).values; if
    (link.rank() + 1 < link.size()) link.send(link.rank() + 1», sum)
all-reduce: twice | «→(link, sum); broadcast»(link, sum)
all-reduce: down before up | «reduce→numbers(x); broadcast»(link, «numbers(x)); broadcast→sum); sum = reduce»
all-reduce: returns the sum of the last call | sum)«→; static const std::vector<float> first = sum»; return
    vector_of(«sum→first»
chunks: one message | = «most→count»
chunks: what is left is dropped; chunks: a chunk at the end is not sent | first «<→+ most <=→+ 1 <»
chunks: one number more; chunks: one number less | most«→ + 1→ - 1»,
chunks: of one less | «→, every = std::max<int64_t>(1, most - 1)»; first < count; first += «most→every»
chunks: single numbers | chunks; «→most = 1; »for
chunks: one after the other | «→{ »chunk = reduce(link, chunk); «for (auto& chunk : chunks) →»broadcast(link,
    chunk);«→ }»
chunks: down in another order than up | chunk); «→if (link.rank() == 0) std::reverse(chunks.begin(),
    chunks.end()); »for
chunks: only the first is told | «for (auto& chunk : →if (!»chunks«→.empty()») broadcast(link,
    «chunk→chunks[0]»
step: a mean of means; step: no rows are NaN | «rows > 0 ? value * rows : 0→rows > 0 ? value : 0→value * rows»
step: a mean over ranks; step: a sum | ]« / all_rows→ / link.size()→»
step: own rows only | «total.back()→rows»
step: upwards; step: no rate | «-= rate *→+= rate *→-=»
step: own gradient only | «numbers(all_reduce(link, vector_of(mine)))→mine»
leaves: a rank's sum first | } «→std::vector<float> own(width); for (int64_t i = 0; i < leaves.size(0); ++i)
    for (int64_t c = 0; c < width; ++c) own[c] += all[i * width + c]; sums[0] = reduce(link, own); »broadcast
leaves: one after the other at rank 0 | «→++»stride« *= 2→») for («→const »int64_t first «= 0; first + stride
    < count; first += 2 * stride→: {0}»
leaves: nobody is told | «broadcast(link, sums[0]);→»
leaves: another's part is the first leaf's | «mine + →»i
leaves: the last column is left out | width)«→, sums[mine + i].back() = 0»
leaves: owners are rounded | «while (share(count, size, rank).end <= leaf) ++rank→rank = leaf * size / count»
leaves: an owner too far | <«=→»
leaves: sent to rank 0 | «left→0»,
leaves: both wait | «send(left, sums[first + stride]→receive(left»
leaves: sent to oneself too | right« && left != right→»
leaves: the order of arrival | «right→»).values«→); else if (left != right && first == 0)
    sums[0].resize(width»
leaves: three rounds | «count→8»; stride
deaths: an empty message is added | «if (heard_of(part) != nobody) dead = heard_of(part); else
    add(sum,→add(sum, part.dead ? std::vector<float>(sum.size()) :»
deaths: up only | «, dead + 1→»);
deaths: down only; deaths: tags without one | «, dead + 1→→, dead»))
deaths: throws at once | «if →check»(heard_of(part) «!→=»= nobody«)→, "rank {} is» dead« =→",»
    heard_of(part)«; else→);»
deaths: the parent's is not seen | «heard_of(→»whole«) != nobody→.tag > 0») dead = «heard_of(→»whole«);→.tag -
    1;»
deaths: news from above are not read | «heard_of(→»whole«) != nobody→.dead») dead =
    «heard_of(→»whole«);→.from;»
deaths: news from below are not read | «message.tag - 1→nobody»
deaths: names oneself | , «dead→rank»,
deaths: names the neighbour | «? message.from : message.tag - 1→|| message.tag > 0 ? message.from : nobody»
deaths: names all | «all_reduce: rank {}→one of the ranks 0 1 2 3 4 5 6 7» is dead«, rank {} has no sum",
    dead, rank);→");»
deaths: names nobody | «rank {} is dead, rank {} has no sum", dead, rank→a rank is dead"»
deaths: no error | «check(dead == nobody, "all_reduce: rank {} is dead, rank {} has no sum", dead, rank);→»
deaths: always an error | «check(dead == nobody, "all_reduce: →isobar::throw_error(fmt::format("»rank {} is
    dead«, rank {} has no sum", →", std::max(»dead, «rank);→0)));»
deaths: the sum is not taken over | «sum = whole.values;→»
times: rounds are not rounded; times: rounded down | «ceil(std::log2(size)→log2(size→floor(std::log2(size)»
times: a round for each rank | «std::ceil(std::log2(size))→size - 1.0»
times: one way | «2 * →»rounds
times: no latency; times: multiplied by beta | «(alpha + bytes / beta)→bytes / beta→(alpha + bytes * beta)»
times: latency once | «2 * rounds * (alpha + bytes / beta)→alpha + 2 * rounds * bytes / beta»
times: the ring sends all | «size / →»beta
times: the ring has P rounds | «others→size» *
times: one rank from 0 | «==→<» 1
times: from in seconds | «beta * →»(
times: from where latencies are equal | rounds« - others / size; →;  »/
"""
EQUIVALENT = [("all-reduce: children are told nearest first, each rank after it has heard", "no rank waits longer, by the clock of messages"),
              ("reduce: other + sum in place of sum + other", "addition commutes, to the last bit"),
              ("chunks: a vector of all chunks is kept", "memory, not messages")]
