#pragma once

#include <string>

#include "app/cli/settings.h"

namespace sawtooth::cli {

// One table in every format.
struct Documents {
    std::string text;  // for a terminal
    std::string json, csv = {}, markdown, junit = {};
};

// Prints the JSON document if it was requested, otherwise the text unless a file goes to standard output,
// then writes the files. Returns the exit code.
int write_documents(const TableFiles& files, bool json_asked, const Documents& documents);

}  // namespace sawtooth::cli
