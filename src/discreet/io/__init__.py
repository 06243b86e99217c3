"""Files and frames, in and out. The names of the files that every release folder has:"""

RECORD = "release.json"
REPORT = "report.html"
MANIFEST = "manifest.json"  # of a release in parts
