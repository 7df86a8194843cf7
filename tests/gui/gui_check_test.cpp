// The button and the panel of the check.

#include <algorithm>

#include "app/gui/state/checking.h"
#include "app/gui/state/family_choice.h"
#include "kernels/families.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

CheckReport report_on(const Request& base) {
    CheckReport report;
    report.family = base.family;
    report.device = "a processor";
    report.tried = 60;
    report.size = 500;
    report.judged = 100;
    report.trying = base;
    report.trying->variants = {find_family(base.family)->variants.front().name};
    return report;
}

Finding finding_on(const Request& base, const std::string& variant) {
    Finding finding;
    finding.variant = variant;
    finding.request = base;
    finding.request.variants = {variant};
    finding.request.parameters.set("length", int64_t{65});
    finding.request.seed = 769;
    finding.request.values = Values::huge;
    finding.request.optional = true;
    finding.request.multiprocessors = 1;
    finding.verdict = {.output = "y", .verdict = Verdict::wrong, .judged = 65, .elements = 1};
    finding.verdict.worst = JudgedElement{{0, 64, 0}, 0.5, 0.25, 1e-7, "length = 64: row 0 of tile 1"};
    return finding;
}

struct Checker {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user{lab};

    Checker() {
        finish_run(engine, user);
        user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//top bar/Check"); });
    }
};

TEST_CASE("Check checks the selected variants with the defaults of everything else", "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    finish_run(engine, user);
    const std::string left_out = lab.family->variants.back().name;
    enable_variant(lab, left_out, false);
    lab.request.seed = 5;
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//top bar/Check"); });
    REQUIRE(engine.checks.size() == 1);
    const Request& base = engine.checks.front().base;
    CHECK(base.family == lab.family->name);
    CHECK(base.parameters.values.empty());
    CHECK(base.seed == 5);
    CHECK(std::find(base.variants.begin(), base.variants.end(), left_out) == base.variants.end());
    CHECK(base.variants.size() + 1 == lab.family->variants.size());
    CHECK(lab.checking.ticket > 0);
}

TEST_CASE("the panel Check comes to the front, and its Stop stops the check", "[gui][window]") {
    Checker checker;
    checker.engine.check_answer(report_on(checker.engine.checks.front().base));
    checker.user.frames(5);
    CHECK(checker.lab.checking.report->tried == 60);
    checker.user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Check/Stop###stop check"); });
    CHECK(checker.engine.cancelled_checks == 1);
}

TEST_CASE("Run this sets everything that shows a finding and runs it", "[gui][window]") {
    Checker checker;
    LabState& lab = checker.lab;
    CheckReport report = report_on(checker.engine.checks.front().base);
    const std::string variant = lab.family->variants.front().name;
    report.findings = {finding_on(checker.engine.checks.front().base, variant)};
    report.complete = true;
    checker.engine.check_answer(report);
    checker.user.frames(5);
    CHECK(lab.checking.ticket == 0);
    CHECK(lab.log.back().kind == LogLine::Kind::problem);
    checker.user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Check/$$0/Run this"); });
    const Request& sent = checker.engine.requests.back();
    CHECK(sent.variants == std::vector<std::string>{variant});
    CHECK(sent.parameters.integer("length") == 65);
    CHECK(sent.seed == 769);
    CHECK(sent.values == Values::huge);
    CHECK(sent.optional);
    CHECK(sent.multiprocessors == 0);
    CHECK(std::ranges::any_of(lab.log, [](const LogLine& line) {
        return contains(line.text, "wrong with --jitter or --multiprocessors");
    }));
}

TEST_CASE("the menu of a figure in Check copies the command of the finding, and writes no notes",
          "[gui][window]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    start_check(lab);  // before any run has ended
    CheckReport report = report_on(engine.checks.front().base);
    Finding finding = finding_on(engine.checks.front().base, lab.family->variants.front().name);
    finding.figures = {FakeEngine::figure("difference", Place::error, "The difference")};
    report.findings = {finding};
    report.complete = true;
    engine.check_answer(report);
    user.frames(5);
    const auto open_menu = [](ImGuiTestContext* ctx) {
        ctx->WindowFocus("//Check");
        const ImRect panel = ctx->GetWindowByRef("//Check")->Rect();
        ctx->MouseMoveToPos({panel.GetCenter().x, panel.Max.y - 60});
        ctx->MouseClick(ImGuiMouseButton_Right);
    };
    std::string copied;
    user.play([&](ImGuiTestContext* ctx) {
        open_menu(ctx);
        CHECK_FALSE(ctx->ItemExists("//$FOCUSED/Add note…"));
        ctx->ItemClick("//$FOCUSED/Copy as command");
        copied = ImGui::GetClipboardText();
    });
    CHECK(copied == command_of(finding));
}

TEST_CASE("another family ends the check and clears its panel", "[gui][window]") {
    Checker checker;
    checker.engine.check_answer(report_on(checker.engine.checks.front().base));
    checker.user.frames(5);
    choose_family(checker.lab, *checker.lab.families.back());
    CHECK(checker.engine.cancelled_checks == 1);
    CHECK_FALSE(checker.lab.checking.report);
    // An answer of the earlier check.
    checker.engine.check_answer(report_on(checker.engine.checks.front().base));
    checker.user.frames(5);
    CHECK_FALSE(checker.lab.checking.report);
}

}  // namespace
}  // namespace sawtooth
