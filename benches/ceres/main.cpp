// Adjusts a scene of `generate_adbench scene` with Ceres, and prints half of the sum of the squares after each step, and the seconds until then.
//
//     apt-get install libceres-dev
//     c++ -O3 -march=native -std=c++17 -I /usr/include/eigen3 main.cpp -lceres -lglog -o adjust && ./adjust scene.txt iterative 2
//
// The arguments are the file, how the Schur complement is treated (`iterative`, `sparse` or `dense`), and the number of threads.
#include <ceres/ceres.h>
#include <ceres/rotation.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

// The distance of an observation from the place at which its camera sees its point: the formulas of ADBench.
struct Residual {
    double u, v;

    template <typename T>
    bool operator()(const T* camera, const T* point, T* residual) const {
        const T from_centre[3] = {point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]};
        T x[3];
        ceres::AngleAxisRotatePoint(camera, from_centre, x);
        const T a = x[0] / x[2], b = x[1] / x[2];
        const T square = a * a + b * b;
        const T scale = camera[6] * (1.0 + camera[9] * square + camera[10] * square * square);
        residual[0] = a * scale + camera[7] - u;
        residual[1] = b * scale + camera[8] - v;
        return true;
    }
};

int main(int argc, char** argv) {
    if (argc != 4) {
        fprintf(stderr, "expected: FILE iterative|sparse|dense THREADS\n");
        return 2;
    }
    std::ifstream file(argv[1]);
    size_t n, m, p;
    file >> n >> m >> p;
    std::vector<std::array<double, 11>> cameras(n);
    std::vector<std::array<double, 3>> points(m);
    ceres::Problem problem;
    for (size_t i = 0; i < p; i++) {
        size_t camera, point;
        double u, v;
        file >> camera >> point >> u >> v;
        auto* cost = new ceres::AutoDiffCostFunction<Residual, 2, 11, 3>(new Residual{u, v});
        problem.AddResidualBlock(cost, nullptr, cameras[camera].data(), points[point].data());
    }
    for (auto& camera : cameras)
        for (double& x : camera) file >> x;
    for (auto& point : points)
        for (double& x : point) file >> x;
    if (!file) {
        fprintf(stderr, "%s is no scene\n", argv[1]);
        return 1;
    }

    ceres::Solver::Options options;
    const std::string kind = argv[2];
    options.linear_solver_type = kind == "iterative" ? ceres::ITERATIVE_SCHUR
                                 : kind == "sparse"  ? ceres::SPARSE_SCHUR
                                                     : ceres::DENSE_SCHUR;
    options.preconditioner_type = ceres::SCHUR_JACOBI;
    options.num_threads = atoi(argv[3]);
    options.max_num_iterations = 100;
    options.function_tolerance = 1e-9;
    // The points first.
    auto* ordering = new ceres::ParameterBlockOrdering;
    for (auto& point : points) ordering->AddElementToGroup(point.data(), 0);
    for (auto& camera : cameras) ordering->AddElementToGroup(camera.data(), 1);
    options.linear_solver_ordering.reset(ordering);
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);
    for (const auto& step : summary.iterations)
        printf("%3d steps  half of squares %.9e  %d iterations  %.1f ms\n", step.iteration, step.cost,
               step.linear_solver_iterations, step.cumulative_time_in_seconds * 1e3);
    printf("%s\n", summary.message.c_str());
}
