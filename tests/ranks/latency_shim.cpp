// A slow network for tests/ranks/scaling: each message of MPI that leaves a rank waits for the rank's wire,
// which carries one after the other and takes ISOBAR_ALPHA seconds for a message and ISOBAR_BETA seconds for
// each of its bytes.
//
//   mpicxx.openmpi -std=c++20 -O2 -shared -fPIC latency_shim.cpp -o shim.so
//   mpirun.openmpi -n 2 env LD_PRELOAD=$PWD/shim.so ISOBAR_ALPHA=1e-3 ISOBAR_BETA=1e-8 train_lm …
//
// It stands before those of MPI's functions that core/ranks/ranks_mpi.cpp calls (the profiling interface,
// MPI-3.1,
// 14.2): MPI_Isend prepares the message, and a later call starts it once it is due. ISOBAR_COUNTS names a
// file that gets the messages and bytes that the first rank sent.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <fstream>

namespace {

struct Sent {
  MPI_Request request;
  double due;
  bool begun = false;
};
std::deque<Sent> sent;  // and not complete
double wire_free = 0;
long messages = 0, bytes = 0;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double number(const char* name) { return std::getenv(name) != nullptr ? std::atof(std::getenv(name)) : 0; }

void begin_due() {
  for (Sent& one : sent)
    if (!one.begun && (one.begun = one.due <= now())) PMPI_Start(&one.request);
}

}  // namespace

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm all,
                         MPI_Request* request) {
  int size = 0;
  PMPI_Type_size(type, &size);
  ++messages;
  bytes += static_cast<long>(size) * count;
  wire_free = std::max(now(), wire_free) + number("ISOBAR_ALPHA") + number("ISOBAR_BETA") * size * count;
  const int code = PMPI_Send_init(data, count, type, to, tag, all, request);
  sent.push_back({*request, wire_free});
  begin_due();
  return code;
}

extern "C" int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  begin_due();
  const auto own =
      std::find_if(sent.begin(), sent.end(), [&](const Sent& one) { return one.request == *request; });
  if (own == sent.end()) return PMPI_Test(request, done, status);
  *done = 0;
  const int code = own->begun ? PMPI_Test(request, done, status) : MPI_SUCCESS;
  if (*done == 0) return code;
  sent.erase(own);
  return PMPI_Request_free(request);
}

extern "C" int MPI_Iprobe(int from, int tag, MPI_Comm all, int* there, MPI_Status* status) {
  begin_due();
  return PMPI_Iprobe(from, tag, all, there, status);
}

extern "C" int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (const char* const name = std::getenv("ISOBAR_COUNTS"); name != nullptr && rank == 0)
    std::ofstream(name) << messages << ' ' << bytes << '\n';
  return PMPI_Finalize();
}
