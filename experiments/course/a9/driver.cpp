#include "driver.h"

#include "a9.h"

extern "C" void __asan_init() __attribute__((weak));  // there in a program that is watched

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

}  // namespace

int main() {
  return serve({
      {"predict", of(predict, {"rows,width,reads,writes,flops", "cache,gigabytes_a_second,gigaflops"},
                     {"bytes", "flops", "milliseconds"})},
      {"expf_lanes",
       [](const Request& in, Answer& out) {
         const Floats x(in["x"], offset_of(in)), y(in["x"].numel(), offset_of(in));
         expf_lanes(x.data(), y.data(), in["x"].numel());
         out("y", y.tensor(in["x"].shape()));
       }},
      {"softmax",
       [](const Request& in, Answer& out) {
         const isobar::Shape shape = in["x"].shape();
         const Floats x(in["x"], offset_of(in)), y(in["x"].numel(), offset_of(in));
         softmax(x.data(), y.data(), shape[0], shape[1]);
         out("y", y.tensor(shape));
       }},
      {"softmax_rms_norm", forward},
      {"softmax_rms_norm_backward", backward},
  });
}
