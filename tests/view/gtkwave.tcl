# gtkwave.tcl - prints what gtkwave shows of out.vcd, at each time in that file.
# SPDX-License-Identifier: MIT
source out.tcl
fconfigure stdout -encoding utf-8
set file [open out.vcd]
foreach line [split [read $file] \n] {
    if {![regexp {^#([0-9]+)$} $line all time]} continue
    gtkwave::setMarker $time
    foreach name [gtkwave::getDisplayedSignals] {
        set value [gtkwave::getTraceValueAtMarkerFromName $name]
        puts "#|$time|$name|$value"
    }
}
gtkwave::/File/Quit
