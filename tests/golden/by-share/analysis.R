# The main intervals of this release, in base R: the total, the totals by each key column, and every row.
#
#   Rscript analysis.R [FOLDER] [OUT.csv]
#
# FOLDER is where this script lies, if it is not given. OUT.csv is intervals.csv in the folder you work in, or beside
# the release if that is where you are: a release folder holds no other files than its own, or it does not verify.
# In R: source("analysis.R", chdir = TRUE), and then look at `intervals`.
#
# This text is the same in every release. It loads no package, unless the table is in Parquet, and sends nothing.

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

# --- intervals ---------------------------------------------------------------------------------------------------

# One question: a row for each group, with its keys; keys that it is not asked by stay empty.
tidy <- function(data, question, columns, groups, numbers, source) {
  keys <- unlist(at(data, "keys"))
  size <- length(at(numbers, "estimate"))
  found <- data.frame(question = rep(question, size), stringsAsFactors = FALSE)
  for (k in seq_along(keys)) {
    place <- match(k - 1, columns)
    values <- as.character(unlist(at(data, "values")[[k]]))
    found[[paste0("key_", k)]] <- if (is.na(place)) rep("", size) else values[unlist(groups[[place]]) + 1]
  }
  exact <- at(numbers, "exact")
  found$estimate <- unlist(at(numbers, "estimate"))
  found$low <- unlist(at(numbers, "low"))
  found$high <- unlist(at(numbers, "high"))
  found$exact <- if (length(exact) == 1) rep(as.logical(exact), size) else as.logical(unlist(exact))
  found$source <- rep(source, size)
  found
}

prepared_intervals <- function(data) {
  keys <- unlist(at(data, "keys"))
  found <- list()
  for (one in at(data, "asked")) {
    columns <- unlist(at(one, "by"))
    if (length(columns) > 1) next
    question <- if (length(columns) == 0) "total" else paste("by", keys[columns + 1])
    found[[length(found) + 1]] <- tidy(data, question, columns, at(one, "groups"), at(one, "numbers"), "prepared")
  }
  rows <- at(data, "rows")
  if (!is.null(rows) && !is.null(at(rows, "numbers"))) {
    columns <- seq_along(keys) - 1
    found[[length(found) + 1]] <- tidy(data, "rows", columns, at(rows, "groups"), at(rows, "numbers"), "prepared")
  }
  do.call(rbind, found)
}

# --- what is printed and written ---------------------------------------------------------------------------------

# Quotation marks around every text; an apostrophe before what a spreadsheet would take for a formula.
write_intervals <- function(found, keys, path) {
  quoted <- function(text) {
    text <- enc2utf8(as.character(text))
    text <- ifelse(grepl("^[-=+@\t\r]", text), paste0("'", text), text)
    paste0("\"", gsub("\"", "\"\"", text, fixed = TRUE), "\"")
  }
  number <- function(x) format(x, digits = 15, trim = TRUE, scientific = FALSE)
  columns <- list(quoted(found$question))
  for (k in seq_along(keys)) columns[[k + 1]] <- quoted(found[[paste0("key_", k)]])
  columns <- c(columns, lapply(found[c("estimate", "low", "high")], function(x) vapply(x, number, "")),
               list(ifelse(found$exact, "true", "false"), found$source))
  header <- paste(c("\"question\"", quoted(keys), "estimate", "low", "high", "exact", "source"), collapse = ",")
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
  found <- prepared_intervals(data)
  if (is.null(found)) {
    cat("There are no intervals to repeat.\n")
    return(invisible(NULL))
  }
  keys <- unlist(at(data, "keys"))
  shown <- found[found$question != "rows", ]
  names(shown)[1 + seq_along(keys)] <- keys
  print(head(shown, 60), row.names = FALSE)
  if (nrow(shown) > 60 || any(found$question == "rows")) cat("... and", nrow(found) - min(60, nrow(shown)), "more\n")
  write_intervals(found, keys, out)
  cat(nrow(found), "intervals at", 100 * at(data, "level"), "% are in", out, "\n")
  invisible(found)
}

given <- commandArgs(TRUE)
folder <- if (length(given) >= 1) given[1] else folder_of_script()
inside <- normalizePath(folder) == normalizePath(getwd())
out <- if (length(given) >= 2) given[2] else if (inside) file.path("..", "intervals.csv") else "intervals.csv"
intervals <- analyse(folder, out)
