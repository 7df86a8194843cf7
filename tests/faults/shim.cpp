// Makes one call of a program fail:
//
//     LD_PRELOAD=libfault_shim.so SAWTOOTH_FAULT="malloc 17" sawtooth run scan
//
// With the count 0 nothing fails, and the number of calls is written to the file SAWTOOTH_FAULT_COUNT at the
// end.
//
// Calls are counted from the static initialisers of the program on. Before them the loader and the linked
// libraries start; what fails there ends with a message of the loader, before any code of ours runs. A call
// does not count if a library that was opened later is among its callers: drivers of OpenGL do not survive a
// failed malloc, and no program can change that. For the same reason calls do not count in which glibc notes
// the destructor of a thread's variable, because it aborts if it cannot.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// NOLINTBEGIN(bugprone-reserved-identifier): the names of the C library
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace {

// Nothing here allocates memory: the allocator itself is among the calls that fail.
char function[32];
long wanted = -1;  // number of the call that fails
std::atomic<long> count{0};
std::atomic<bool> started{false}, failed{false};

struct Code {
    uintptr_t first, last;
};
Code code[128];  // that of the program and of the libraries it links
int codes = 0;

int note_code(dl_phdr_info* info, size_t, void*) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_X) || codes == 128) continue;
        const uintptr_t first = info->dlpi_addr + part.p_vaddr;
        code[codes++] = {first, first + part.p_memsz};
    }
    return 0;
}

bool is_ours(uintptr_t place) {
    for (int i = 0; i < codes; ++i)
        if (place >= code[i].first && place < code[i].last) return true;
    return false;
}

bool is_fatal_to_libc(uintptr_t place) {
    Dl_info info{};
    return dladdr(reinterpret_cast<void*>(place), &info) != 0 && info.dli_sname &&
           std::strcmp(info.dli_sname, "__cxa_thread_atexit_impl") == 0;
}

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* foreign) {
    const uintptr_t place = _Unwind_GetIP(frame);
    if (place == 0 || (is_ours(place) && !is_fatal_to_libc(place))) return _URC_NO_REASON;
    *static_cast<bool*>(foreign) = true;
    return _URC_END_OF_STACK;
}

// Returns whether this call must fail. A call that is not ours leaves the fault to the next one.
bool fails(const char* name, void* caller) {
    if (!started || std::strcmp(name, function) != 0 || !is_ours(reinterpret_cast<uintptr_t>(caller)))
        return false;
    if (++count < wanted || wanted <= 0 || failed) return false;
    static thread_local __attribute__((tls_model("initial-exec"))) bool looking = false;
    if (looking) return false;
    looking = true;
    bool foreign = false;
    _Unwind_Backtrace(look_at_frame, &foreign);
    looking = false;
    return !foreign && !failed.exchange(true);
}

template <class Function>
Function* real(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void read_environment() {
    const char* const fault = std::getenv("SAWTOOTH_FAULT");
    if (!fault || std::sscanf(fault, "%31s %ld", function, &wanted) != 2) return;
    // A worker or any other program that this one starts has no faults.
    ::unsetenv("SAWTOOTH_FAULT");
    ::unsetenv("LD_PRELOAD");
    dl_iterate_phdr(note_code, nullptr);
    started = true;
}

__attribute__((destructor)) void write_count() {
    const char* const path = std::getenv("SAWTOOTH_FAULT_COUNT");
    if (!started.exchange(false) || wanted != 0 || !path) return;
    if (std::FILE* const file = std::fopen(path, "w")) {
        std::fprintf(file, "%ld\n", count.load());
        std::fclose(file);
    }
}

}  // namespace

#define CALLER __builtin_return_address(0)
#define REAL(name) static const auto next = real(decltype (&::name)(), #name)
#define FAIL(what, number, value) \
    if (fails(what, CALLER)) {    \
        errno = number;           \
        return value;             \
    }

extern "C" {

// The C library calls this before the static initialisers of the program.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
    REAL(__libc_start_main);
    read_environment();
    return next(main, argc, argv, init, fini, loader_fini, stack_end);
}

void* malloc(size_t bytes) {
    FAIL("malloc", ENOMEM, nullptr)
    return __libc_malloc(bytes);
}
void* calloc(size_t items, size_t bytes) {
    FAIL("malloc", ENOMEM, nullptr)
    return __libc_calloc(items, bytes);
}
void* realloc(void* old, size_t bytes) {
    FAIL("malloc", ENOMEM, nullptr)
    return __libc_realloc(old, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
    FAIL("malloc", ENOMEM, nullptr)
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
    if (fails("malloc", CALLER)) return ENOMEM;
    *memory = __libc_memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}

// Standard error does not fail, because its text about the failure is what is tested.
ssize_t write(int file, const void* from, size_t bytes) {
    REAL(write);
    if (file != STDERR_FILENO) FAIL("write", ENOSPC, -1)
    return next(file, from, bytes);
}
size_t fwrite(const void* from, size_t bytes, size_t items, std::FILE* file) {
    REAL(fwrite);
    if (file != stderr) FAIL("write", ENOSPC, 0)
    return next(from, bytes, items, file);
}
int fsync(int file) {
    REAL(fsync);
    FAIL("fsync", EIO, -1)
    return next(file);
}
int rename(const char* from, const char* to) noexcept {
    REAL(rename);
    FAIL("rename", EIO, -1)
    return next(from, to);
}

#define OPEN_MODE                             \
    va_list rest;                             \
    va_start(rest, flags);                    \
    const mode_t mode = va_arg(rest, mode_t); \
    va_end(rest);
int open(const char* path, int flags, ...) {
    REAL(open);
    OPEN_MODE
    FAIL("open", EMFILE, -1)
    return next(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
    REAL(open64);
    OPEN_MODE
    FAIL("open", EMFILE, -1)
    return next(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
    REAL(openat);
    OPEN_MODE
    FAIL("open", EMFILE, -1)
    return next(folder, path, flags, mode);
}
std::FILE* fopen(const char* path, const char* mode) {
    REAL(fopen);
    FAIL("open", EMFILE, nullptr)
    return next(path, mode);
}
std::FILE* fopen64(const char* path, const char* mode) {
    REAL(fopen64);
    FAIL("open", EMFILE, nullptr)
    return next(path, mode);
}
std::FILE* fdopen(int file, const char* mode) noexcept {
    REAL(fdopen);
    FAIL("open", EMFILE, nullptr)
    return next(file, mode);
}
DIR* opendir(const char* path) {
    REAL(opendir);
    FAIL("open", EMFILE, nullptr)
    return next(path);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*act)(void*),
                   void* argument) noexcept {
    REAL(pthread_create);
    if (fails("pthread_create", CALLER)) return EAGAIN;
    return next(thread, attributes, act, argument);
}
int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* files,
                const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
    REAL(posix_spawn);
    if (fails("posix_spawn", CALLER)) return EAGAIN;
    return next(process, path, files, attributes, arguments, environment);
}
int posix_spawnp(pid_t* process, const char* path, const posix_spawn_file_actions_t* files,
                 const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
    REAL(posix_spawnp);
    if (fails("posix_spawn", CALLER)) return EAGAIN;
    return next(process, path, files, attributes, arguments, environment);
}

}  // extern "C"
