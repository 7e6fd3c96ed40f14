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

// The same for many small sets of tasks in a row: the threads stay between two sets, and look out for the next.
class Team {
  public:
    // work(thread, task), for threads 0 … n − 1; it must not throw.
    template <class Work>
    Team(int threads, const Work& work) {
        for (int t = 1; t < threads; ++t) {
            try {
                others_.emplace_back([this, t, &work] {
                    for (i64 seen = 0;;) {
                        while (round_.load(std::memory_order_acquire) == seen) wait();
                        ++seen;
                        if (over_) return;
                        for (i64 task; (task = next_.fetch_add(1)) < tasks_;) work(t, task);
                        left_.fetch_sub(1, std::memory_order_release);
                    }
                });
            } catch (...) {  // no more threads to be had
                break;
            }
        }
    }
    Team(const Team&) = delete;

    ~Team() {
        over_ = true;
        round_.fetch_add(1, std::memory_order_release);
        for (std::thread& other : others_) other.join();
    }

    template <class Work>
    void run(i64 tasks, const Work& work) {
        tasks_ = tasks;
        next_ = 0;
        left_ = static_cast<i64>(others_.size());
        round_.fetch_add(1, std::memory_order_release);
        for (i64 task; (task = next_.fetch_add(1)) < tasks_;) work(0, task);
        while (left_.load(std::memory_order_acquire) > 0) wait();
    }

  private:
    static void wait() { std::this_thread::yield(); }

    std::vector<std::thread> others_;
    std::atomic<i64> round_{0}, next_{0}, left_{0};
    i64 tasks_ = 0;
    bool over_ = false;
};

}  // namespace perceptive
