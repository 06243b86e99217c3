"""Words that mean a total, names that do not, and tables with such a row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from discreet.io.totals import rows_of_totals

TOTALS = (
    "Total", "All", "Sum", "Overall", "Grand total", "", "  ", "\u00a0", "\u200b", "Gesamt", "Insgesamt", "Totaal",
    "Ensemble", "Somme", "TOTAL", " total: ", "*Total*", "(all)", "— All —", "Total, all ages", "County total",
    "Total 2020", "All ages", "Both sexes", "Sub-total", "Ｔｏｔａｌ", "_T", "Σ", "合計", "ИТОГО", "YHTEENSÄ", "รวม",
    "Tot.", "TOT", "All 2020", "\u2800", "\u3164", "\u115f", " \u3164 ", "Tous âges", "Alle Personen", "Alle Leute",
    "Todas las edades", "Ambos sexos", "Tutte le età", "Les deux sexes", "Båda kön", "Alle Altersgruppen",
    "Both sexes combined", "Tous âges confondus", "Molemmat sukupuolet", "Tous âges, tous sexes",
)  # fmt: skip
NAMES = (
    "Allen",
    "Ash",
    "Totality",
    "Sumter",
    "Tall",
    "-",
    "T",
    "All Saints",
    "totaled",
    "Alle Vögel",
    "Alt",
    "*",
    "NA",
)


def flags(values: Any) -> list[bool]:
    return rows_of_totals(pa.table({"k": values})).tolist()


def frame(*keys: str) -> Any:
    return pa.table({"place": [*keys, "Ash", "Elm"], "n": [*range(1, len(keys) + 1), 3, 4]})
