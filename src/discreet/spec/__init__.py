"""A release as a value: everything that was asked for, to be kept as a file of TOML, read and run again.

Sections: [table], [privacy], one named after the way ([keep-distribution], [row-by-row], [keep-sums], [measure]),
[ledger], [output] and [about]. Paths are relative to the file. Running a file twice makes two releases, and charges
twice.
"""
