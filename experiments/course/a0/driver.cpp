#include "driver.h"

#include "a0.h"

int main() {
  return serve({
      {"moving_average", of(moving_average, {"x", "width"}, {"y"})},
      {"scaled", of(scaled, {"x"}, {"y"})},
      {"histogram", of(histogram, {"classes", "count"}, {"counts"})},
      {"histogram_twice",
       [](const Request& in, Answer& out) {
         histogram(in["classes"], in.integer("count"));
         out("counts", histogram(in["classes"], in.integer("count")));
       }},
  });
}
