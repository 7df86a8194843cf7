#pragma once

#include <string>

#include "app/cli/settings.h"

namespace sawtooth::cli {

// One table as it is written to each place.
struct Documents {
    std::string text;  // for a terminal
    std::string json, csv, markdown;
};

// What goes to standard output (the JSON document where it is asked for, else the text unless a file goes
// there), then the files; the exit code.
int write_documents(const TableFiles& files, bool json_asked, const Documents& documents);

}  // namespace sawtooth::cli
