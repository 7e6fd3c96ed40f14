#include "bindings/lock.hpp"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <optional>

using namespace nb::literals;

namespace perceptive {

namespace {

std::atomic<unsigned> forks{0};

// What handlers raise: the first is told when all have run.
struct Errors {
    std::optional<nb::python_error> first;

    template <class Call>
    void collect(Call call) {
        try {
            call();
        } catch (nb::python_error& error) {
            if (!first) first.emplace(error);
        }
    }
    void raise() {
        if (first) throw *first;
    }
};

// While a model changes, Python's signal handlers wait: an exception of theirs would leave it half changed. Handlers
// run in the main thread only, between two bytecodes, so that no other thread need be asked.
class Signals {
  public:
    static Signals& all() {
        static Signals* signals = new Signals;  // never destroyed: Python may be gone by then
        return *signals;
    }

    // Returns whether they wait: not in other threads, which they do not interrupt.
    bool defer() {
        if (!is_main()) return false;
        if (depth_ > 0) {
            ++depth_;
            return true;
        }
        try {
            for (const int number : NUMBERS) {
                nb::object handler = get_(number);
                if (handler.is_none() || !PyCallable_Check(handler.ptr()) || PyLong_Check(handler.ptr())) continue;
                set_(number, note_);  // may run a handler that is due, which may raise
                handlers_.emplace_back(number, std::move(handler));
            }
        } catch (...) {
            Errors others;
            restore(others);
            throw;
        }
        depth_ = 1;
        return true;
    }

    // The handlers are back, and those that are due run.
    void resume() {
        if (--depth_ > 0) return;
        Errors errors;
        const Handlers handlers = restore(errors);
        std::vector<int> due;
        due.swap(due_);
        for (const int number : due)
            for (const auto& [of, handler] : handlers)
                if (of == number) errors.collect([&, &call = handler] { call(number, nb::none()); });
        errors.raise();
    }

  private:
    using Handlers = std::vector<std::pair<int, nb::object>>;
    static constexpr int NUMBERS[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF};

    Signals() {
        const nb::module_ signal = nb::module_::import_("_signal");  // `signal` makes enums of all it is given
        get_ = signal.attr("getsignal");
        set_ = signal.attr("signal");
        note_ = nb::cpp_function([this](int number, nb::handle) { due_.push_back(number); });
    }

    bool is_main() {
        if (generation_ != fork_generation() || main_ == 0) {
            generation_ = fork_generation();
            main_ = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
        }
        return PyThread_get_thread_ident() == main_;
    }

    // Handlers that the block has set itself stay.
    Handlers restore(Errors& errors) {
        Handlers handlers;
        handlers.swap(handlers_);
        for (const auto& [number, handler] : handlers)
            while (get_(number).is(note_)) errors.collect([&, n = number, &old = handler] { set_(n, old); });
        return handlers;
    }

    nb::object get_, set_, note_;
    Handlers handlers_;
    std::vector<int> due_;
    int depth_ = 0;
    unsigned generation_ = 0;
    unsigned long main_ = 0;
};

class Block {
  public:
    Block(const Lock& lock, Hold hold, bool uninterrupted)
        : lock_(lock.of_model), hold_(hold), uninterrupted_(uninterrupted) {}

    void enter() {
        lock_->acquire(hold_);
        if (!uninterrupted_) return;
        try {
            deferred_ = Signals::all().defer();
        } catch (...) {
            lock_->release(hold_);
            throw;
        }
    }
    void exit() {
        lock_->release(hold_);
        if (deferred_) {
            deferred_ = false;
            Signals::all().resume();
        }
    }

  private:
    std::shared_ptr<ModelLock> lock_;
    Hold hold_;
    bool uninterrupted_, deferred_ = false;
};

}  // namespace

unsigned fork_generation() { return forks.load(std::memory_order_relaxed); }

void bind_lock(nb::module_& m) {
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
    nb::class_<Block>(m, "Hold", "A hold on a model, for the length of a `with` block.")
        .def("__enter__", &Block::enter)
        .def(
            "__exit__", [](Block& self, nb::args) { self.exit(); },
            nb::sig("def __exit__(self, *args: object) -> None"));
    nb::class_<Lock>(m, "Lock", "The lock of a model; copies and pickles of it are new ones. See bindings/lock.hpp.")
        .def(nb::init<>())
        .def(
            "learning", [](const Lock& self) { return Block(self, Hold::learning, false); },
            "No other thread teaches the model.")
        .def(
            "shared", [](const Lock& self) { return Block(self, Hold::shared, false); }, "No thread changes the model.")
        .def(
            "exclusive", [](const Lock& self) { return Block(self, Hold::exclusive, false); },
            "No other thread reads or changes the model.")
        .def(
            "changing", [](const Lock& self) { return Block(self, Hold::exclusive, true); },
            "No other thread reads or changes the model, and no signal handler breaks in: keep it short.")
        .def("__copy__", [](const Lock&) { return Lock{}; })
        .def(
            "__deepcopy__", [](const Lock&, nb::handle) { return Lock{}; }, "memo"_a)
        .def("__reduce__", [](nb::handle self) { return nb::make_tuple(self.type(), nb::make_tuple()); });
}

}  // namespace perceptive
