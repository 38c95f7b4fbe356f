"""Compares what DuckDB, Polars and PyArrow read from the Parquet tables of result folders.

A CSV of the same name is compared too. For every column it compares the number of values that are not
null. It also compares the exact sum of whole numbers and booleans, the sum of other numbers, rounded
once (so that the order does not matter), and the distinct texts. It prints one line per table. Exit
code 1 if anything differs or a folder has no table.
"""

import contextlib
import csv
import io
import math
import sys
import tempfile
from pathlib import Path

import duckdb
import polars
import pyarrow as arrow
import pyarrow.parquet

RELATIVE = 1e-12  # between a CSV and a Parquet table; readers of the same bytes must agree exactly


def by_duckdb(path):
    relation = duckdb.sql(f"select * from read_parquet('{str(path).replace(chr(39), chr(39) * 2)}')")
    rows = relation.fetchall()
    return {name: [row[at] for row in rows] for at, name in enumerate(relation.columns)}


def by_polars(path):
    frame = polars.read_parquet(path)
    return {column.name: column.to_list() for column in frame.iter_columns()}


def by_pyarrow(path):
    table = arrow.parquet.read_table(path)
    return {name: column.to_pylist() for name, column in zip(table.column_names, table.columns)}


READERS = {"duckdb": by_duckdb, "polars": by_polars, "pyarrow": by_pyarrow}


def by_csv(path, types):
    """Returns the columns of a CSV with the types of the Parquet columns; empty is null."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    if not lines:
        raise ValueError("no header")
    columns = {name: [] for name in lines[0]}
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(lines[0]):
            raise ValueError(f"line {number} has {len(line)} fields, the header {len(lines[0])}")
        for name, text in zip(lines[0], line):
            columns[name].append(None if text == "" else types.get(name, str)(text))
    return columns


def type_of(values):
    """Returns the one type of all values that are not null."""
    types = {type(value) for value in values if value is not None}
    if len(types) > 1:
        raise TypeError(f"a column with values of types {sorted(kind.__name__ for kind in types)}")
    return types.pop() if types else None


def a_boolean(text):
    return {"true": True, "false": False}[text.lower()]


OF_TEXT = {bool: a_boolean, int: int, float: float}


def summary(values):
    """Returns what is compared of a column."""
    present = [value for value in values if value is not None]
    kind = type_of(present)
    if kind is float:
        total = math.fsum(value for value in present if math.isfinite(value))
        return (len(values), len(present), total, sum(not math.isfinite(value) for value in present))
    if kind in (int, bool):
        return (len(values), len(present), sum(present))
    if kind in (str, None):
        return (len(values), len(present), sorted(set(present)))
    raise TypeError(f"a column of {kind.__name__}, which no table of netloom has")


def is_close(a, b):
    """Returns whether two summaries agree, except for the rounding of a text."""
    if type(a) is tuple and len(a) == len(b) == 4:
        return a[:2] == b[:2] and math.isclose(a[2], b[2], rel_tol=RELATIVE) and a[3] == b[3]
    return a == b


def as_in_csv(columns):
    """Replaces empty texts by null, since a CSV does not distinguish them."""
    return {name: [None if value == "" else value for value in values] for name, values in columns.items()}


def differences(what, ours, theirs, agree):
    """Yields the differences of two readings, column by column."""
    if list(ours) != list(theirs):
        yield f"{what}: columns {list(ours)} against {list(theirs)}"
        return
    for name in ours:
        a, b = summary(ours[name]), summary(theirs[name])
        if not agree(a, b):
            yield f"{what}: column {name}: {str(a)[:200]} against {str(b)[:200]}"


def check(path):
    """Returns the findings of one table, and a line about it."""
    read = {name: reader(path) for name, reader in READERS.items()}
    ours = read.pop("pyarrow")
    found = []
    for name, theirs in read.items():
        found += differences(f"pyarrow and {name}", ours, theirs, lambda a, b: a == b)
    text = path.with_suffix(".csv")
    if text.exists():
        types = {name: OF_TEXT.get(type_of(values), str) for name, values in ours.items()}
        try:
            found += differences(f"parquet and {text.name}", as_in_csv(ours), by_csv(text, types), is_close)
        except (KeyError, ValueError) as error:
            found.append(f"{text.name}: {error}")
    rows = len(next(iter(ours.values()), []))
    said = f"{path}: {rows} rows, {len(ours)} columns, 3 readers{' and CSV' if text.exists() else ''}"
    return found, f"{said}: {'differ' if found else 'agree'}"


def check_folder(folder):
    """Prints a line for each table of a folder, and returns whether all agree."""
    tables = sorted(Path(folder).glob("*.parquet"))
    if not tables:
        print(f"{folder}: no *.parquet")
        return False
    all_agree = True
    for path in tables:
        try:
            found, line = check(path)
        except Exception as error:  # a refused file is a finding; the others are still read
            found, line = [f"{type(error).__name__}: {error}"], f"{path}: cannot be read"
        print(line)
        for finding in found:
            print(f"  {finding}")
        all_agree &= not found
    return all_agree


def is_as_expected(name, folder, expected):
    """Returns whether a folder is judged as expected; if not, prints the output of the check."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        judged = check_folder(folder)
    if judged != expected:
        print(f"self-test: '{name}' should {'agree' if expected else 'be found'}\n{said.getvalue()}")
    return judged == expected


def self_test():
    """Checks that tables like those of netloom agree, and that every single change is found."""
    largest = 2**64 - 1
    columns = {
        "variant": arrow.array(["a", "b, \"c\"", None, "a"]).dictionary_encode(),
        "seed": arrow.array([1, None, largest, 4], arrow.uint64()),
        "traffic.load": arrow.array([0.1, 0.2, None, 1e-300], arrow.float64()),
        "saturated": arrow.array([True, False, None, True]),
        "never": arrow.array([None] * 4, arrow.float64()),
        "note": arrow.array(["", None, "x", ""]),
    }
    csv_text = 'variant,seed,traffic.load,saturated,never,note\na,1,0.1,true,,\n"b, ""c""",,0.2,false,,\n' \
               f",{largest},,,,x\na,4,1e-300,true,,\n"
    cases = {  # name: (expected, text of the CSV or none, what is done to the file)
        "agrees": (True, csv_text, None),
        "no CSV": (True, None, None),
        "rounded text": (True, csv_text.replace("0.2", "0.20000000000000004"), None),
        "other number": (False, csv_text.replace("0.2", "0.2000000001"), None),
        "other whole number": (False, csv_text.replace(str(largest), str(largest - 1)), None),
        "other boolean": (False, csv_text.replace("false", "true"), None),
        "other text": (False, csv_text.replace("\na,1", "\nd,1"), None),
        "line too few": (False, csv_text[: csv_text.rindex("a,4")], None),
        "column renamed": (False, csv_text.replace("seed", "run"), None),
        "number for nothing": (False, csv_text.replace("true,,", "true,0,"), None),
        "words for a number": (False, csv_text.replace("0.2", "fast"), None),
        "torn file": (False, csv_text, lambda data: data[:-20]),
        "no table": (False, csv_text, lambda data: None),
    }
    with tempfile.TemporaryDirectory() as folder:
        for at, (name, (expected, text, change)) in enumerate(cases.items()):
            place = Path(folder) / str(at)
            place.mkdir()
            path = place / "results.parquet"
            arrow.parquet.write_table(arrow.table(columns), path, compression="zstd")
            if text is not None:
                path.with_suffix(".csv").write_text(text, encoding="utf-8")
            if change is not None:
                data = change(path.read_bytes())
                path.unlink() if data is None else path.write_bytes(data)  # tidy: allow Python's None
            if not is_as_expected(name, place, expected):
                return False
        # Readers that disagree.
        honest = READERS["polars"]
        READERS["polars"] = lambda path: {name: values[:-1] + [values[0]] for name, values in honest(path).items()}
        if not is_as_expected("a reader that reads something else", Path(folder) / "0", False):
            return False
    print(f"self-test: {len(cases) + 1} cases as expected")
    return True


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(__doc__)
    if arguments == ["--self-test"]:
        sys.exit(not self_test())
    sys.exit(not all([check_folder(folder) for folder in arguments]))
