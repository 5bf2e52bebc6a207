// Members that fields() cannot list: each line is an error of one sentence. Case 0 lists all that it can.
#include <map>
#include <memory>
#include <optional>

#include "../../core/fields.h"

namespace isobar {

struct Part : HasFields {
  Tensor weight;
  void fields(Fields& f) override { f("weight", weight); }
};

struct Whole : HasFields {
  Tensor weight;
  Part part;
  std::unique_ptr<Part> owned;
  std::optional<Part> optional;
  std::vector<Tensor> tensors;
  std::vector<Part> parts;
  std::vector<std::unique_ptr<HasFields>> any_parts;
  bool flag = false;
  int64_t count = 0;
  double rate = 0;
  std::string name;
  std::vector<int64_t> counts;
  std::vector<double> rates;
  std::vector<std::string> names;

  int width = 0;
  const int64_t fixed = 0;
  float scale = 0;
  Part* pointer = nullptr;
  std::shared_ptr<Part> shared;
  std::map<std::string, Part> by_name;
  Tensor array[2];
  const Tensor constant;

  void fields(Fields& f) override {
#if REFUSED == 0
    f("weight", weight), f("part", part), f("owned", owned), f("optional", optional);
    f("tensors", tensors), f("parts", parts), f("any_parts", any_parts), f.buffer("weight", weight);
    f("flag", flag), f("count", count, "a number", at_least(1)), f("rate", rate, "a rate"), f("name", name);
    f("name", name, "a name", {"a", "b"}), f("counts", counts), f("rates", rates), f("names", names);
#elif REFUSED == 1
    f("width", width, "a width", at_least(1));
#elif REFUSED == 2
    f("scale", scale);
#elif REFUSED == 3
    f("pointer", pointer);
#elif REFUSED == 4
    f("shared", shared);
#elif REFUSED == 5
    f("by_name", by_name);
#elif REFUSED == 6
    f("array", array);
#elif REFUSED == 7
    f("constant", constant);
#elif REFUSED == 8
    f("fixed", fixed, "a number", {"a", "b"});
#endif
  }
};

}  // namespace isobar

int main() {}
