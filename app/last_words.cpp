// One line for an exception that nobody catches, and exit code 1: in a static initialiser, in a destructor
// (that of JSON takes memory), on a thread.

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace {

// Takes no memory.
void say(const char* words) {
    if (::write(STDERR_FILENO, words, std::strlen(words)) < 0) return;
}

[[noreturn]] void say_last_words() {
    static std::atomic<bool> said = false;
    while (said.exchange(true)) ::pause();  // another thread says them
    if (!std::current_exception()) std::abort();
    try {
        throw;
    } catch (const std::bad_alloc&) {
        say("sawtooth: out of memory. Use a smaller shape or fewer variants\n");
    } catch (const std::exception& error) {
        say("sawtooth: internal error: ");
        say(error.what());
        say("\n");
    } catch (...) {
        say("sawtooth: internal error\n");
    }
    ::_exit(1);
}

// Before every static initialiser of the program.
__attribute__((constructor(101))) void prepare() { std::set_terminate(say_last_words); }

}  // namespace
