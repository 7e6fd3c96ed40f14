// Tasks 0 … n − 1 on several threads: a free thread takes the next. Results must not depend on which thread does what.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "rows.hpp"

namespace perceptive {

// make() gives each thread a worker of its own, which is called with the number of a task.
template <class Make>
void in_parallel(i64 tasks, int threads, const Make& make) {
    std::atomic<i64> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    const auto work = [&] {
        try {
            auto worker = make();
            for (i64 task; (task = next.fetch_add(1)) < tasks;) worker(task);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(guard);
            failure = std::current_exception();
            next = tasks;
        }
    };
    std::vector<std::thread> others;
    const i64 wanted = std::min<i64>(std::max(threads, 1), tasks) - 1;
    for (i64 t = 0; t < wanted; ++t) {
        try {
            others.emplace_back(work);
        } catch (...) {  // no more threads to be had: those that are there do the work
            break;
        }
    }
    work();
    for (std::thread& other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace perceptive
