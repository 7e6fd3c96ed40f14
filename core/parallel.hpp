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

// The same for many small sets of tasks in a row: the threads stay between two sets, and look out for the next. A set
// is over when its tasks are: nobody waits for a thread that has no processor and no task.
class Team {
  public:
    explicit Team(int threads) {
        for (int t = 1; t < threads; ++t) {
            try {
                others_.emplace_back([this, t] {
                    for (int waited = 0; !over_.load(std::memory_order_relaxed);)
                        if (work_on(t))
                            waited = 0;
                        else
                            wait(waited);
                });
            } catch (...) {  // no more threads to be had
                break;
            }
        }
    }
    Team(const Team&) = delete;

    ~Team() {
        over_ = true;
        for (std::thread& other : others_) other.join();
    }

    int size() const { return static_cast<int>(others_.size()) + 1; }

    // work(thread, task), for tasks 0 … n − 1 and threads 0 … size() − 1; it must not throw.
    template <class Work>
    void run(i64 tasks, const Work& work) {
        if (others_.empty() || tasks < 2) {
            for (i64 task = 0; task < tasks; ++task) work(0, task);
            return;
        }
        call_ = [](const void* work, int thread, i64 task) { (*static_cast<const Work*>(work))(thread, task); };
        work_ = &work;
        tasks_ = tasks;
        done_ = 0;
        left_ = ++sets_ << TASK_BITS | static_cast<std::uint64_t>(tasks);
        while (work_on(0)) continue;
        for (int waited = 0; done_.load(std::memory_order_acquire) < tasks;) wait(waited);
    }

  private:
    static constexpr int TASK_BITS = 32;

    // Do the next task, if one is left. Who succeeds in taking it knows that its set is not over, and so that what was
    // read of the set before is true.
    bool work_on(int thread) {
        std::uint64_t left = left_.load(std::memory_order_acquire);
        for (;;) {
            const auto tasks = static_cast<i64>(left & ((std::uint64_t{1} << TASK_BITS) - 1));
            if (tasks == 0) return false;
            const auto call = call_.load(std::memory_order_relaxed);
            const void* const work = work_.load(std::memory_order_relaxed);
            const i64 task = tasks_.load(std::memory_order_relaxed) - tasks;
            if (!left_.compare_exchange_weak(left, left - 1, std::memory_order_acquire)) continue;
            call(work, thread, task);
            done_.fetch_add(1, std::memory_order_release);
            return true;
        }
    }

    // The next set mostly comes within microseconds; if it does not, others may need the processor.
    static void wait(int& waited) {
        constexpr int A_WHILE = 2000;
        if (waited == A_WHILE) return std::this_thread::yield();
        ++waited;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ __volatile__("yield");
#endif
    }

    std::vector<std::thread> others_;
    std::uint64_t sets_ = 0;
    std::atomic<std::uint64_t> left_{0};  // the number of the set, and in the lower bits how many of its tasks are left
    std::atomic<i64> tasks_{0}, done_{0};
    std::atomic<void (*)(const void*, int, i64)> call_{nullptr};
    std::atomic<const void*> work_{nullptr};
    std::atomic<bool> over_{false};
};

}  // namespace perceptive
