// The lock of a model: many readers or one who changes it, and one who learns.
//
// Three holds, each reentrant within its thread:
//   learning   one thread at a time teaches the model, for as long as it has examples
//   shared     reads the model; readers wait for a change, not for learning to end
//   exclusive  changes it, or copies it: no other thread reads or changes it meanwhile
//
// The numbers of the lock itself are guarded by the GIL: a thread that takes or gives back a hold has it. One that must
// wait lets go of the GIL first, and answers signals meanwhile. Waiting threads take turns: after a change all readers
// who waited for it come in, before the next change; after one teacher another, before the same one again.
//
// A child that was forked has none of its parent's other threads, so that a lock is new there.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace perceptive {

enum class Hold { learning, shared, exclusive };

// How many forks lie between this process and the one that loaded the module.
unsigned fork_generation();

class ModelLock {
  public:
    // Waits where it must; a signal's exception leaves the lock as it was.
    void acquire(Hold hold) {
        renew();
        if (hold == Hold::learning) {
            if (teacher_ != me())
                wait_for(teachers_, [&](bool waited) { return !teacher_ && (waited || teachers_.turn == 0); });
            teacher_ = me();
            ++holds_;
        } else if (changer_ == me()) {
            ++changes_;  // who changes may also read
        } else if (hold == Hold::shared) {
            auto mine = reader();
            if (mine == reading_.end()) {
                wait_for(readers_, [&](bool waited) {
                    return !changer_ && (changers_.waiting == 0 || (waited && readers_.turn > 0));
                });
                reading_.emplace_back(me(), 1);
            } else {
                ++mine->second;
            }
        } else {
            if (reader() != reading_.end())
                throw std::runtime_error("this thread reads the model, and cannot change it meanwhile");
            wait_for(changers_, [&](bool) { return !changer_ && reading_.empty() && readers_.turn == 0; });
            changer_ = me();
            changes_ = 1;
        }
    }

    void release(Hold hold) {
        if (generation_ != fork_generation()) return;  // taken before the fork
        if (hold == Hold::learning) {
            if (teacher_ != me() || --holds_ > 0) return;
            teacher_ = nullptr;
            teachers_.turn = teachers_.waiting;
        } else if (changer_ == me()) {
            if (--changes_ > 0) return;
            changer_ = nullptr;
            readers_.turn = readers_.waiting;
        } else {
            auto mine = reader();
            if (mine == reading_.end() || --mine->second > 0) return;
            *mine = reading_.back();
            reading_.pop_back();
        }
        wake();
    }

    // Whether a single call that keeps the GIL may read the model without taking a hold.
    bool readable() {
        renew();
        return changer_ == nullptr || changer_ == me();
    }
    // Whether such a call may change it.
    bool teachable() { return readable() && (teacher_ == nullptr || teacher_ == me()) && reading_.empty(); }

  private:
    using Thread = const void*;
    struct Queue {
        int waiting = 0, turn = 0;  // those who wait, and how many of them come before all others
    };

    static Thread me() {
        static thread_local char here;
        return &here;
    }
    std::vector<std::pair<Thread, int>>::iterator reader() {
        return std::find_if(reading_.begin(), reading_.end(), [](const auto& one) { return one.first == me(); });
    }

    template <class Free>
    void wait_for(Queue& queue, Free free) {
        if (queue.waiting == 0 && free(false)) return;
        ++queue.waiting;
        const auto leave = [&] {
            --queue.waiting;
            if (queue.turn > 0) --queue.turn;
        };
        for (bool waited = false; !free(waited); waited = true) {
            Bell& bell = *bell_;
            const std::uint64_t heard = bell.rung;
            {
                nb::gil_scoped_release release;
                std::unique_lock lock(bell.mutex);
                bell.rings.wait_for(lock, PATIENCE, [&] { return bell.rung != heard; });
            }
            if (PyErr_CheckSignals() < 0) {
                leave();
                wake();
                throw nb::python_error();
            }
        }
        leave();
    }

    void wake() {
        if (readers_.waiting + changers_.waiting + teachers_.waiting == 0) return;
        {
            std::lock_guard lock(bell_->mutex);
            ++bell_->rung;
        }
        bell_->rings.notify_all();
    }

    void renew() {
        if (generation_ == fork_generation()) return;
        generation_ = fork_generation();
        teacher_ = changer_ = nullptr;
        holds_ = changes_ = 0;
        reading_.clear();
        readers_ = changers_ = teachers_ = {};
        bell_.release();  // another thread may have been at it: it cannot be destroyed
        bell_ = std::make_unique<Bell>();
    }

    static constexpr std::chrono::milliseconds PATIENCE{50};  // between two looks at signals

    struct Bell {
        std::mutex mutex;
        std::condition_variable rings;
        std::uint64_t rung = 0;  // written with the GIL and the mutex
    };

    Thread teacher_ = nullptr, changer_ = nullptr;
    int holds_ = 0, changes_ = 0;
    std::vector<std::pair<Thread, int>> reading_;
    Queue readers_, changers_, teachers_;
    unsigned generation_ = fork_generation();
    std::unique_ptr<Bell> bell_ = std::make_unique<Bell>();
};

// A hold for the length of a block of C++; the GIL may be released within the block.
class Held {
  public:
    Held(ModelLock& lock, Hold hold) : lock_(lock), hold_(hold) { lock_.acquire(hold_); }
    ~Held() { lock_.release(hold_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

  private:
    ModelLock& lock_;
    Hold hold_;
};

// What Python holds: copies and pickles of a lock are new ones.
struct Lock {
    std::shared_ptr<ModelLock> of_model = std::make_shared<ModelLock>();
};

}  // namespace perceptive
