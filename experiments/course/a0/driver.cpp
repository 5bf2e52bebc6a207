#include "driver.h"

#include "a0.h"

int main() {
  return serve({
      {"moving_average",
       [](const Request& in, Answer& out) { out("y", moving_average(in["x"], in.integer("width"))); }},
      {"scaled", [](const Request& in, Answer& out) { out("y", scaled(in["x"])); }},
      {"histogram",
       [](const Request& in, Answer& out) { out("counts", histogram(in["classes"], in.integer("count"))); }},
      {"histogram_twice",
       [](const Request& in, Answer& out) {
         histogram(in["classes"], in.integer("count"));
         out("counts", histogram(in["classes"], in.integer("count")));
       }},
  });
}
