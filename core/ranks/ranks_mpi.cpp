// The plugin: RankLink on MPI, with calls of version 3.1 of its standard. MPI moves bytes; who adds numbers,
// and in which order, is core/ranks/sum_over_ranks.cpp.
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <exception>

#include "rank_link.h"

namespace isobar {
namespace {

class MpiLink final : public RankLink {
 public:
  MpiLink() {
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  // Where an exception ends it the others may not answer.
  ~MpiLink() override {
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string whole(text, static_cast<size_t>(length)), mpich = "MPICH Version:";
    const std::string line = whole.substr(0, whole.find_first_of(",\n"));
    const size_t number = line.find_first_not_of(" \t", mpich.size());
    return line.starts_with(mpich) && number != std::string::npos ? "MPICH " + line.substr(number) : line;
  }

  size_t send(int to, int tag, const std::vector<ByteSpan>& spans) override {
    const Content content(spans);
    const size_t place = free_place();
    MPI_Isend(content.start, content.count, content.type, to, tag, MPI_COMM_WORLD, &requests_[place]);
    return place;
  }
  size_t receive(int from, int tag, const std::vector<ByteSpan>& spans) override {
    const Content content(spans);
    const size_t place = free_place();
    MPI_Irecv(content.start, content.count, content.type, from, tag, MPI_COMM_WORLD, &requests_[place]);
    return place;
  }
  bool done(size_t message) override {
    int complete = 0;
    MPI_Test(&requests_[message], &complete, MPI_STATUS_IGNORE);
    if (complete != 0) free_.push_back(message);
    return complete != 0;
  }
  std::optional<size_t> arrived(int from, int tag) override {
    int there = 0, bytes = 0;
    MPI_Status status;
    MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status);
    if (there == 0) return std::nullopt;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    return static_cast<size_t>(bytes);
  }
  void abort(int code) override { MPI_Abort(MPI_COMM_WORLD, code); }

 private:
  // Where MPI takes a message from, or puts it: one span as it is, which needs no copy on the way; several
  // as a datatype with their absolute addresses.
  struct Content {
    explicit Content(const std::vector<ByteSpan>& spans) {
      if (spans.size() == 1 && spans[0].bytes <= INT_MAX) {
        start = spans[0].data;
        count = static_cast<int>(spans[0].bytes);
        return;
      }
      std::vector<int> lengths;
      std::vector<MPI_Aint> places;
      for (const ByteSpan& span : spans)
        for (size_t done = 0; done < span.bytes; done += lengths.back()) {
          MPI_Aint place = 0;
          MPI_Get_address(static_cast<char*>(span.data) + done, &place);
          places.push_back(place);
          lengths.push_back(static_cast<int>(std::min<size_t>(span.bytes - done, INT_MAX)));
        }
      MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_BYTE,
                               &type);
      MPI_Type_commit(&type);
      count = 1;
    }
    ~Content() {
      if (type != MPI_BYTE) MPI_Type_free(&type);  // messages under way keep it
    }
    Content(const Content&) = delete;
    Content& operator=(const Content&) = delete;
    void* start = MPI_BOTTOM;
    int count = 0;
    MPI_Datatype type = MPI_BYTE;
  };

  size_t free_place() {
    if (free_.empty()) {
      free_.push_back(requests_.size());
      requests_.push_back(MPI_REQUEST_NULL);
    }
    const size_t place = free_.back();
    free_.pop_back();
    return place;
  }

  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> requests_;
  std::vector<size_t> free_;
};

}  // namespace

extern "C" RankLink* isobar_rank_link() { return new MpiLink; }

}  // namespace isobar
