# prometheus.awk - Prometheus' text format 0.0.4: exits 1 unless the input has 11
# figures, each with a value and, before it, lines of HELP and TYPE.
# SPDX-License-Identifier: MIT
/^# HELP/ { help[$3] }
/^# TYPE/ && ($4 == "gauge" || $4 == "counter") { type[$3] }
/^[^#]/ {
    name = $1
    sub(/[{].*/, "", name)
    if (!(name in help) || !(name in type) || NF != 2 || $2 !~ /^[0-9.]+$/)
        exit wrong = 1
    figures++
}
END { exit wrong || figures != 11 }
