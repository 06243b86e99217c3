# The main intervals of this release, in base R: the total, the totals by each key column, and every row.
#
#   Rscript analysis.R [FOLDER] [OUT.csv]
#
# FOLDER is where this script lies, if it is not given. OUT.csv is intervals.csv in the folder you work in, or beside
# the release if that is where you are: a release folder holds no other files than its own, or it does not verify.
# In R: source("analysis.R", chdir = TRUE), and then look at `intervals`.
#
# It reads the table, the measurements and release.json, and works the intervals out again: these are `computed`. Where
# it does not (it says why) the number is the `prepared` one of explore.html, of which it also reads the distribution of
# counts that posteriors begin with. Both are compared.
#
# This text is the same in every release. It loads no package and sends nothing.

LEVEL <- 0.95
MANY_TERMS <- 40     # noises whose sum is as good as normal,
NARROW <- 3          # if its deviation is larger
SMALL_GAIN <- 0.05   # of a variance: below it a sum of few rows is looked at by its exact law
LARGEST_COUNT <- 100000
MOST_CELLS <- 700    # of a table that is solved for at once: a second
MOST_MATRIX <- 400   # counts of a matrix that is inverted
DAMPINGS <- c(0, 10^seq(-9, 1))
read_text <- function(path) {
  size <- file.info(path)$size
  if (is.na(size)) stop("there is no file ", path, call. = FALSE)
  text <- readChar(path, size, useBytes = TRUE)
  Encoding(text) <- "UTF-8"
  text
}

# --- JSON: the whole language, in some lines ---------------------------------------------------------------------

json_tokens <- function(text) {
  number <- "-?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
  numbers <- paste0("\\[\\s*", number, "(?:\\s*,\\s*", number, ")*\\s*\\]")
  pattern <- paste(numbers, "\"(?:[^\"\\\\]|\\\\.)*+\"", number, "true|false|null", "[\\[\\]{}:,]", sep = "|")
  regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1]]
}

json_string <- function(token) {
  inside <- substr(token, 2, nchar(token) - 1)
  if (!grepl("\\", inside, fixed = TRUE)) return(inside)
  parts <- regmatches(inside, gregexpr("\\\\u[0-9a-fA-F]{4}|\\\\.|[^\\\\]+", inside, perl = TRUE))[[1]]
  plain <- c(n = "\n", t = "\t", r = "\r", b = "\b", f = "\f")
  codes <- integer(0)
  for (part in parts) {
    if (startsWith(part, "\\u")) {
      code <- strtoi(substr(part, 3, 6), 16L)
      last <- length(codes)
      if (code >= 0xDC00 && code <= 0xDFFF && last > 0 && codes[last] >= 0xD800 && codes[last] <= 0xDBFF) {
        codes[last] <- 0x10000 + (codes[last] - 0xD800) * 1024 + (code - 0xDC00)
      } else {
        codes <- c(codes, code)
      }
    } else if (startsWith(part, "\\")) {
      letter <- substr(part, 2, 2)
      codes <- c(codes, utf8ToInt(if (letter %in% names(plain)) plain[[letter]] else letter))
    } else {
      codes <- c(codes, utf8ToInt(part))
    }
  }
  intToUtf8(codes[codes != 0 & !(codes >= 0xD800 & codes <= 0xDFFF)])
}

parse_json <- function(text) {
  tokens <- json_tokens(text)
  place <- 1L
  value <- function() {
    token <- tokens[[place]]
    place <<- place + 1L
    first <- substr(token, 1, 1)
    if (nchar(token) > 1 && first == "[") {
      return(as.numeric(strsplit(gsub("[][[:space:]]", "", token), ",", fixed = TRUE)[[1]]))
    }
    if (first == "\"") return(json_string(token))
    if (token == "[") return(array())
    if (token == "{") return(object())
    if (token == "true") return(TRUE)
    if (token == "false") return(FALSE)
    if (token == "null") return(NULL)
    as.numeric(token)
  }
  array <- function() {
    found <- list()
    while (tokens[[place]] != "]") {
      found[length(found) + 1] <- list(value())
      if (tokens[[place]] == ",") place <<- place + 1L
    }
    place <<- place + 1L
    found
  }
  object <- function() {
    found <- list()
    while (tokens[[place]] != "}") {
      name <- json_string(tokens[[place]])
      place <<- place + 2L
      found[length(found) + 1] <- list(value())
      names(found)[length(found)] <- name
      if (tokens[[place]] == ",") place <<- place + 1L
    }
    place <<- place + 1L
    found
  }
  value()
}

# The value of exactly this name: `$` would also take a longer one.
at <- function(object, name) object[[name, exact = TRUE]]

# --- the files ---------------------------------------------------------------------------------------------------

# The data of explore.html: text in which no mark of a page can stand.
explored <- function(folder) {
  text <- read_text(file.path(folder, "explore.html"))
  start <- regexpr("id=\"data\">", text, fixed = TRUE)
  after <- substr(text, start + 10, nchar(text))
  parse_json(substr(after, 1, regexpr("</script>", after, fixed = TRUE) - 1))
}

# All columns as text, by their places: names of columns may be any. R takes a carriage return in a key for the end of a
# line, so it is written in other letters until the columns are read.
read_columns <- function(path) {
  read <- function(...) {
    read.csv(..., header = FALSE, colClasses = "character", encoding = "UTF-8", na.strings = character(0),
             check.names = FALSE, stringsAsFactors = FALSE, blank.lines.skip = FALSE)[-1, , drop = FALSE]
  }
  text <- read_text(path)
  if (!grepl("\r", text, fixed = TRUE)) return(read(path))
  put <- function(x, from, to) gsub(from, to, x, fixed = TRUE)
  found <- read(text = sub("\n$", "", put(put(text, "~", "~t"), "\r", "~r")))
  found[] <- lapply(found, function(x) put(put(x, "~r", "\r"), "~t", "~"))
  found
}

# What is in the folder: keys of the rows, published counts, noisy values. NULL, with a reason, where R cannot read it.
read_release <- function(folder, record, data) {
  table <- at(record, "tables")[[1]]
  if (!grepl("\\.csv$", at(table, "file")) || !is.null(at(record, "parts"))) {
    return(list(why = "the table is not one CSV file, and base R reads no other"))
  }
  columns <- unlist(at(table, "columns"))
  keys <- unlist(at(at(record, "schema"), "keys"))
  rows <- read_columns(file.path(folder, at(table, "file")))
  count <- match(at(at(record, "schema"), "count"), columns)
  found <- list(record = record, keys = rows[match(keys, columns)], names = keys, counts = as.numeric(rows[[count]]),
                prior = lapply(at(data, "prior"), function(one) as.numeric(unlist(one)) / 1e12))
  measured <- at(table, "measurements")
  if (length(measured) == 1) {
    noisy <- read_columns(file.path(folder, at(measured[[1]], "file")))
    several <- at(measured[[1]], "question") == "several"
    found$asked <- if (several) noisy[[1]]
    found$noisy <- as.numeric(noisy[[count + several]])
  }
  found
}

number_of <- function(text) {
  parts <- as.numeric(strsplit(as.character(text), "/", fixed = TRUE)[[1]])
  if (length(parts) == 2) parts[1] / parts[2] else parts[1]
}

# --- laws of noise -----------------------------------------------------------------------------------------------

# P(0), P(1), ... as far as it matters; NULL for a law that is not known here.
law_of <- function(noise) {
  name <- at(noise, "law")
  if (name == "geometric") {
    ratio <- 1 / number_of(at(noise, "odds"))
    return((1 - ratio) / (1 + ratio) * ratio^(0:ceiling(log(1e-13) / log(ratio))))
  }
  if (name == "discrete-gaussian") {
    variance <- number_of(at(noise, "variance"))
    masses <- exp(-(0:ceiling(12 * sqrt(variance) + 1))^2 / (2 * variance))
    return(masses / (2 * sum(masses) - masses[1]))
  }
  if (name == "bounded") {
    odds <- number_of(at(noise, "odds"))
    truth <- number_of(at(noise, "truth"))
    support <- number_of(at(noise, "support"))
    falling <- odds^-(0:(support - 1))
    falling <- falling / sum(falling) * (1 - truth) / 2
    if (falling[1] <= odds * truth) return(c(truth, falling))
  }
  NULL
}

ratio_of <- function(noise) if (at(noise, "law") == "geometric") 1 / number_of(at(noise, "odds"))
spread_of <- function(law) 2 * sum(law * (seq_along(law) - 1)^2)
mass_at <- function(law, distance) {
  place <- abs(distance) + 1
  ifelse(place > length(law), 0, law[pmin(place, length(law))])
}

# The law of a sum of independent noises, each given by one side of its law and how often it is in the sum.
law_of_sum <- function(laws, times) {
  spreads <- vapply(laws, spread_of, 0)
  reach <- sum(times * vapply(laws, length, 0))
  size <- 2^ceiling(log2(min(2 * reach, 2 * max(vapply(laws, length, 0)) + 110 * sqrt(sum(times * spreads))) + 64))
  wave <- rep(1, size)
  for (k in seq_along(laws)) {
    ring <- numeric(size)
    ring[seq_along(laws[[k]])] <- laws[[k]]
    if (length(laws[[k]]) > 1) ring[size + 2 - 2:length(laws[[k]])] <- laws[[k]][-1]
    wave <- wave * Re(fft(ring))^times[k]
  }
  pmax(Re(fft(wave, inverse = TRUE)) / size, 0)[1:(size / 2)]
}

# The least x with P(|noise| <= x) >= LEVEL.
reach_of <- function(law) {
  inside <- law[1] + 2 * cumsum(law[-1])
  if (law[1] >= LEVEL) 0 else which(inside >= LEVEL)[1]
}

FEW_ROWS <- 3  # within reach of a noisy value, its own row among them: fewer tell no prior
NORMAL <- qnorm((1 + LEVEL) / 2)
FEW <- max(NORMAL, -log(1 - LEVEL) / sqrt(2))  # deviations of few noises of either kind

# The least x with P(|weight L + G| <= x) >= LEVEL, L of the law and G normal with this variance.
reach_of_both <- function(law, weight, variance) {
  deviation <- max(sqrt(variance), 1e-9)
  if (is.null(law) || abs(weight) < 1e-9) return(NORMAL * deviation)
  masses <- c(rev(law[-1]), law)
  places <- weight * ((1 - length(law)):(length(law) - 1))
  excess <- function(x) sum(masses * (pnorm((x - places) / deviation) - pnorm((-x - places) / deviation))) - LEVEL
  uniroot(excess, c(0, abs(weight) * length(law) + 10 * deviation), tol = 1e-7)$root
}

# --- rows with independent noise -----------------------------------------------------------------------------------

sums_by <- function(values, of) as.numeric(tapply(values, of, sum))

# Intervals, cut to what is possible: they end at whole numbers, if there are some in them.
between <- function(estimate, low, high, exact = FALSE, most = Inf, least = 0) {
  cut <- function(x) pmin(pmax(x, least), most)
  first <- ceiling(low - 1e-7)
  last <- floor(high + 1e-7)
  some <- first <= last
  ends <- list(ifelse(some, pmin(first, pmax(estimate, low)), low), ifelse(some, pmax(last, pmin(estimate, high)), high))
  data.frame(estimate = cut(estimate), low = cut(ends[[1]]), high = cut(ends[[2]]), exact = exact)
}

# What is kept: the sums of published counts.
exactly <- function(counts, of) {
  sums <- sums_by(counts, of)
  between(sums, sums, sums, exact = TRUE)
}

# A row for each group, with 1 for the rows that are in it.
groups_by_rows <- function(of) outer(sort(unique(of)), of, "==") + 0

# Intervals of sums of rows: `of` has the group of each row.
independent_sums <- function(told, of) {
  terms <- as.numeric(table(of))
  alone <- sums_by(told$variance, of)
  values <- told$own
  if (told$gain > 0) values <- values + told$variance * (told$total$estimate - sum(values)) / sum(told$variance)
  estimate <- sums_by(values, of)
  gained <- told$gain * alone^2
  deviation <- sqrt(pmax(alone - gained, 0))
  reach <- ifelse(terms <= MANY_TERMS, told$factor, NORMAL) * deviation + sums_by(told$slack, of)
  if (is.null(told$law)) reach <- reach + ifelse(deviation < NARROW, 0.5, 0)  # errors of few whole numbers
  low <- estimate - reach
  high <- estimate + reach
  if (!is.null(told$law)) {
    steps <- terms <= MANY_TERMS | terms * spread_of(told$law) < NARROW^2
    for (size in unique(terms[steps])) {
      some <- terms == size & gained <= SMALL_GAIN * alone
      reach <- reach_of(law_of_sum(list(told$law), size))
      middle <- sums_by(told$plain, of)[some]
      low[some] <- pmin(middle - reach, estimate[some])
      high[some] <- pmax(middle + reach, estimate[some])
    }
  }
  if (told$gain > 0 && length(terms) == 1) {
    reach <- reach_of_both(told$total$law, told$total$weight, told$total$rest)
    low <- estimate - reach
    high <- estimate + reach
  }
  between(estimate, low, high, most = if (is.null(told$largest)) Inf else sums_by(told$largest, of))
}

# Of each row a value that is right on average, and a variance: geometric noise tells no more beyond an end than that.
at_the_ends <- function(seen, ratio, spread, least, top) {
  own <- seen
  variance <- rep(spread, length(seen))
  if (!is.null(ratio)) {
    beyond <- ratio / (1 - ratio)
    below <- seen <= least
    above <- if (is.null(top)) rep(FALSE, length(seen)) else seen >= top
    own[below] <- least - beyond
    own[above] <- top + beyond
    variance[below | above] <- spread / 2
  }
  list(own = own, variance = variance)
}

# The total from the rows and from measured numbers of rows with a count of at most 0, 1, ..., by the best weights.
best_total <- function(seen, ratio, prior, measured, law) {
  size <- length(prior)
  noise <- spread_of(law)
  inside <- pmin(pmax(seen, 0), size - 1)
  shown <- tabulate(inside + 1, size)
  reach <- rep(ratio / (1 - ratio)^2, size)
  reach[1] <- ratio / (1 - ratio)
  if (max(seen) == size - 1 || attr(prior, "cut")) reach[size] <- reach[1]
  unbiased <- (cumsum(shown) + reach * shown)[-size] - (reach * shown)[-1]
  blur <- ratio^abs(outer(0:(size - 1), 0:(size - 1), "-")) / (1 + ratio)
  blur[, seq_len(size)[-c(1, size)]] <- blur[, seq_len(size)[-c(1, size)]] * (1 - ratio)
  expected <- as.numeric((length(seen) * prior) %*% blur)
  spread <- expected * reach * (1 + reach)
  covariance <- diag(spread[-size] + spread[-1] + 0.1, size - 1)
  beside <- cbind(seq_len(size - 2), seq_len(size - 2) + 1)
  covariance[beside] <- covariance[beside[, 2:1, drop = FALSE]] <- -(reach^2 * expected)[-c(1, size)]
  m <- min(length(measured), size - 1)
  first <- seq_len(m)
  inverse <- solve(covariance[first, first, drop = FALSE] + diag(noise, m))
  estimate <- unbiased + covariance[, first, drop = FALSE] %*% inverse %*% (measured[first] - unbiased[first])
  pull <- as.numeric(inverse %*% rowSums(covariance)[first])
  whole <- sum(covariance) - sum(rowSums(covariance)[first] * pull)
  weight <- pull[which.max(abs(pull))]
  list(estimate = length(seen) * (size - 1) - sum(estimate), law = law, weight = weight,
       rest = max(whole - weight^2 * noise, 0), variance = max(whole, weight^2 * noise))
}

with_total <- function(told, total) {
  whole <- sum(told$variance)
  better <- !is.null(total) && total$variance < whole
  c(told, list(total = if (better) total, gain = if (better) (whole - total$variance) / whole^2 else 0))
}

# A matrix of outputs by true counts: values that are right on average, or nearly, with the variances to be expected.
by_matrix <- function(seen, matrix, prior) {
  counts <- seq_len(nrow(matrix)) - 1
  best <- list(values = seq_len(ncol(matrix)) - 1)
  best$bias <- max(abs(matrix %*% best$values - counts))
  if (best$bias > 1e-6) {
    likely <- 0.9 * prior + 0.1 / length(counts)
    least <- Inf
    for (damping in DAMPINGS) {
      if (damping == 0) {
        parts <- svd(matrix)
        kept <- parts$d > 1e-6 * max(parts$d)
        values <- parts$v[, kept, drop = FALSE] %*% (crossprod(parts$u[, kept, drop = FALSE], counts) / parts$d[kept])
      } else {
        normal <- crossprod(matrix, likely * matrix) + diag(damping * pmax(as.numeric(likely %*% matrix), 1e-12))
        values <- tryCatch(solve(normal, crossprod(matrix, likely * counts), tol = 0), error = function(e) NULL)
        if (is.null(values)) next
      }
      means <- matrix %*% values
      variance <- pmax(matrix %*% values^2 - means^2, 0)
      bias <- max(abs(means - counts))
      score <- 2 * sqrt(length(seen) * sum(prior * variance)) + length(seen) * bias
      if (is.finite(score) && score < least) {
        least <- score
        best <- list(values = as.numeric(values), bias = bias)
      }
    }
  }
  values <- best$values
  variance <- as.numeric(pmax(matrix %*% values^2 - (matrix %*% values)^2, 0))
  chances <- prior * matrix[, seen + 1, drop = FALSE]
  slack <- if (best$bias > 1e-6) best$bias else 0
  list(own = values[seen + 1], variance = as.numeric(variance %*% chances) / colSums(chances),
       slack = rep(slack, length(seen)), factor = FEW)
}

weights_of <- function(form) {
  rows <- lapply(at(form, "weights"), function(row) as.numeric(unlist(row)))
  do.call(rbind, rows) / as.numeric(at(form, "denominator"))
}

# T[true count, published count]; without a largest count, as far as a published one can come from.
matrix_of <- function(form, largest) {
  switch(at(form, "form"),
    weights = weights_of(form),
    exponents = {
      raw <- number_of(at(form, "odds"))^-do.call(rbind, lapply(at(form, "powers"), unlist))
      raw / rowSums(raw)
    },
    continued = {
      own <- weights_of(form)
      last <- nrow(own) - 1
      inside <- range(which(own[last + 1, ] > 0) - 1)
      top <- max(last, largest + last - inside[1])
      moved(own, top, top + inside[2] - last + 1, last, own[last + 1, ], 0)
    },
    `edge-then-noise` = {
      law <- law_of(at(form, "noise"))
      own <- weights_of(form)
      if (is.null(law)) return(NULL)
      first <- at(form, "first")
      own <- own[c(rep(1, first), seq_len(nrow(own))), , drop = FALSE]
      support <- length(law) - 1
      top <- if (is.null(at(form, "top"))) max(nrow(own), largest) + support else at(form, "top")
      moved(own, top, top + support + 1, nrow(own), c(rev(law), law[-1]), nrow(own) - support)
    })
}

# Rows of their own for the first counts; from the count `from` on one law, whose first value is published as `start`.
moved <- function(own, top, width, from, law, start) {
  found <- matrix(0, top + 1, width)
  for (count in 0:top) {
    row <- if (count < from) own[count + 1, ] else c(rep(0, max(0, start + count - from)), law)
    row <- row[seq_len(min(length(row), width))]
    found[count + 1, seq_along(row)] <- row
  }
  found
}

# What one mechanism tells of the rows that went through it; `why` where that is not worked out here.
rows_told <- function(release, form, rows, prior, top, least, measured = NULL, measured_law = NULL) {
  seen <- (if (is.null(release$noisy)) release$counts else release$noisy)[rows]
  told <- list(slack = rep(0, length(seen)), largest = if (!is.null(top)) rep(top, length(seen)))
  if (at(form, "form") == "noise-then-map") {
    law <- law_of(at(form, "noise"))
    if (is.null(law)) return(list(why = paste("noise of the law", at(at(form, "noise"), "law"), "is not worked out here")))
    if (is.null(release$noisy) && !is.null(at(form, "clamp"))) return(list(why = "the noisy values are not published"))
    ratio <- ratio_of(at(form, "noise"))
    size <- if (!is.null(top)) top + 1 else min(LARGEST_COUNT + 1, max(2, max(seen) + 2))
    told <- c(told, at_the_ends(seen, ratio, spread_of(law), least, top))
    told <- c(told, list(law = law, plain = seen, factor = if (is.null(ratio)) NORMAL else FEW))
    total <- NULL
    if (!is.null(measured)) {
      if (is.null(ratio) || is.null(prior) || length(prior) != size || size > MOST_MATRIX) {
        return(list(why = "the measured distribution and the rows are not combined here"))
      }
      total <- best_total(seen, ratio, structure(prior, cut = !is.null(top)), measured, measured_law)
    }
    told <- with_total(told, total)
    chance <- function(value) mass_at(law, value - (seq_along(prior) - 1))
  } else {
    matrix <- if (length(prior) && length(prior) <= MOST_MATRIX) matrix_of(form, max(release$counts[rows]))
    if (is.null(matrix) || length(prior) != nrow(matrix)) return(list(why = "the matrix is not inverted here"))
    inverted <- by_matrix(seen, matrix, prior)
    told <- c(inverted, told["largest"], list(gain = 0))
    chance <- function(value) matrix[, value + 1]
  }
  if (!is.null(prior) && (at(form, "form") != "noise-then-map" || length(prior) == size)) {
    told$posterior <- posteriors(seen, prior, chance, least, told$law, top)
  }
  told
}

# Of every row the mean of its posterior and the ends of the middle part of it; where hardly any row is near, the prior
# says nothing that the noisy value does not, and the ends are at least as far as the noise reaches.
posteriors <- function(seen, prior, chance, least, law, top) {
  if (least > 0) {  # smaller counts were raised to it
    prior[least + 1] <- sum(prior[seq_len(least + 1)])
    prior[seq_len(least)] <- 0
  }
  values <- unique(seen)
  found <- vapply(values, function(value) {
    shares <- prior * chance(value)
    running <- cumsum(shares / sum(shares))
    ends <- vapply(c((1 - LEVEL) / 2, (1 + LEVEL) / 2), function(end) sum(running < end - 1e-12), 0)
    c(sum(shares * (seq_along(prior) - 1)) / sum(shares), pmin(ends, length(prior) - 1))
  }, numeric(3))
  found <- found[, match(seen, values), drop = FALSE]
  if (!all(is.finite(found))) return(NULL)
  if (!is.null(law)) {
    reach <- reach_of(law)
    upto <- function(count) c(0, cumsum(prior))[pmin(pmax(count, 0), length(prior)) + 1] * length(seen)
    alone <- upto(seen + reach + 1) - upto(seen - reach) < FEW_ROWS & seen - reach >= least & seen < length(prior)
    found[2, alone] <- pmin(found[2, alone], seen[alone] - reach)
    found[3, alone] <- pmin(pmax(found[3, alone], seen[alone] + reach), if (is.null(top)) Inf else top)
  }
  data.frame(estimate = found[1, ], low = found[2, ], high = found[3, ], exact = FALSE)
}

independent_way <- function(release) {
  mechanism <- at(release$record, "mechanism")
  every <- seq_along(release$counts)
  max_count <- at(at(release$record, "schema"), "max_count")
  prior <- if (length(release$prior)) release$prior[[1]]
  if (at(release$record, "way") == "row-by-row") {
    least <- max(0, at(mechanism, "min_count"))
    told <- rows_told(release, mechanism, every, prior, max_count, least)
  } else {
    distribution <- at(release$record, "distribution")
    cumulative <- identical(at(distribution, "method"), "cumulative")
    told <- rows_told(release, mechanism, every, prior, if (isTRUE(at(mechanism, "top_code"))) max_count, 0,
                      if (cumulative) unlist(at(distribution, "measurements")),
                      if (cumulative) law_of(at(distribution, "noise")))
  }
  as_way(told)
}

as_way <- function(told) {
  if (!is.null(told$why)) return(told)
  list(sums = function(of, columns) independent_sums(told, of), rows = told$posterior)
}

# Rows that went through several mechanisms: `every` with what each is, `of` which of them a row went through.
several_way <- function(release, every, of, tops, largest) {
  n <- length(of)
  whole <- list(own = numeric(n), variance = numeric(n), slack = numeric(n), largest = largest, factor = FEW, gain = 0)
  rows <- data.frame(estimate = rep(NA, n), low = NA, high = NA, exact = FALSE)
  for (k in seq_along(every)) {
    some <- which(of == k)
    prior <- if (length(release$prior) >= k) release$prior[[k]]
    told <- rows_told(release, every[[k]], some, prior, tops[[k]], 0)
    if (!is.null(told$why)) return(told)
    if (length(every) == 1) return(as_way(told))
    for (name in c("own", "variance", "slack")) whole[[name]][some] <- told[[name]]
    if (!is.null(told$posterior)) rows[some, ] <- told$posterior
  }
  list(sums = function(of, columns) independent_sums(whole, of), rows = if (!anyNA(rows)) rows)
}

by_size_way <- function(release) {
  mechanism <- at(release$record, "mechanism")
  sizes <- as.numeric(release$keys[[match(at(mechanism, "column"), release$names)]])
  tops <- lapply(at(mechanism, "sizes"), function(one) at(one, "max_count"))
  several_way(release, at(mechanism, "sizes"), match(sizes, unlist(tops)), tops, sizes)
}

by_share_way <- function(release) {
  mechanism <- at(release$record, "mechanism")
  every <- at(mechanism, "shares")
  top <- at(at(release$record, "schema"), "max_count")
  named <- release$keys[[match(at(mechanism, "column"), release$names)]]
  of <- match(named, vapply(every, function(one) at(one, "counted"), ""))
  several_way(release, every, of, rep(list(top), length(every)), if (!is.null(top)) rep(top, length(of)))
}

# --- kept sums -----------------------------------------------------------------------------------------------------

# The columns of a kept margin or a question; none for a total; NULL for what is not a margin.
columns_of <- function(what, keys) {
  if (identical(what, "total")) return(character(0))
  if (identical(what, "cells")) return(keys)
  if (is.list(what)) return(unlist(at(what, "margin")))
  if (startsWith(what, "margin:")) trimws(strsplit(substring(what, 8), ",", fixed = TRUE)[[1]])
}

group_of <- function(keys, columns, names) {
  if (length(columns) == 0) return(rep(1, nrow(keys)))
  parts <- lapply(match(columns, names), function(k) match(keys[[k]], unique(keys[[k]])))
  code <- do.call(paste, parts)
  match(code, unique(code))
}

# The least and the most that sums can be beside kept ones, no count being negative: kept sums that lie wholly in them, and
# all that they have rows of. `kept` has the columns of each margin.
possible <- function(release, kept, of) {
  groups <- sort(unique(of))
  least <- rep(0, length(groups))
  most <- rep(Inf, length(groups))
  for (columns in kept) {
    block <- group_of(release$keys, columns, release$names)
    number <- max(block)
    sums <- sums_by(release$counts, block)
    pairs <- rle(sort((match(of, groups) - 1) * number + block - 1))
    group <- factor(pairs$values %/% number + 1, seq_along(groups))
    inside <- pairs$values %% number + 1
    whole <- pairs$lengths == tabulate(block, number)[inside]
    most <- pmin(most, sums_by(sums[inside], group))
    least <- pmax(least, sums_by(ifelse(whole, sums[inside], 0), group))
  }
  list(least = least, most = most)
}

kept_way <- function(release) {
  mechanism <- at(release$record, "mechanism")
  invariants <- at(release$record, "invariants")
  kept <- lapply(at(invariants, "kept"), columns_of, keys = release$names)
  noise <- switch(at(mechanism, "law"), l1 = list(law = "geometric", odds = at(at(mechanism, "parameters"), "odds")),
                  gaussian = list(law = "discrete-gaussian", variance = at(at(mechanism, "parameters"), "variance")))
  bare <- !any(vapply(kept, is.null, TRUE))
  finest <- if (length(kept)) kept[[which.max(lengths(kept))]]
  apart <- bare && all(unlist(kept) %in% finest)
  signed <- if (is.null(release$noisy)) release$counts else release$noisy
  condition <- identical(at(mechanism, "nonnegative_by"), "condition") || !is.null(at(mechanism, "inequalities"))
  hidden <- identical(at(mechanism, "nonnegative_by"), "project") && is.null(release$noisy)
  fixed <- length(at(invariants, "fixed")) > 0 && isTRUE(at(mechanism, "nonnegative"))
  by_law <- !is.null(noise) && apart && !condition && !hidden && !fixed
  block <- if (length(kept) && bare) group_of(release$keys, finest, release$names) else seq_along(signed)
  law <- if (by_law) law_of(noise)
  sums <- function(of, columns) {
    known <- bare && any(vapply(kept, function(one) all(columns %in% one), TRUE))
    if (known) return(exactly(release$counts, of))
    if (by_law) within_blocks(signed, release$counts, law, if (length(kept)) block, of, possible(release, kept, of))
  }
  list(sums = sums, rows = sums(seq_along(signed), release$names),
       why = if (!by_law) "noise that is conditioned, or in sums that overlap, is not drawn again here")
}

# In a block of s rows whose noises sum to 0 those of k rows are x with a chance in proportion to f_k(x) f_(s-k)(x).
within_blocks <- function(signed, counts, law, block, of, ends) {
  sizes <- if (is.null(block)) rep(1, length(of)) else as.numeric(table(block))
  cache <- list()
  one_kind <- function(k, s) {
    name <- paste(k, s)
    if (is.null(cache[[name]])) {
      some <- law_of_sum(list(law), k)
      rest <- law_of_sum(list(law), s - k)
      both <- some[seq_len(min(length(some), length(rest)))] * rest[seq_len(min(length(some), length(rest)))]
      both <- both[seq_len(max(which(both > 1e-18 * both[1])))]
      cache[[name]] <<- both / (2 * sum(both) - both[1])
    }
    cache[[name]]
  }
  groups <- sort(unique(of))
  found <- vapply(groups, function(one) {
    inside <- of == one
    if (is.null(block)) return(c(sum(signed[inside]), reach_of(law_of_sum(list(law), sum(inside))), 0))
    here <- table(block[inside])
    full <- sizes[as.numeric(names(here))]
    part <- table(paste(as.numeric(here), full)[as.numeric(here) < full])
    if (!length(part)) return(c(sum(counts[inside]), 0, 1))
    laws <- lapply(strsplit(names(part), " ", fixed = TRUE), function(x) one_kind(as.numeric(x[1]), as.numeric(x[2])))
    c(sum(signed[inside]), reach_of(law_of_sum(laws, as.numeric(part))), 0)
  }, numeric(3))
  between(found[1, ], found[1, ] - found[2, ], found[1, ] + found[2, ], found[3, ] == 1, ends$most, ends$least)
}

# --- measured margins ----------------------------------------------------------------------------------------------

measured_way <- function(release) {
  mechanism <- at(release$record, "mechanism")
  n <- length(release$counts)
  asked <- at(mechanism, "questions")
  if (is.null(release$noisy)) return(list(why = "the measurements are not published"))
  if (n > MOST_CELLS) return(list(why = paste("more than", MOST_CELLS, "rows are not solved for at once here")))
  names <- vapply(asked, function(one) if (is.character(at(one, "question"))) at(one, "question") else "", "")
  if (!"cells" %in% names || "" %in% names) return(list(why = "cells were not measured"))
  laws <- lapply(asked, function(one) law_of(at(one, "noise")))
  if (any(vapply(laws, is.null, TRUE))) return(list(why = "a law of its noise is not worked out here"))
  kept <- lapply(at(at(release$record, "invariants"), "kept"), columns_of, keys = release$names)
  spreads <- vapply(laws, spread_of, 0)
  margin <- function(columns) groups_by_rows(group_of(release$keys, columns, release$names))
  design <- lapply(names, function(one) margin(columns_of(one, release$names)))
  heard <- lapply(names, function(one) release$noisy[release$asked == one])
  sure <- lapply(kept, margin)
  normal <- Reduce(`+`, Map(function(what, spread) crossprod(what) / spread, design, spreads))
  right <- Reduce(`+`, Map(function(what, values, spread) crossprod(what, values) / spread, design, heard, spreads))
  covariance <- solve(normal)
  estimate <- as.numeric(covariance %*% right)
  if (length(sure)) {  # what is kept has no error: the estimates move to it by the best weights
    rows <- qr(t(do.call(rbind, sure)))
    some <- do.call(rbind, sure)[rows$pivot[seq_len(rows$rank)], , drop = FALSE]
    gain <- covariance %*% t(some) %*% solve(some %*% covariance %*% t(some))
    estimate <- estimate + as.numeric(gain %*% (some %*% (release$counts - estimate)))
    covariance <- covariance - gain %*% some %*% covariance
  }
  sums <- function(of, columns) {
    if (any(vapply(kept, function(one) all(columns %in% one), TRUE))) return(exactly(release$counts, of))
    weights <- groups_by_rows(of)
    middle <- as.numeric(weights %*% estimate)
    towards <- covariance %*% t(weights)
    deviation <- sqrt(rowSums(weights * t(towards)))
    kinds <- round(log(deviation) * 1e5)
    if (length(unique(kinds)) > 200) return(NULL)
    reach <- numeric(length(middle))
    for (kind in unique(kinds)) {
      k <- which(kinds == kind)[1]
      parts <- Map(function(what, spread) abs(as.numeric(what %*% towards[, k])) / spread / deviation[k], design, spreads)
      reach[kinds == kind] <- reach_of_noises(parts, laws, spreads, deviation[k] < 1) * deviation[kinds == kind]
    }
    ends <- possible(release, kept, of)
    between(middle, middle - reach, middle + reach, FALSE, ends$most, ends$least)
  }
  list(sums = sums, rows = sums(seq_len(n), release$names))
}

# Of a sum of noises with these weights, whose variance is 1: by its characteristic function, with steps rounded off;
# where noise is rare, by less.
reach_of_noises <- function(weights, laws, spreads, rare) {
  finer <- if (rare) 5 else 1
  smooth <- 0.005 / finer
  step <- 6 / smooth / (12000 * finer)
  at <- step * (1:(12000 * finer))
  wave <- exp(-(smooth * at)^2 / 2)
  roots <- unlist(Map(function(some, spread) some * sqrt(spread), weights, spreads))
  few <- length(unique(round(roots[roots^2 > 3e-5] / 1e-6))) <= 30  # that differ: the sum of more is smooth
  unseen <- if (rare && few) 3e-5 else 3e-3
  hardly <- 0
  for (k in seq_along(laws)) {
    kinds <- table(signif(weights[[k]][weights[[k]] > 0], 6))
    values <- as.numeric(names(kinds))
    times <- as.numeric(kinds)
    seen <- values^2 * spreads[k] > unseen
    rest <- sum((times * values^2)[!seen]) * spreads[k]
    hardly <- hardly + rest
    wave <- wave * exp(-rest * at^2 / 2)
    for (j in which(seen)) wave <- wave * wave_of(laws[[k]], values[j] * at)^times[j]
  }
  heights <- wave / at * (2 / pi) * step
  inside <- function(x) sum(heights * sin(x * at)) + x * step / pi - LEVEL
  low <- 0
  high <- 4 * FEW
  for (halving in 1:40) {
    middle <- (low + high) / 2
    if (inside(middle) >= 0) high <- middle else low <- middle
  }
  high + 2.5 * (sqrt(smooth^2 + hardly) - sqrt(hardly))
}

wave_of <- function(law, at) {
  ratio <- law[2] / law[1]
  if (length(law) > 2 && abs(law[3] / law[2] - ratio) < 1e-9) {
    return((1 - ratio)^2 / ((1 - ratio)^2 + 4 * ratio * sin(at / 2)^2))
  }
  at <- at %% (2 * pi)
  out <- rep(law[1], length(at))
  for (k in seq_along(law)[-1]) out <- out + 2 * law[k] * cos((k - 1) * at)
  out
}

# --- intervals ---------------------------------------------------------------------------------------------------

WAYS <- list(`keep-distribution` = independent_way, `row-by-row` = independent_way, `by-size` = by_size_way,
             `by-share` = by_share_way, `keep-sums` = kept_way, measure = measured_way)

# One question: a row for each group, with its keys; keys that it is not asked by stay empty.
tidy <- function(question, names, values, numbers, source) {
  size <- nrow(numbers)
  found <- data.frame(question = rep(question, size), stringsAsFactors = FALSE)
  for (k in seq_along(names)) found[[paste0("key_", k)]] <- if (is.null(values[[k]])) rep("", size) else values[[k]]
  cbind(found, numbers, source = rep(source, size), stringsAsFactors = FALSE)
}

prepared_numbers <- function(numbers) {
  exact <- at(numbers, "exact")
  size <- length(unlist(at(numbers, "estimate")))
  data.frame(estimate = unlist(at(numbers, "estimate")), low = unlist(at(numbers, "low")),
             high = unlist(at(numbers, "high")),
             exact = if (length(exact) == 1) rep(as.logical(exact), size) else as.logical(unlist(exact)))
}

prepared_intervals <- function(data) {
  keys <- unlist(at(data, "keys"))
  found <- list()
  named <- function(columns, groups) lapply(seq_along(keys), function(k) {
    place <- match(k - 1, columns)
    if (!is.na(place)) as.character(unlist(at(data, "values")[[k]]))[unlist(groups[[place]]) + 1]
  })
  for (one in at(data, "asked")) {
    columns <- unlist(at(one, "by"))
    if (length(columns) > 1) next
    question <- if (length(columns) == 0) "total" else paste("by", keys[columns + 1])
    found[[question]] <- tidy(question, keys, named(columns, at(one, "groups")), prepared_numbers(at(one, "numbers")), "prepared")
  }
  rows <- at(data, "rows")
  if (!is.null(rows) && !is.null(at(rows, "numbers"))) {
    every <- seq_along(keys) - 1
    found$rows <- tidy("rows", keys, named(every, at(rows, "groups")), prepared_numbers(at(rows, "numbers")), "prepared")
  }
  found
}

computed_intervals <- function(release, way) {
  found <- list()
  keys <- release$keys
  take <- function(numbers, question, values) {
    if (!is.null(numbers)) found[[question]] <<- tidy(question, release$names, values, numbers, "computed")
  }
  none <- vector("list", length(release$names))
  if (!is.null(way$sums)) {
    take(way$sums(rep(1, nrow(keys)), character(0)), "total", none)
    for (k in seq_along(release$names)) {
      values <- none
      values[[k]] <- unique(keys[[k]])
      take(way$sums(match(keys[[k]], values[[k]]), release$names[k]), paste("by", release$names[k]), values)
    }
  }
  take(way$rows, "rows", as.list(unname(keys)))
  found
}

# How far the computed numbers are from the prepared ones, in parts of the width of an interval.
apart <- function(computed, prepared) {
  far <- 0
  for (question in intersect(names(computed), names(prepared))) {
    one <- computed[[question]]
    other <- prepared[[question]]
    if (nrow(one) != nrow(other)) return(Inf)
    wide <- pmax(other$high - other$low, 1)
    far <- max(far, abs(one$estimate - other$estimate) / wide, abs(one$low - other$low) / wide,
               abs(one$high - other$high) / wide)
  }
  far
}

# --- what is printed and written ---------------------------------------------------------------------------------

# Quotation marks around every text; an apostrophe before what a spreadsheet would take for a formula.
write_intervals <- function(found, keys, about, path) {
  quoted <- function(text) {
    text <- enc2utf8(as.character(text))
    text <- ifelse(grepl("^[-=+@\t\r]", text), paste0("'", text), text)
    paste0("\"", gsub("\"", "\"\"", text, fixed = TRUE), "\"")
  }
  number <- function(x) format(x, digits = 15, trim = TRUE, scientific = FALSE)
  columns <- list(quoted(found$question))
  for (k in seq_along(keys)) columns[[k + 1]] <- quoted(found[[paste0("key_", k)]])
  columns <- c(columns, lapply(found[c("estimate", "low", "high")], function(x) vapply(x, number, "")),
               list(ifelse(found$exact, "true", "false"), found$source, quoted(rep(about, nrow(found)))))
  beside <- function(name) if (name %in% keys) beside(paste0(name, "_")) else name  # a key column has the same name
  named <- vapply(c("question", "estimate", "low", "high", "exact", "source", "about"), beside, "")
  header <- paste(c(quoted(named[1]), quoted(keys), named[-1]), collapse = ",")
  connection <- file(path, open = "wb")
  on.exit(close(connection))
  writeLines(c(header, do.call(paste, c(unname(columns), sep = ","))), connection, useBytes = TRUE)
}

folder_of_script <- function() {
  given <- grep("^--file=", commandArgs(FALSE), value = TRUE)
  if (length(given)) dirname(normalizePath(sub("^--file=", "", given[1]))) else getwd()
}

analyse <- function(folder, out) {
  record <- parse_json(read_text(file.path(folder, "release.json")))
  if (!identical(at(record, "schema_version"), 2)) stop("this script reads release.json of version 2", call. = FALSE)
  data <- explored(folder)
  for (line in unlist(c(at(data, "warning"), at(data, "guarantee"), at(data, "reading")))) cat(line, "\n")
  if (!is.null(at(data, "missing"))) cat(at(data, "missing"), "\n")
  release <- read_release(folder, record, data)
  way <- if (is.null(release$why) && is.null(at(data, "missing"))) WAYS[[at(record, "way")]](release) else release
  computed <- if (is.null(release$why)) computed_intervals(release, way)
  prepared <- prepared_intervals(data)
  found <- do.call(rbind, unname(c(computed, prepared[setdiff(names(prepared), names(computed))])))
  if (is.null(found)) {
    cat("There are no intervals to repeat.\n")
    return(invisible(NULL))
  }
  if (any(found$source == "prepared")) {
    why <- if (is.null(way$why)) "they are not worked out here" else way$why
    cat("Some numbers are the prepared ones of explore.html:", why, "\n")
  }
  if (length(computed)) cat("Computed from table, measurements and record; at most", signif(apart(computed, prepared), 2),
                            "of a width from explore.html\n")
  keys <- unlist(at(data, "keys"))
  shown <- found[found$question != "rows", ]
  names(shown)[1 + seq_along(keys)] <- keys
  print(head(shown, 60), row.names = FALSE)
  if (nrow(shown) > 60 || any(found$question == "rows")) cat("... and", nrow(found) - min(60, nrow(shown)), "more\n")
  about <- at(data, "cut")
  if (nzchar(about)) cat("All numbers are", about, "\n")
  write_intervals(found, keys, about, out)
  cat(nrow(found), "intervals at", 100 * at(data, "level"), "% are in", out, "\n")
  invisible(found)
}

given <- commandArgs(TRUE)
folder <- if (length(given) >= 1) given[1] else folder_of_script()
inside <- normalizePath(folder) == normalizePath(getwd())
out <- if (length(given) >= 2) given[2] else if (inside) file.path("..", "intervals.csv") else "intervals.csv"
intervals <- analyse(folder, out)
