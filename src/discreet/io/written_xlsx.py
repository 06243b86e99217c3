"""A workbook as a release writes it: a sheet of text and counts, and one of intervals, where there are any; the same
bytes for the same numbers everywhere.

Nothing in it is packed, dated or signed, and no part of it is there that a table does not need. So whoever reads one
writes it again and compares: formulas, macros, links, hidden sheets and everything else that a workbook can carry are
found because they are not what is written here. No reader of workbooks is trusted with a stranger's file.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from discreet.errors import BadInput, Damaged

MOST_ROWS = (1 << 20) - 1  # of a sheet, beside its header
MOST_COLUMNS = 1 << 14  # of a sheet
LONGEST = (1 << 15) - 1  # characters of a cell
UNFIT = r"[\x{0}-\x{8}\x{B}-\x{1F}\x{FFFE}\x{FFFF}]|_x[0-9A-Fa-f]{4}_"  # not in XML, or readers take it for another
BATCH = 1 << 14  # rows that are written at a time: the longest of them fit into one text of Arrow
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first day that an archive can write
UNIX = 3  # the system that an archive says it is from, wherever it was made
SHEET, TOLD = "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml"
SHEETS = ("table", "intervals")  # what they are called
INTERVALS = ("estimate", "low", "high")  # the last columns of the second
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
STYLES = (
    f'<styleSheet xmlns="{MAIN}">'
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)


def _parts(sheets: int) -> dict[str, str]:
    """All but the sheets."""
    places, numbers = (SHEET, TOLD)[:sheets], range(1, sheets + 1)
    types = "".join(f'<Override PartName="/{one}" ContentType="{KIND}.worksheet+xml"/>' for one in places)
    named = "".join(f'<sheet name="{SHEETS[k - 1]}" sheetId="{k}" r:id="rId{k}"/>' for k in numbers)
    linked = "".join(
        f'<Relationship Id="rId{k}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{k}.xml"/>' for k in numbers
    )
    return {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/>'
        f'{types}<Override PartName="/xl/styles.xml" ContentType="{KIND}.styles+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{named}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{linked}'
        f'<Relationship Id="rId{sheets + 1}" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": STYLES,
    }


TEXT, TEXT_END = '<c t="inlineStr"><is><t xml:space="preserve">', "</t></is></c>"
NAME = '<c s="1" t="inlineStr"><is><t xml:space="preserve">'
NUMBER, NUMBER_END = "<c><v>", "</v></c>"
TAIL = "</sheetData></worksheet>"


def write_xlsx(target: Any, frame: Any, told: Any = None) -> None:
    """Key columns as text, as they are; the last column as numbers. To something that can be written to."""
    target.write(workbook(frame, told))


def require_fit(rows: int, names: Sequence[str], texts: Any) -> None:
    """Refuse what no sheet can hold; `texts` are the key columns (Arrow)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = ""
    if rows > MOST_ROWS or len(names) > MOST_COLUMNS:
        found = (
            f"it has {rows:,} rows and {len(names):,} columns, and a sheet at most {MOST_ROWS:,} and {MOST_COLUMNS:,}"
        )
    for column in (pa.array(names, pa.string()), *(column.cast(pa.string()) for column in texts.columns)):
        if pc.any(pc.match_substring_regex(column, UNFIT), min_count=0).as_py():
            found = "a key or a name has characters that a sheet cannot hold as they are"
        elif (pc.max(pc.utf8_length(column)).as_py() or 0) > LONGEST:
            found = f"a key or a name has more than {LONGEST:,} characters"
    if found:
        raise BadInput("the table was to be written as xlsx", found, "Choose another format: csv or parquet")


def workbook(frame: Any, told: Any = None) -> bytes:
    """The file; `told` are intervals: text, and three columns of numbers."""
    require_fit(len(frame), frame.column_names, frame.select(frame.column_names[:-1]))
    sheets = {SHEET: _sheet(frame, 1)} | ({} if told is None else {TOLD: _sheet(told, len(INTERVALS))})
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {**_parts(len(sheets)), **sheets}.items():
            archive.writestr(_entry(name), content if isinstance(content, bytes) else f"{HEAD}{content}")
    return out.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.create_system = UNIX
    return entry


def _sheet(frame: Any, numbers: int) -> bytes:
    rows = (_rows(batch.columns, numbers) for batch in frame.to_batches(BATCH))
    return b"".join([_start(frame.column_names).encode(), *rows, TAIL.encode()])


def _rows(columns: Sequence[Any], numbers: int) -> bytes:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [column.cast(pa.string()) for column in columns]
    cells = [_joined(TEXT, _escaped(pc.fill_null(key, "")), TEXT_END) for key in texts[:-numbers]]
    cells += [_joined(NUMBER, number, NUMBER_END) for number in texts[-numbers:]]
    rows = _joined("<row>", *cells, "</row>")
    whole = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(rows)], pa.int32()), rows), "")
    return bytes(whole[0].as_buffer().to_pybytes())


def _start(names: Sequence[str]) -> str:
    header = "".join(f"{NAME}{escape(name)}{TEXT_END}" for name in names)
    return (
        f'{HEAD}<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0">'
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
        f'<cols><col min="1" max="{len(names)}" width="18" customWidth="1"/></cols><sheetData><row>{header}</row>'
    )


def _joined(*parts: Any) -> Any:
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*parts, "")


MARKS = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))


def _escaped(texts: Any) -> Any:
    import pyarrow.compute as pc

    for mark, said in MARKS:
        texts = pc.replace_substring(texts, mark, said)
    return texts


def _unescaped(texts: Any) -> Any:
    import pyarrow.compute as pc

    for mark, said in reversed(MARKS):
        texts = pc.replace_substring(texts, said, mark)
    return texts


@dataclass(frozen=True, eq=False)
class Workbook:
    """The table in a file of a release, and the intervals beside it, as text."""

    table: Any
    told: Any  # None where there are none


def read_workbook(content: bytes, name: str, columns: Sequence[str]) -> Workbook:
    """Text columns; refused if anything in the file is not as a release writes it."""
    sheet, *more = _sheets_of(content, name)
    frame = _cells(sheet, name, columns, 1)
    told = _cells(more[0], name, told_columns(columns), len(INTERVALS)) if more else None
    try:
        again = workbook(frame, told)
    except BadInput as error:
        raise Damaged(name, error.found) from error
    if again != content:
        raise Damaged(name, "it is written in another way than releases are, or something else is in it")
    return Workbook(frame, told)


def told_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Of the sheet of intervals, beside a table with these columns."""
    return ("question", *columns[:-1], "exact", *INTERVALS)


def _sheets_of(content: bytes, name: str) -> list[bytes]:
    """The sheets, if the archive has the parts of a table and is not packed: what it says is what it weighs."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            names = [entry.filename for entry in entries]
            if names not in ([*_parts(1), SHEET], [*_parts(2), SHEET, TOLD]):
                raise Damaged(name, "it has other parts than a table needs")
            packed = any(entry.compress_type != zipfile.ZIP_STORED for entry in entries)
            if packed or sum(entry.file_size for entry in entries) > len(content):
                raise Damaged(name, "it is packed in another way than releases are")
            return [archive.read(one) for one in names[len(_parts(1)) :]]
    except Damaged:
        raise
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise Damaged(name, "it is not a workbook") from error


def _cells(sheet: bytes, name: str, columns: Sequence[str], numbers: int) -> Any:
    """The cells as they stand; how they are written is compared afterwards."""
    import pyarrow as pa
    import pyarrow.compute as pc

    start = _start(columns).encode()
    if not sheet.startswith(start):
        raise Damaged(name, "its columns are not those of the schema")
    try:
        text = pa.array([sheet[len(start) :].removesuffix(TAIL.encode()).decode()], pa.large_string())
    except UnicodeDecodeError as error:
        raise Damaged(name, "it is not text in UTF-8") from error
    cells = pc.split_pattern(text, "</c>").values
    rows, left = divmod(len(cells) - 1, len(columns))
    if left:
        raise Damaged(name, "its rows have more or fewer cells than columns")
    found = []
    for place in range(len(columns)):
        number = place >= len(columns) - numbers
        pattern = "<v>(?P<cell>[^<]*)</v>$" if number else '<t xml:space="preserve">(?P<cell>[^<]*)</t></is>$'
        own = cells.take(pa.array(np.arange(rows) * len(columns) + place))
        part = pc.extract_regex(own, pattern).field("cell")
        found.append((part if number else _unescaped(part)).cast(pa.string()))
    if any(part.null_count for part in found):
        raise Damaged(name, "a cell of it is written in another way than releases are")
    return pa.table(found, names=list(columns))
