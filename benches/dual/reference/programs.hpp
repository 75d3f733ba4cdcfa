// The programs of ../src/programs.rs in C++, for a type T of numbers.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

using std::array;
using std::vector;

// The generator of ../src/data.rs.
struct Numbers {
    uint64_t state;
    double next() {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return double(state >> 11) / double(1ull << 53);
    }
    vector<double> vec(size_t n) {
        vector<double> v(n);
        for (double& x : v) x = next();
        return v;
    }
    vector<vector<double>> matrix(size_t rows, size_t columns) {
        vector<vector<double>> m;
        for (size_t i = 0; i < rows; i++) m.push_back(vec(columns));
        return m;
    }
};

template <class T> T product(const T& x, const T& y) { return x * y; }

template <class T> T dot(const vector<T>& xs, const vector<T>& ys) {
    T sum = 0.0;
    for (size_t i = 0; i < xs.size(); i++) sum += xs[i] * ys[i];
    return sum;
}

template <class T> T matvec(const vector<vector<T>>& matrix, const vector<T>& xs) {
    T total = 0.0;
    for (const auto& row : matrix) total += dot(row, xs);
    return total;
}

template <class T> array<T, 3> rotate(const array<T, 3>& v, const array<T, 4>& q) {
    T uv = q[0] * v[0] + q[1] * v[1] + q[2] * v[2];
    T uu = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
    T c[3] = {q[1] * v[2] - q[2] * v[1], q[2] * v[0] - q[0] * v[2], q[0] * v[1] - q[1] * v[0]};
    array<T, 3> r;
    for (int k = 0; k < 3; k++) r[k] = 2.0 * uv * q[k] + (q[3] * q[3] - uu) * v[k] + 2.0 * q[3] * c[k];
    return r;
}

template <class T> struct Layer {
    vector<vector<T>> weights;
    vector<T> biases;
};

template <class T> T network(const vector<Layer<T>>& layers, const vector<T>& input) {
    using std::exp;
    vector<T> xs = input;
    for (const auto& layer : layers) {
        vector<T> ys;
        for (size_t i = 0; i < layer.weights.size(); i++) {
            T y = layer.biases[i];
            for (size_t j = 0; j < xs.size(); j++) y += layer.weights[i][j] * xs[j];
            if (y > 0.0) ys.push_back(y); else ys.push_back(T(0.0));
        }
        xs = ys;
    }
    T largest = -std::numeric_limits<double>::infinity();
    for (const T& x : xs) if (x > largest) largest = x;
    T total = 0.0, sum = 0.0;
    vector<T> powers;
    for (const T& x : xs) powers.push_back(exp(x - largest));
    for (const T& p : powers) total += p;
    for (size_t k = 0; k < powers.size(); k++) sum += (k + 1.0) * powers[k] / total;
    return sum;
}

template <class T> T particle(const array<T, 4>& start) {
    using std::cos;
    using std::sin;
    const double dt = 0.01, pull = 0.5, friction = 0.1;
    T x = start[0], y = start[1], u = start[2], v = start[3];
    for (int k = 0; k < 1000; k++) {
        T a = sin(y) - x * pull - u * friction;
        T b = cos(x) - y * pull - v * friction;
        x += u * dt;
        y += v * dt;
        u += a * dt;
        v += b * dt;
    }
    return x * y;
}

template <class T> T particles(const array<array<T, 4>, 4>& starts) {
    T sum = 0.0;
    for (const auto& start : starts) sum += particle(start);
    return sum;
}

template <class T> T minor_of(const vector<T>& a, size_t n, size_t m, size_t* r, size_t* c) {
    size_t r0 = r[n], previous = n, column = c[n];
    if (m == 1) return a[r0 * n + column];
    r[n] = r[r0];
    T det = 0.0;
    bool positive = true;
    for (size_t k = 0; k < m; k++) {
        c[previous] = c[column];
        if (positive) det += a[r0 * n + column] * minor_of(a, n, m - 1, r, c);
        else det -= a[r0 * n + column] * minor_of(a, n, m - 1, r, c);
        positive = !positive;
        c[previous] = column;
        previous = column;
        column = c[column];
    }
    r[n] = r0;
    return det;
}

template <class T> T determinant(const vector<T>& a, size_t n) {
    vector<size_t> r(n + 1);
    for (size_t i = 0; i < n; i++) r[i] = i + 1;
    r[n] = 0;
    vector<size_t> c = r;
    return minor_of(a, n, n, r.data(), c.data());
}

template <class T> T sigmoid(const T& x) { using std::exp; return 1.0 / (1.0 + exp(-x)); }

template <class T>
T lstm(const vector<vector<T>>& main, const vector<vector<T>>& extra, const vector<vector<double>>& start,
       const vector<vector<double>>& sequence) {
    using std::exp;
    using std::log;
    using std::tanh;
    size_t layers = start.size() / 2, bits = sequence[0].size();
    vector<vector<T>> state;
    for (const auto& row : start) state.emplace_back(row.begin(), row.end());
    T total = 0.0;
    vector<T> input(bits), predicted(bits);
    for (size_t t = 0; t + 1 < sequence.size(); t++) {
        for (size_t j = 0; j < bits; j++) input[j] = sequence[t][j] * extra[0][j];
        for (size_t layer = 0; layer < layers; layer++) {
            const vector<T>&w = main[2 * layer], &b = main[2 * layer + 1];
            for (size_t j = 0; j < bits; j++) {
                T &hidden = state[2 * layer][j], &cell = state[2 * layer + 1][j];
                T forget = sigmoid(T(input[j] * w[j] + b[j]));
                T ingate = sigmoid(T(hidden * w[bits + j] + b[bits + j]));
                T outgate = sigmoid(T(input[j] * w[2 * bits + j] + b[2 * bits + j]));
                T change = tanh(hidden * w[3 * bits + j] + b[3 * bits + j]);
                cell = cell * forget + ingate * change;
                hidden = outgate * tanh(cell);
                input[j] = hidden;
            }
        }
        T sum = 2.0;
        for (size_t j = 0; j < bits; j++) {
            predicted[j] = input[j] * extra[1][j] + extra[2][j];
            sum += exp(predicted[j]);
        }
        T l = log(sum);
        for (size_t j = 0; j < bits; j++) total += sequence[t + 1][j] * (predicted[j] - l);
    }
    return -total / double((sequence.size() - 1) * bits);
}
