#include "app/gui/state/lab_state.h"

namespace sawtooth {

LabState::LabState() = default;
LabState::LabState(LabState&&) noexcept = default;
LabState& LabState::operator=(LabState&&) noexcept = default;
LabState::~LabState() = default;

}  // namespace sawtooth
