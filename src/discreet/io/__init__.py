"""Files and frames, in and out. The names of the files that every release folder has:"""

RECORD = "release.json"
REPORT = "report.html"
MANIFEST = "manifest.json"  # of a release in parts
EXPLORE = "explore.html"
ANALYSIS = "analysis.R"
METADATA_OF = "table.csv"
METADATA = "table.csv-metadata.json"  # beside a table of that name alone
