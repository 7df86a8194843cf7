// Answers of a worker that an attacker has changed, for every family. Each one must be refused with a reason
// or be shown. SAWTOOTH_RANDOM_SEED determines the choices.

#include <iostream>

#include "app/engine/run/result_figures.h"
#include "app/engine/tables/tables.h"
#include "app/engine/wire/checked.h"
#include "app/engine/wire/json.h"
#include "app/engine/wire/messages.h"
#include "app/gui/state/family_choice.h"
#include "tests/gui/user.h"
#include "tests/kernels/families/hostile_values.h"
#include "tests/kit/temporary_folder.h"
#include "viz/figure_csv.h"
#include "viz/figure_svg.h"

namespace sawtooth {
namespace {

// The answer of a worker for a small run, as a tree of values.
nlohmann::json honest_answer(const Family& family) {
    Request request = bounded_request(family);
    request.time_limit_seconds.reset();  // the first run also measures the machine
    const auto run = [&](double size) {
        for (const Parameter& row : family.parameters)
            if (row.group == Group::shape && row.type == Type::integer)
                request.parameters.set(row.name,
                                       static_cast<int64_t>(std::clamp(size, row.minimum, row.maximum)));
        return Runner(shared_cache()).run(request, {});
    };
    auto result = run(20);
    if (!result) result = run(4);  // the sizes of this family are exponents
    INFO(family.name << ": " << (result ? "" : result.error().text));
    REQUIRE(result);
    const auto figures = std::make_shared<const std::vector<Figure>>(figures_of(**result, View{}));
    return nlohmann::json::from_msgpack(encode(FromWorker(Shown{1, *result, figures})));
}

// Calls everything that shows a result, except the window.
void show_everywhere(const Result& result, const std::vector<Figure>& figures) {
    CHECK_FALSE(to_json(result).empty());
    CHECK_FALSE(measured_table(result).plain().empty());
    CHECK_FALSE(errors_table(result).markdown().empty());
    for (const Figure& figure : figures) {
        CHECK_FALSE(to_svg(figure, dark_theme(), 640, 400).empty());
        to_csv(figure);
    }
}

TEST_CASE("changed answers of a worker are refused in words or drawn", "[hostile][random][gui][window]") {
    for (const Family* family : offered_families()) {
        FakeEngine engine;
        LabState lab = lab_with(engine);
        choose_family(lab, *family);
        User user(lab);
        const nlohmann::json honest = honest_answer(*family);
        int drawn = 0, refused = 0;
        for (int round = 0; round < 60 * random_settings(); ++round) {
            Random random(random_seed(), fmt::format("changed answer {} {}", family->name, round));
            nlohmann::json changed = honest;
            for (int64_t left = 1 + random.below(4); left > 0; --left) change_one_place(changed, random);
            std::string bytes;
            nlohmann::json::to_msgpack(changed, bytes);
            INFO(family->name << ", SAWTOOTH_RANDOM_SEED=" << random_seed() << ", round " << round);
            const auto message = decode_from_worker(bytes);
            const auto* const shown = message ? std::get_if<Shown>(&*message) : nullptr;
            const auto result = shown && shown->result && shown->figures
                                    ? checked_result(*shown->result, bounded_request(*family))
                                    : Outcome<std::shared_ptr<const Result>>(
                                          message ? Error::failure("another message") : message.error());
            if (!result) {
                check_words(result.error());
                ++refused;
                continue;
            }
            show_everywhere(**result, *shown->figures);
            engine.answer(engine.run_ticket, *result, *shown->figures);
            user.frames(1);
            ++drawn;
        }
        std::cout << fmt::format("changed answers: {}: {} drawn, {} refused in words\n", family->name, drawn,
                                 refused);
        CHECK(drawn > 0);
        CHECK(refused > 0);
    }
}

}  // namespace
}  // namespace sawtooth
