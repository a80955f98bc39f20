# Sums a column.
function add(total, value) {
    return total + clean(value)
}

function clean(value) {
    gsub(/,/, "", value)
    return value
}

END { print total }
