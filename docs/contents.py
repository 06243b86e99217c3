"""The contents of the site: which page stands where. A page that is missing here fails the build, and a test."""

CONTENTS = {
    "Start": ("README", "docs/tutorial", "docs/notebook", "docs/page", "docs/spreadsheet", "docs/faq", "docs/gallery"),
    "Release": (
        "docs/releasing", "docs/release-file", "docs/invariants", "docs/levels", "docs/choosing-epsilon",
        "docs/microdata", "docs/scale", "docs/spark", "docs/ledger",
    ),
    "Mechanisms": (
        "docs/choosing-a-mechanism", "docs/designing", "docs/bounded-noise", "docs/constructing", "docs/distribution",
        "docs/chains",
    ),
    "Use and check": ("docs/estimating", "docs/auditor", "docs/evaluating"),
    "Coming from": ("docs/from-opendp", "docs/from-tumult", "docs/from-dp-wizard", "docs/cell-key-method"),
    "What is promised": ("docs/guarantee", "docs/known-limits", "docs/threat-model", "docs/proofs/*"),
    "Reference": ("docs/api", "docs/commands", "docs/options", "docs/record", "docs/glossary"),
    "Studies": ("docs/frontier", "docs/reproduction", "docs/errata"),
    "The project": ("CHANGELOG", "CONTRIBUTING", "SECURITY", "docs/decisions/README"),
}  # fmt: skip
