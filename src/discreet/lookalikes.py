"""Letters that a person takes for others: names and words that look the same must not pass for different ones."""

from __future__ import annotations

# letters of other alphabets that are drawn like Latin ones, in small print
LIKE_LATIN = str.maketrans(
    "авекмнорстухіјѕԁԛԝҽһӏ" + "αβεικνορτυχϲϳ" + "ɑɡ", "abekmhopctyxijsdqwehl" + "abeiknoptuxcj" + "ag"
)
LIKE_EACH_OTHER = str.maketrans("01|ıǀ", "ollil")  # and within the Latin ones: nought, one, bars, i without its dot
