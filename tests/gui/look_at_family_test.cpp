// A look at an earlier result of another family loses nothing of the family that was left.

#include <algorithm>

#include "app/engine/run/configure.h"
#include "app/gui/state/checking.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/input_file.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/past_results.h"
#include "app/gui/state/sweeps.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

// A result of scan, and a newer one of memory, which is shown.
struct TwoFamilies {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    TwoFamilies() {
        finish_run(lab, engine);
        choose_family(lab, **find_offered_family("memory"));
        finish_run(lab, engine);
    }
    void look_at_scan() { look_back(lab, lab.past_results.front().ticket); }
    bool is_in_log(const std::string& words) const {
        return std::ranges::any_of(lab.log, [&](const LogLine& line) { return contains(line.text, words); });
    }
};

CheckReport report_of(const Request& base, bool complete) {
    CheckReport report;
    report.family = base.family;
    report.complete = complete;
    Finding& finding = report.findings.emplace_back();
    finding.request = base;
    finding.request.parameters.set("chunk", int64_t{16});
    finding.variant = (*find_offered_family(base.family))->variants.front().name;
    return report;
}

TEST_CASE("a check continues while a result of another family is looked at", "[gui][history]") {
    TwoFamilies at;
    start_check(at.lab);
    at.engine.check_answer(report_of(at.engine.checks.front().base, false));
    update(at.lab, at.lab.now);
    at.look_at_scan();
    CHECK(at.engine.cancelled_checks == 0);
    at.engine.check_answer(report_of(at.engine.checks.front().base, true));
    update(at.lab, at.lab.now);
    REQUIRE(at.lab.checking.report);
    CHECK(at.lab.checking.report->complete);
    SECTION("Esc returns to it") {
        return_to_newest(at.lab);
        CHECK(at.lab.family->name == "memory");
        CHECK(at.lab.checking.report);
    }
    SECTION("its finding runs in its family") {
        const auto report = at.lab.checking.report;
        load_finding(at.lab, report->findings.front());
        CHECK_FALSE(at.lab.looking_back);
        CHECK(at.engine.requests.back().family == "memory");
        CHECK(at.engine.requests.back().parameters.integer("chunk") == 16);
        CHECK(at.lab.checking.report == report);
    }
    SECTION("a run of the other family forgets it") {
        submit(at.lab);
        CHECK(at.lab.family->name == "scan");
        CHECK_FALSE(at.lab.checking.report);
    }
}

TEST_CASE("a check that still runs ends with its family", "[gui][history]") {
    TwoFamilies at;
    start_check(at.lab);
    at.look_at_scan();
    set_parameter(at.lab, row(at.lab, "length"), int64_t{512});
    CHECK(at.engine.cancelled_checks == 1);
}

TEST_CASE("a sweep of the user runs again after a look at another family", "[gui][history]") {
    TwoFamilies at;
    open_sweep_form(at.lab, row(at.lab, "chunk"));
    start_sweep(at.lab);
    const Sweep sweep = at.engine.sweeps.back();
    at.look_at_scan();
    CHECK_FALSE(sweeps_run(at.lab));
    return_to_newest(at.lab);
    CHECK(at.engine.sweeps.back() == sweep);
    update(at.lab, at.lab.now + 1);  // time for the sweeps of figures
    CHECK(std::ranges::count(at.engine.sweeps, sweep) == 2);
    CHECK(std::ranges::any_of(
        at.lab.sweeps, [&](const BackgroundSweep& each) { return each.sweep == sweep && each.ticket; }));
}

TEST_CASE("the input file of a family stays its own when the family is only looked at", "[gui][history]") {
    TwoFamilies at;
    const uint64_t of_memory = at.lab.past_results.back().ticket;
    at.lab.request.input = "x.npz";
    SECTION("if it is left") {
        at.look_at_scan();
        return_to_newest(at.lab);
        CHECK(at.lab.request.input == "x.npz");
        CHECK_FALSE(at.lab.opening);
        CHECK_FALSE(at.is_in_log("closed"));
    }
    SECTION("if it is looked at") {
        choose_family(at.lab, **find_offered_family("scan"));
        finish_run(at.lab, at.engine);
        look_back(at.lab, of_memory);
        CHECK(at.lab.request.input.empty());
        CHECK(settings_of(at.lab).input == "x.npz");
        SECTION("and Esc returns") {
            return_to_newest(at.lab);
            CHECK(at.lab.others.at("memory").input == "x.npz");
            CHECK_FALSE(at.is_in_log("closed"));
        }
        SECTION("and a change chooses it") {
            set_parameter(at.lab, row(at.lab, "chunk"), int64_t{16});
            CHECK(at.is_in_log("closed x.npz"));
            CHECK(settings_of(at.lab).input.empty());
        }
    }
}

TEST_CASE("an input file that is being read is opened after a look at another family", "[gui][history]") {
    TwoFamilies at;
    open_file(at.lab, "absent.npz");
    at.look_at_scan();
    CHECK_FALSE(at.lab.opening);
    CHECK(at.is_in_log("stopped reading absent.npz"));
    return_to_newest(at.lab);
    REQUIRE(at.lab.opening);
    CHECK(at.lab.opening->path == "absent.npz");
    CHECK(at.lab.request.input.empty());
}

}  // namespace
}  // namespace sawtooth
