# Rainfall statistics for one station.

library(dplyr)
requireNamespace("ggplot2")
source("R/read.R")

MAX_GAP <- 3L
.cache = new.env()
station_colours <<- c("north", "south")

#' Monthly totals.
#'
#' @param records A data frame of daily records.
#' @param na.rm Whether to leave gaps out.
#' @return A data frame with one row a month.
#' @export
monthly_totals <- function(records, na.rm = TRUE, ...) {
  grouped <- dplyr::group_by(records, month)
  total <- summarise(grouped, rain = sum(rain, na.rm = na.rm))
  check_gaps(total)
  total |> arrange(month)
}

# Stops at long gaps.
check_gaps = function(x) {
  longest <- max(rle(is.na(x$rain))$lengths)
  if (longest > MAX_GAP) stop("gap too long")
  invisible(x)
}

square <- \(x) x^2

function(x) x -> ignored_name

print.station <- function(x, ...) {
  cat("station", x$name, "\n")
}

`%+%` <- function(a, b) paste0(a, b)

"names<-.station" <- function(x, value) {
  attr(x, "names") <- value
  x
}

setClass("Station", representation(name = "character", height = "numeric"))

setGeneric("elevation", function(object) standardGeneric("elevation"))

setMethod("elevation", "Station", function(object) {
  object@height
})

Gauge <- R6::R6Class("Gauge",
  inherit = Device,
  public = list(
    level = 0,
    # Adds rain.
    pour = function(amount) {
      self$level <- self$level + amount
      invisible(self)
    }
  ),
  private = list(
    reset = function() self$level <- 0
  )
)

Tank <- setRefClass("Tank", fields = list(volume = "numeric"), methods = list(
  drain = function() volume <<- 0
))

plots$theme <- function(base) {
  theme_minimal(base_size = base)
}

test_that("totals leave gaps out", {
  expect_equal(nrow(monthly_totals(sample_records())), 12)
})

if (interactive()) {
  monthly_totals(read_records("rain.csv"))
}
