// The schemas of families as JSON.

#include "app/engine/wire/json.h"
#include "app/engine/wire/json_values.h"

namespace sawtooth {
namespace {

Json parameter_of(const Parameter& row) {
    Json object = {{"name", row.name},
                   {"title", row.title},
                   {"type", name_of(row.type)},
                   {"default", value_of(row.initial)}};
    if (row.type == Type::choice || row.type == Type::boolean) {
        object["choices"] =
            row.type == Type::boolean ? Json::array({false, true}) : list_of(row.choices, value_of);
    } else if (row.type == Type::real) {
        object["min"] = number(row.minimum);
        object["max"] = number(row.maximum);
    } else {
        object["min"] = static_cast<int64_t>(row.minimum);
        object["max"] = static_cast<int64_t>(row.maximum);
    }
    if (!row.word.empty()) object["word"] = row.word;
    object["unit"] = row.unit;
    object["meaning"] = row.meaning;
    object["group"] = name_of(row.group);
    object["renews"] = name_of(row.renews);
    object["applies"] = nullptr;
    for (const Condition& condition : row.applies) object["applies"].push_back(condition.words);
    object["ends_at"] = row.end ? Json(row.end->words) : Json();
    object["source"] = row.source;
    return object;
}

Json variant_row_of(const Variant& variant) {
    Json backends = Json::array();
    for (const Backend backend : {Backend::cpu, Backend::cuda})
        if (variant.runs_on(backend)) backends.push_back(name_of(backend));
    return {
        {"name", variant.name}, {"idea", variant.idea}, {"backends", backends}, {"outputs", variant.outputs}};
}

Json array_of(const ArraySpec& array) {
    static constexpr const char* roles[] = {"input", "optional", "output_gradient", "output"};
    return {{"name", array.name},
            {"meaning", array.meaning},
            {"role", roles[static_cast<size_t>(array.role)]},
            {"dtype", name_of(array.dtype)},
            {"dimensions", array.dimensions}};
}

Json object_of(const std::vector<std::pair<std::string, Value>>& values) {
    Json object = Json::object();
    for (const auto& [name, value] : values) object[name] = value_of(value);
    return object;
}

Json preset_of(const Preset& preset) { return {{"name", preset.name}, {"values", object_of(preset.values)}}; }

Json family_of(const Family* family) {
    return {{"name", family->name},
            {"title", family->title},
            {"summary", family->summary},
            {"source", family->source},
            {"variants", list_of(family->variants, variant_row_of)},
            {"parameters", list_of(family->parameters, parameter_of)},
            {"arrays", list_of(family->arrays, array_of)},
            {"presets", list_of(family->presets, preset_of)}};
}

}  // namespace

std::string families_json(const std::vector<const Family*>& families) {
    return text_of({{"families", list_of(families, family_of)}});
}

}  // namespace sawtooth
