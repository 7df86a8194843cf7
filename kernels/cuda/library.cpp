#include "kernels/cuda/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>

namespace sawtooth::cuda {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

bool is_hidden(const std::string& word) {
    std::istringstream list(environment("SAWTOOTH_WITHOUT"));
    for (std::string hidden; std::getline(list, hidden, ',');)
        if (hidden == word) return true;
    return false;
}

// Returns the folders of all possible toolkits, the newest of /usr/local first.
std::vector<fs::path> toolkits() {
    std::vector<fs::path> found;
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
        if (const std::string root = environment(name); !root.empty()) found.emplace_back(root);
    std::vector<fs::path> local;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/usr/local", ignored))
        if (entry.path().filename().string().starts_with("cuda")) local.push_back(entry.path());
    std::sort(local.begin(), local.end(), std::greater<>());
    found.insert(found.end(), local.begin(), local.end());
    return found;
}

std::vector<fs::path> folders_of_toolkit() {
    std::vector<fs::path> folders;
    for (const fs::path& root : toolkits())
        for (const char* part : {"lib64", "targets/x86_64-linux/lib", "lib", "extras/CUPTI/lib64"})
            folders.push_back(root / part);
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    folders.push_back(program.parent_path().parent_path() / "lib/sawtooth");
    folders.emplace_back(SAWTOOTH_CUDA_LIBRARIES);
    return folders;
}

// Keeps the loader's message as the reason, unless it only says that the file does not exist.
void keep_reason(std::string& reason) {
    const char* const words = dlerror();
    if (words && !std::string(words).ends_with("No such file or directory")) reason = words;
}

}  // namespace

void* Library::symbol(const char* name) const { return dlsym(handle_, name); }

void Library::open_beside(const std::string& file) const {
    const fs::path folder = fs::path(path_).parent_path();
    if (!folder.empty()) dlopen((folder / file).c_str(), RTLD_NOW | RTLD_LOCAL);
}

Outcome<Library> open_library(const LibraryWanted& wanted) {
    if (is_hidden(wanted.word))
        return Error::failure(wanted.title + " is hidden by SAWTOOTH_WITHOUT: " + wanted.remedy);
    std::string reason;
    for (const std::string& file : wanted.files) {
        if (void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return Library(handle, file);
        keep_reason(reason);
    }
    for (const fs::path& folder : wanted.in_toolkit ? folders_of_toolkit() : std::vector<fs::path>()) {
        for (const std::string& file : wanted.files) {
            const fs::path path = folder / file;
            std::error_code ignored;
            if (!fs::exists(path, ignored)) continue;
            if (void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
                return Library(handle, path.string());
            keep_reason(reason);
        }
    }
    return Error::failure(wanted.title +
                          (reason.empty() ? " was not found: " : " could not be opened (" + reason + "): ") +
                          wanted.remedy);
}

}  // namespace sawtooth::cuda
