#include "driver.h"

#include <sys/socket.h>

#include <cstdlib>

#include "a10.h"

namespace {

// The first number of a frame: from a rank to the broker, and back.
struct Ask {
  enum : int32_t { begin = 1, send, receive, end, died };
};
struct Reply {
  enum : int32_t { go = 1, taken, message, dead, fail };
};

struct Head {
  int32_t kind, other, tag, count;
};

struct Death {};  // thrown through the student's function: the test has cut this rank's link

// The link by way of the broker: a socket whose number stands in the environment.
class Wire : public Link {
 public:
  // dies: before which call of the link this rank dies; −1: never.
  explicit Wire(int64_t dies) : dies_(dies) {
    const char* number = std::getenv("LINK");
    check(number != nullptr, "driver: this call needs a broker; ./check brings one");
    socket_ = std::atoi(number);
    const Head told = ask({Ask::begin, 0, 0, 0}, nullptr).first;
    rank_ = told.other, size_ = told.tag;
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool send(int to, const std::vector<float>& values, int tag) override {
    check_rank(to);
    live();
    return ask({Ask::send, to, tag, static_cast<int32_t>(values.size())}, values.data()).first.kind ==
           Reply::taken;
  }
  Message receive(int from) override {
    if (from != anyone) check_rank(from);
    live();
    const auto [told, values] = ask({Ask::receive, from, 0, 0}, nullptr);
    return {told.other, told.kind == Reply::dead, told.tag, values};
  }
  void close(int32_t how) { put({how, 0, 0, 0}, nullptr); }

 private:
  void live() {
    if (dies_-- == 0) dies_ = 0, throw Death();
  }
  void check_rank(int other) const {
    check(other >= 0 && other < size_ && other != rank_, "link: rank {} wants to speak to rank {} of {}",
          rank_, other, size_);
  }
  void put(Head head, const float* values) {
    write_all(&head, sizeof head);
    write_all(values, head.count * sizeof(float));
  }
  std::pair<Head, std::vector<float>> ask(Head head, const float* values) {
    put(head, values);
    Head told{};
    read_all(&told, sizeof told);
    if (told.kind == Reply::fail) {
      std::string text(told.count, ' ');
      read_all(text.data(), text.size());
      isobar::throw_error(text);
    }
    std::vector<float> numbers(told.count);
    read_all(numbers.data(), numbers.size() * sizeof(float));
    return {told, numbers};
  }
  void write_all(const void* data, size_t count) {
    for (size_t done = 0; done < count;) {
      const ssize_t more = ::send(socket_, static_cast<const char*>(data) + done, count - done, MSG_NOSIGNAL);
      check(more > 0, "link: the broker has gone");
      done += more;
    }
  }
  void read_all(void* data, size_t count) {
    for (size_t done = 0; done < count;) {
      const ssize_t more = ::read(socket_, static_cast<char*>(data) + done, count - done);
      check(more > 0, "link: the broker has gone");
      done += more;
    }
  }

  int64_t dies_;
  int socket_ = -1, rank_ = 0, size_ = 1;
};

// The call of a function whose first argument is the link; the broker hears how it ended.
template <class... A>
Call linked(Tensor (*f)(Link&, A...), const std::array<const char*, sizeof...(A)>& takes) {
  return [f, takes](const Request& in, Answer& out) {
    Wire link(in.has("dies") ? in.integer("dies") : -1);
    try {
      out("y", std::apply(f, std::tuple_cat(std::tuple<Link&>(link), in.all<std::decay_t<A>...>(takes))));
    } catch (const Death&) {
      link.close(Ask::died);
      return;
    } catch (...) {
      link.close(Ask::end);
      throw;
    }
    link.close(in.has("dies") ? Ask::died : Ask::end);
  };
}

}  // namespace

int main() {
  return serve({
      {"share", of(share, {"count", "size", "rank"}, {"begin", "end"})},
      {"reduce_tree", linked(reduce_tree, {"x"})},
      {"all_reduce", linked(all_reduce, {"x"})},
      {"all_reduce_chunks", linked(all_reduce_chunks, {"x", "most"})},
      {"step", linked(step, {"w", "x", "y", "rate"})},
      {"sum_leaves", linked(sum_leaves, {"leaves", "count"})},
      {"all_reduce_safely", linked(all_reduce_safely, {"x"})},
      {"predict", of(predict, {"size", "alpha", "beta", "bytes"}, {"tree", "ring", "from"})},
  });
}
