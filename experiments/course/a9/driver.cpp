#include "driver.h"

#include <signal.h>
#include <sys/mman.h>

#include "a9.h"

extern "C" void __asan_init() __attribute__((weak));  // there in a program that is watched
extern "C" int64_t exponentials_called();             // counted.cpp

namespace {

// A tensor's numbers as floats at an address that is `offset` floats off a multiple of 64. After them is
// nothing in a program that is watched, and one number that must stay in any other.
class Floats {
 public:
  Floats(const isobar::Tensor& t, int64_t offset) : Floats(t.numel(), offset) {
    const std::vector<double> values = t.to_vector<double>();
    for (size_t i = 0; i < values.size(); ++i) (*this)[i] = static_cast<float>(values[i]);
  }
  Floats(int64_t count, int64_t offset) : offset_(offset), count_(count) {
    const int64_t all = offset + count + after_;
    if (posix_memalign(&memory_, 64, all > 0 ? sizeof(float) * all : 1) != 0)
      isobar::throw_error("no memory");
    for (int64_t i = 0; i < all; ++i) static_cast<float*>(memory_)[i] = -7.5f;
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  ~Floats() { free(memory_); }

  float* data() const { return static_cast<float*>(memory_) + offset_; }
  float& operator[](int64_t i) { return data()[i]; }
  isobar::Tensor tensor(const isobar::Shape& shape) const {
    for (int64_t i = 0; i < offset_; ++i)
      isobar::check(static_cast<float*>(memory_)[i] == -7.5f, "written before the first number of a result");
    isobar::check(after_ == 0 || data()[count_] == -7.5f, "written after the last number of a result");
    return isobar::tensor(shape, std::vector<double>(data(), data() + count_));
  }

 private:
  void* memory_ = nullptr;
  int64_t offset_, count_, after_ = __asan_init ? 0 : 1;
};

// Rows' m, sum and r are numbers of the request: your forward pass is not in the way.
std::vector<Row> saved_of(const Request& in) {
  const auto largest = in["largest"].to_vector<double>(), sum = in["sum"].to_vector<double>(),
             rrms = in["rrms"].to_vector<double>();
  std::vector<Row> rows;
  for (size_t n = 0; n < sum.size(); ++n)
    rows.push_back({static_cast<float>(largest[n]), static_cast<float>(sum[n]), static_cast<float>(rrms[n])});
  return rows;
}

int64_t offset_of(const Request& in) { return in.has("offset") ? std::abs(in.integer("offset")) : 0; }

void forward(const Request& in, Answer& out) {
  const isobar::Shape shape = in["x"].shape();
  const int64_t offset = offset_of(in), count = shape[0];
  const Floats x(in["x"], offset), weight(in["weight"], offset), y(in["x"].numel(), offset);
  std::vector<Row> saved(count, {NAN, NAN, NAN});
  softmax_rms_norm(x.data(), weight.data(), y.data(), saved.data(), count, shape[1],
                   static_cast<float>(in.number("eps")));
  std::vector<double> parts[3];
  for (const Row& row : saved)
    parts[0].push_back(row.largest), parts[1].push_back(row.sum), parts[2].push_back(row.rrms);
  out("largest", parts[0])("sum", parts[1])("rrms", parts[2])("y", y.tensor(shape));
}

void backward(const Request& in, Answer& out) {
  const isobar::Shape shape = in["x"].shape();
  const int64_t offset = offset_of(in);
  const Floats dy(in["dy"], offset), x(in["x"], offset), weight(in["weight"], offset),
      dx(in["x"].numel(), offset), dweight(shape[1], offset);
  const std::vector<Row> saved = saved_of(in);
  softmax_rms_norm_backward(dy.data(), x.data(), weight.data(), saved.data(), dx.data(), dweight.data(),
                            shape[0], shape[1], static_cast<float>(in.number("eps")));
  out("dweight", dweight.tensor({shape[1]}))("dx", dx.tensor(shape));
}

// Floats on pages that are closed. Touching a page opens it, and closes the last but one: code that goes
// through the array once opens each page once, whatever its direction, and a vector that lies on two pages
// finds both open.
class Closed {
 public:
  explicit Closed(int64_t pages) : pages_(pages) {
    begin_ = static_cast<char*>(mmap(nullptr, pages * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    isobar::check(begin_ != MAP_FAILED, "no memory");
  }
  Closed(const Closed&) = delete;
  Closed& operator=(const Closed&) = delete;
  ~Closed() { munmap(begin_, pages_ * size); }

  // For all pages at once, and nothing is counted.
  float* opened() {
    mprotect(begin_, pages_ * size, PROT_READ | PROT_WRITE);
    return data();
  }
  float* closed() {
    mprotect(begin_, pages_ * size, PROT_NONE);
    return data();
  }
  // Whether the address is here; opens its page.
  bool touch(const void* address) {
    const int64_t offset = static_cast<const char*>(address) - begin_, page = offset / size;
    if (offset < 0 || page >= pages_) return false;
    if (page == pages_ / 2) ++passes_;
    if (before_ >= 0) mprotect(begin_ + before_ * size, size, PROT_NONE);
    before_ = last_;
    last_ = page;
    return mprotect(begin_ + page * size, size, PROT_READ | PROT_WRITE) == 0;
  }
  // How often the page in the middle was opened.
  double passes() const { return passes_; }

  static constexpr int64_t size = 4096;

 private:
  float* data() { return reinterpret_cast<float*>(begin_); }
  char* begin_;
  int64_t pages_, before_ = -1, last_ = -1, passes_ = 0;
};

Closed* watched_pages[2] = {};

void on_touch(int, siginfo_t* info, void*) {
  for (Closed* each : watched_pages)
    if (each->touch(info->si_addr)) return;
  signal(SIGSEGV, SIG_DFL);  // another address: the instruction is repeated, and ends the program
}

// How often softmax goes through a row x and its result y.
void passes(const Request& in, Answer& out) {
  const std::vector<double> values = in["x"].to_vector<double>();
  const int64_t width = values.size(), pages = width * sizeof(float) / Closed::size;
  Closed x(pages), y(pages);
  std::copy(values.begin(), values.end(), x.opened());
  struct sigaction ours = {}, theirs = {};
  ours.sa_sigaction = on_touch;
  ours.sa_flags = SA_SIGINFO;
  watched_pages[0] = &x, watched_pages[1] = &y;
  sigaction(SIGSEGV, &ours, &theirs);
  softmax(x.closed(), y.closed(), 1, width);
  sigaction(SIGSEGV, &theirs, nullptr);
  out("reads_of_x", x.passes())("passes_of_y", y.passes());
  out("y", isobar::tensor(in["x"].shape(), std::vector<double>(y.opened(), y.opened() + width)));
}

}  // namespace

int main() {
  return serve({
      {"predict", of(predict, {"rows,width,reads,writes,flops", "cache,gigabytes_a_second,gigaflops"},
                     {"bytes", "flops", "milliseconds"})},
      {"expf_lanes",
       [](const Request& in, Answer& out) {
         const Floats x(in["x"], offset_of(in)), y(in["x"].numel(), offset_of(in));
         const int64_t before = exponentials_called();
         expf_lanes(x.data(), y.data(), in["x"].numel());
         const int64_t calls = exponentials_called() - before;
         isobar::check(calls == 0,
                       "expf_lanes: wanted no call of the C library's exp or its like, got {} calls", calls);
         out("y", y.tensor(in["x"].shape()));
       }},
      {"softmax",
       [](const Request& in, Answer& out) {
         const isobar::Shape shape = in["x"].shape();
         const Floats x(in["x"], offset_of(in)), y(in["x"].numel(), offset_of(in));
         softmax(x.data(), y.data(), shape[0], shape[1]);
         out("y", y.tensor(shape));
       }},
      {"softmax_passes", passes},
      {"softmax_rms_norm", forward},
      {"softmax_rms_norm_backward", backward},
  });
}
