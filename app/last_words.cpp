// Prints one line for an exception that nobody catches and exits with code 1. Such exceptions come from
// static initialisers, from threads, and from functions that may not throw: for example, the destructors of
// JSON and of directory iterators allocate memory.

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace {

std::atomic<bool> out_of_memory = false;

// Prints the words without allocating memory.
void say(const char* words) {
    if (::write(STDERR_FILENO, words, std::strlen(words)) < 0) return;
}

[[noreturn]] void say_last_words() {
    static std::atomic<bool> said = false;
    while (said.exchange(true)) ::pause();  // another thread is printing
    // Compilers end some functions that may not throw before the exception can be inspected.
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

// Runs before every static initialiser of the program.
__attribute__((constructor(101))) void prepare() {
    std::set_terminate(say_last_words);
    std::set_new_handler([] {
        out_of_memory = true;
        throw std::bad_alloc();
    });
}

}  // namespace
