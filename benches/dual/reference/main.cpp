// Measures the gradient of one program with CoDiPack: prints the median time of a run in nanoseconds, and a number of the
// gradient.
//
//     c++ -O3 -march=native -std=c++17 -I CODIPACK/include main.cpp -o main && ./main dot
#include "programs.hpp"

#include <algorithm>
#include <chrono>
#include <codi.hpp>
#include <cstdio>
#include <cstring>
#include <functional>

using Real = codi::RealReverseUnchecked;
using Clock = std::chrono::steady_clock;

static double seconds(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

static Real& input(Real& x) {
    Real::getTape().registerInput(x);
    return x;
}
static vector<Real> inputs(const vector<double>& v) {
    vector<Real> r(v.begin(), v.end());
    for (Real& x : r) input(x);
    return r;
}
static vector<vector<Real>> inputs(const vector<vector<double>>& m) {
    vector<vector<Real>> r;
    for (const auto& row : m) r.push_back(inputs(row));
    return r;
}
static void begin() {
    Real::getTape().reset();
    Real::getTape().setActive();
}
static void back(Real& y) {
    auto& tape = Real::getTape();
    tape.registerOutput(y);
    tape.setPassive();
    y.setGradient(1.0);
    tape.evaluate();
}

// Runs the work for a while and prints the median.
static void measure(const std::function<double()>& work) {
    double check = work();
    size_t runs = 0;
    auto start = Clock::now();
    for (; seconds(start) < 0.1 || runs == 0; runs++) work();
    vector<double> times;
    for (size_t k = 0; k < runs; k++) {
        start = Clock::now();
        work();
        times.push_back(seconds(start));
    }
    std::sort(times.begin(), times.end());
    printf("%.1f %.17g\n", times[times.size() / 2] * 1e9, check);
}

int main(int argc, char** argv) {
    const char* name = argc > 1 ? argv[1] : "";
    Numbers r{1};
    if (!strcmp(name, "product")) {
        double x0 = r.next(), y0 = r.next();
        measure([&] {
            double check = 0;
            for (int k = 0; k < 1000; k++) {
                begin();
                Real x = x0, y = y0;
                input(x), input(y);
                Real z = product(x, y);
                back(z);
                check = x.getGradient() + 2 * y.getGradient();
            }
            return check;
        });
    } else if (!strcmp(name, "dot")) {
        auto a = r.vec(10000), b = r.vec(10000);
        measure([&] {
            begin();
            auto x = inputs(a), y = inputs(b);
            Real z = dot(x, y);
            back(z);
            return x[7].getGradient() + 2 * y[8].getGradient();
        });
    } else if (!strcmp(name, "matvec")) {
        auto a = r.matrix(100, 100);
        auto b = r.vec(100);
        measure([&] {
            begin();
            auto x = inputs(a);
            auto y = inputs(b);
            Real z = matvec(x, y);
            back(z);
            return x[7][3].getGradient() + 2 * y[8].getGradient();
        });
    } else if (!strcmp(name, "rotate")) {
        array<double, 3> v0;
        array<double, 4> q0;
        for (double& x : v0) x = r.next();
        for (double& x : q0) x = r.next();
        measure([&] {
            double check = 0;
            for (int run = 0; run < 1000; run++) {
                begin();
                array<Real, 3> v;
                array<Real, 4> q;
                for (int i = 0; i < 3; i++) input(v[i] = v0[i]);
                for (int i = 0; i < 4; i++) input(q[i] = q0[i]);
                auto y = rotate(v, q);
                auto& tape = Real::getTape();
                for (Real& z : y) tape.registerOutput(z);
                tape.setPassive();
                double rows[3][7];
                for (int k = 0; k < 3; k++) {
                    tape.clearAdjoints();
                    y[k].setGradient(1.0);
                    tape.evaluate();
                    for (int i = 0; i < 3; i++) rows[k][i] = v[i].getGradient();
                    for (int i = 0; i < 4; i++) rows[k][3 + i] = q[i].getGradient();
                }
                check = rows[0][1] + 2 * rows[1][6] + 3 * rows[2][3];
            }
            return check;
        });
    } else if (!strcmp(name, "network")) {
        vector<Layer<double>> layers;
        for (auto [rows, columns] : {std::pair<int, int>{100, 50}, {50, 100}}) {
            Layer<double> layer{r.matrix(rows, columns), {}};
            for (auto& row : layer.weights)
                for (double& x : row) x -= 0.5;
            layer.biases = r.vec(rows);
            layers.push_back(layer);
        }
        auto start = r.vec(50);
        measure([&] {
            begin();
            vector<Layer<Real>> a;
            for (auto& layer : layers) a.push_back({inputs(layer.weights), inputs(layer.biases)});
            auto b = inputs(start);
            Real z = network(a, b);
            back(z);
            return a[0].weights[3][4].getGradient() + 2 * b[5].getGradient();
        });
    } else if (!strcmp(name, "particles")) {
        array<array<double, 4>, 4> s;
        for (auto& p : s)
            for (double& x : p) x = r.next();
        measure([&] {
            begin();
            array<array<Real, 4>, 4> a;
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) input(a[i][j] = s[i][j]);
            Real z = particles(a);
            back(z);
            return a[0][0].getGradient() + 2 * a[3][1].getGradient();
        });
    } else if (!strcmp(name, "det")) {
        auto a = r.vec(64);
        measure([&] {
            begin();
            auto x = inputs(a);
            Real z = determinant(x, 8);
            back(z);
            return x[3].getGradient() + 2 * x[33].getGradient();
        });
    } else if (!strcmp(name, "lstm")) {
        size_t layers = 2, bits = 14, characters = 1024;
        auto main_ = r.matrix(2 * layers, 4 * bits), extra = r.matrix(3, bits), state = r.matrix(2 * layers, bits),
             sequence = r.matrix(characters, bits);
        for (auto& row : sequence)
            for (double& x : row) x = x < 0.5 ? 0.0 : 1.0;
        measure([&] {
            begin();
            auto a = inputs(main_), e = inputs(extra);
            Real z = lstm(a, e, state, sequence);
            back(z);
            return a[1][5].getGradient() + 2 * e[2][3].getGradient();
        });
    } else {
        fprintf(stderr, "unknown program %s\n", name);
        return 1;
    }
}
