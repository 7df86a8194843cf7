// One line for an exception that nobody catches, and exit code 1: in a static initialiser, in a function that
// may not throw (the destructor of JSON and directory iterators take memory), on a thread.

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace {

std::atomic<bool> out_of_memory = false;

// Takes no memory.
void say(const char* words) {
    if (::write(STDERR_FILENO, words, std::strlen(words)) < 0) return;
}

[[noreturn]] void say_last_words() {
    static std::atomic<bool> said = false;
    while (said.exchange(true)) ::pause();  // another thread says them
    // Compilers end some functions that may not throw before the exception can be looked at.
    if (!std::current_exception() && std::uncaught_exceptions() == 0) std::abort();
    constexpr const char* no_memory = "sawtooth: out of memory. Use a smaller shape or fewer variants\n";
    constexpr const char* unknown = "sawtooth: internal error\n";
    try {
        if (std::current_exception()) throw;
        say(out_of_memory ? no_memory : unknown);
    } catch (const std::bad_alloc&) {
        say(no_memory);
    } catch (const std::exception& error) {
        say("sawtooth: internal error: ");
        say(error.what());
        say("\n");
    } catch (...) {
        say(unknown);
    }
    ::_exit(1);
}

// Before every static initialiser of the program.
__attribute__((constructor(101))) void prepare() {
    std::set_terminate(say_last_words);
    std::set_new_handler([] {
        out_of_memory = true;
        throw std::bad_alloc();
    });
}

}  // namespace
