#include "app/cli/table_files.h"

#include "app/cli/terminal.h"
#include "app/engine/files.h"

namespace sawtooth::cli {

int write_documents(const TableFiles& files, bool json_asked, const std::string& json, const Table& table) {
    int code = 0;
    if (json_asked)
        code = print(json);
    else if (!files.to_standard_output)
        code = print(table.plain());
    const auto write = [&](const std::string& path, const std::string& content) {
        if (path.empty()) return;
        if (const auto problem = write_file(path, content)) code = fail(*problem);
    };
    write(files.json, json);
    write(files.csv, files.csv.empty() ? "" : table.csv());
    write(files.markdown, files.markdown.empty() ? "" : table.markdown());
    return code;
}

}  // namespace sawtooth::cli
