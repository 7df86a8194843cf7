#pragma once

namespace sawtooth {

// A layout.ini that crashes Dear ImGui: its dock space is split but has only one part.
constexpr const char* damaged_layout =
    "; sawtooth layout 1\n"
    "[Window][Timeline]\nDockId=0x00000002,0\n[Window][Log]\nDockId=0x00000002,1\n[Docking][Data]\n"
    "DockSpace ID=0x637E088F Window=0x42A9EC57 Pos=0,31 Size=1600,846 Split=Y\n"
    "  DockNode ID=0x00000002 Parent=0x637E088F SizeRef=1600,200 Selected=0x4F89F0DC\n"
    "; end\n";

}  // namespace sawtooth
