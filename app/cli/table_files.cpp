#include "app/cli/table_files.h"

#include "app/cli/terminal.h"
#include "app/engine/files.h"

namespace sawtooth::cli {

int write_documents(const TableFiles& files, bool json_asked, const Documents& documents) {
    int code = 0;
    if (json_asked)
        code = print(documents.json);
    else if (!files.to_standard_output)
        code = print(documents.text);
    const auto write = [&](const std::string& path, const std::string& content) {
        if (path.empty()) return;
        if (const auto problem = write_file(path, content)) code = fail(*problem);
    };
    write(files.json, documents.json);
    write(files.csv, documents.csv);
    write(files.markdown, documents.markdown);
    return code;
}

}  // namespace sawtooth::cli
