// Runs one program in many threads.
#include "accel.h"

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using Program = std::unique_ptr<accel_program, decltype(&accel_free)>;

int main(int, char **words) {
  Program program(accel_load((std::string(words[1]) + "/element").c_str()), accel_free);
  if (!program) return std::puts(accel_error()), 1;
  std::vector<int> right(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      for (std::size_t n = 1; n <= 100; n++) {
        std::vector<double> x(n, t + 0.5);
        double y = 0;
        long long k = t % 2 ? 0 : (long long)n;
        accel_column given[] = {{ACCEL_F64, 1, {n}, x.data()}, {ACCEL_I64, 0, {0}, &k}};
        accel_column found = {ACCEL_F64, 0, {0}, &y};
        accel_status status = accel_run(program.get(), given, 2, &found, 1);
        bool is_outside = status == ACCEL_INDEX && std::string(accel_error()).find("index [" + std::to_string(n)) != std::string::npos;
        right[t] += t % 2 ? status == ACCEL_OK && y == (t + 0.5) / 2 : is_outside;
      }
    });
  }
  for (auto &thread : threads) thread.join();
  for (int n : right) std::printf("%d ", n);
  std::printf("\n");
}
