"""Releases by a real Spark: the same as by any other engine, whatever happens to its tasks; no key is left anywhere."""

from __future__ import annotations

import base64
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.parts import keyed
from discreet.parts.engine import Serial
from discreet.parts.spark import Spark

KEYS = ["area", "age"]
SIZES = (80, 70, 90)
OPTIONS: dict[str, Any] = {"seed": 7, "favor": "distribution", "max_count": 20}


def frame(rows: int = sum(SIZES)) -> Any:
    places = np.arange(rows)
    counts = np.random.default_rng(1).negative_binomial(1, 0.2, rows)
    return pa.table({"area": [f"a{place // 8:03d}" for place in places.tolist()], "age": places % 8, "n": counts})


@pytest.fixture
def given(tmp_path: Path) -> Path:
    folder, start = tmp_path / "in", 0
    folder.mkdir()
    for number, size in enumerate(SIZES):
        pq.write_table(frame().slice(start, size), folder / f"{number}.parquet")
        start += size
    return folder


def released(given: Path, out: Path, engine: Any, **options: Any) -> Any:
    return dc.release_parts(given, "n", KEYS, 1, out=out, engine=engine, **(options or OPTIONS))


def content(out: Path) -> dict[str, bytes]:
    """Every file of a release but those with dates in them."""
    files = [path for path in out.rglob("*") if path.is_file() and path.name not in ("report.html", "release.json")]
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}


def attempt_of_this_task() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.attemptNumber())


@dataclass(frozen=True)
class DyingOnce:
    """Where a part is written, the first attempt at every other part dies after its write."""

    function: Any

    def __call__(self, task: Any) -> Any:
        summary = self.function(task)
        if hasattr(self.function, "folder") and task.part % 2 == 0 and attempt_of_this_task() == 0:
            raise RuntimeError("the worker is lost after its file was written")
        return summary


@dataclass(frozen=True)
class KilledOnce:
    """The same, by a signal that no process can catch: nothing is told, and nothing cleared away."""

    function: Any

    def __call__(self, task: Any) -> Any:
        summary = self.function(task)
        if hasattr(self.function, "folder") and task.part % 2 == 0 and attempt_of_this_task() == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return summary


@dataclass(frozen=True)
class Wrapped:
    """Spark, with something done to what it runs and to what comes back."""

    engine: Spark
    wrap: Callable[[Any], Any] = lambda function: function
    copies: int = 1
    litter: bool = False

    def run(self, function: Any, tasks: Sequence[Any]) -> Iterator[Any]:
        folder = getattr(function, "folder", None)
        if self.litter and folder is not None:
            (Path(folder) / "part-00000.parquet").write_bytes(b"half of a part")
        yield from self.engine.run(self.wrap(function), list(tasks) * self.copies)


def by_reference(cls: type) -> type:
    """What tests define goes to workers by value: they do not have the tests."""
    from pyspark import cloudpickle

    import tests.spark.test_release as own

    cloudpickle.register_pickle_by_value(own)
    return cls


CASES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "tasks die after their write": {"wrap": DyingOnce},
    "workers are killed after their write": {"wrap": KilledOnce},
    "a copy of every task, and its summary twice": {"copies": 2},
    "stray files": {"litter": True},
}


@pytest.mark.parametrize("name", CASES)
def test_spark_makes_the_same_release_as_one_process(name: str, spark: Any, given: Path, tmp_path: Path) -> None:
    by_reference(DyingOnce)
    released(given, tmp_path / "one", Serial())
    released(given, tmp_path / "other", Wrapped(Spark(spark), **CASES[name]))
    assert content(tmp_path / "one") == content(tmp_path / "other")
    assert dc.verify(tmp_path / "other", allow_seeded=True).valid


def test_the_engine_by_its_name(spark: Any, given: Path, tmp_path: Path) -> None:
    made = released(given, tmp_path / "out", "spark", measurements=False)
    assert made.private and dc.verify(tmp_path / "out").valid


def test_two_versions_of_a_part_are_refused(spark: Any, given: Path, tmp_path: Path) -> None:
    """What a cluster with noise of its own would do: the second copy of a task has drawn again."""

    @dataclass(frozen=True)
    class DrawingAnew:
        function: Any

        def __call__(self, task: Any) -> Any:
            if not hasattr(self.function, "randomness"):
                return self.function(task)
            anew = replace(self.function, randomness=keyed.drawn())
            return anew(task)

    with pytest.raises(BadInput, match="came back twice, and not as the same"):
        released(given, tmp_path / "out", Wrapped(Spark(spark), DrawingAnew, copies=2), measurements=False)
    assert not (tmp_path / "out").exists()


def test_what_fails_on_a_worker_is_told(spark: Any) -> None:
    def fail(task: int) -> int:
        raise ZeroDivisionError(f"task {task} cannot be done")

    with pytest.raises(BadInput, match=r"run by Spark: .*ZeroDivisionError: task 0 cannot be done"):
        list(Spark(spark).run(fail, [0]))
    assert list(Spark(spark).run(fail, [])) == []


def every_byte(*folders: Path) -> bytes:
    return b"".join(path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file())


def forms(secret: bytes) -> list[bytes]:
    """How a key could be written down."""
    words = [secret, secret[::-1], secret.hex().encode(), secret.hex().upper().encode(), repr(secret)[2:-1].encode()]
    decimal = ", ".join(str(byte) for byte in secret), ",".join(str(byte) for byte in secret)
    signed = ", ".join(str(int(byte)) for byte in np.frombuffer(secret, dtype=np.int8))  # as Java shows bytes
    inside = [base64.b64encode(bytes(skip) + secret).strip(b"=")[4:-4] for skip in range(3)]  # wherever it begins
    return [*words, *(text.encode() for text in (*decimal, signed)), *inside]


def test_the_key_is_nowhere(
    spark: Any, spark_folder: Path, given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in Spark's event log, plans, local folders, checkpoints, logs, nor in the release; while the release is made,
    when tasks have failed, and afterwards. A key that is put into a plan shows that the search finds what is there."""
    from pyspark.sql import functions

    keys, seen, plans = [], [], []
    by_reference(DyingOnce)
    drawn = keyed.drawn

    def watched(*arguments: Any) -> Any:
        found = drawn(*arguments)
        keys.append(found.key)
        return found

    monkeypatch.setattr("discreet.parts.release.drawn", watched)
    frames = type(spark.range(1))
    collect = frames.collect

    def explained(self: Any) -> Any:
        plans.append(self._jdf.queryExecution().toString() + self._jdf.queryExecution().logical().toJSON())
        found = collect(self)
        seen.append(every_byte(spark_folder, given.parent))
        return found

    monkeypatch.setattr(frames, "collect", explained)
    spark.sparkContext.setLogLevel("INFO")
    try:
        released(given, tmp_path / "out", Wrapped(Spark(spark), DyingOnce), favor="distribution", max_count=20)
    finally:
        spark.sparkContext.setLogLevel("WARN")
    everything = b"".join([*seen, every_byte(spark_folder, tmp_path), "".join(plans).encode()])
    for there in (b"SparkListenerTaskEnd", b"MapInArrow", b"INFO org.apache.spark", b"the worker is lost"):
        assert there in everything  # what is searched is what it should be
    assert len(keys) == 2 and len(plans) == 3
    for key in keys:
        assert not [form for form in forms(key) if form in everything]
    planted = keyed.drawn().key
    spark.range(1).select(functions.lit(planted)).collect()
    assert [form for form in forms(planted) if form in every_byte(spark_folder)]
    assert [form for form in forms(planted) if form in plans[-1].encode()]


def spark_frame(spark: Any) -> Any:
    """The same table, its rows in another order, in several partitions."""
    rows = frame().take(np.random.default_rng(2).permutation(sum(SIZES)))
    return spark.createDataFrame(rows.to_pandas()).repartition(4)


def test_a_spark_frame_in_and_out(spark: Any, tmp_path: Path) -> None:
    """Two looks at what comes out show the same numbers: nothing is drawn when it is looked at."""
    out = tmp_path / "out, 100% [of] {it} *"  # Spark takes some names for patterns, and others for addresses
    made = dc.release(spark_frame(spark), epsilon=1, count="n", keys=KEYS, out=out, part_rows=100)
    assert made.private and dc.verify(out).valid
    assert list(tmp_path.iterdir()) == [out]  # the rows that were sorted are gone
    first, second = (made.table.toArrow().sort_by([(key, "ascending") for key in KEYS]) for _ in range(2))
    assert first.equals(second)
    assert first.select(KEYS).to_pydict() == frame().select(KEYS).to_pydict()
    assert len(made.parts) >= 3 and (first["n"].to_numpy() != frame()["n"].to_numpy()).any()
    cached = made.table.cache()
    total = cached.groupBy().sum("n").collect()[0][0]
    cached.unpersist(True)
    assert cached.groupBy().sum("n").collect()[0][0] == total == np.sum(first["n"].to_numpy())
    assert made.measurements.count() == sum(SIZES)
    assert "n" in made.table.columns and type(made.table) is type(spark_frame(spark))


def test_noise_in_a_plan_would_be_drawn_again(spark: Any) -> None:
    """The hazard that all this is for: noise that is drawn where a frame is looked at is another one every time."""

    def noisy(batches: Iterator[Any]) -> Iterator[Any]:
        from fractions import Fraction

        from discreet.laws import Geometric
        from discreet.sample.bits import secure

        for batch in batches:
            values = Geometric(Fraction(2)).add(batch.column(0).to_numpy(), secure())
            yield pa.RecordBatch.from_arrays([pa.array(values)], names=["id"])

    frame = spark.range(200).mapInArrow(noisy, "id long")
    assert frame.collect() != frame.collect()


def test_the_same_rows_make_the_same_release_as_in_parts(spark: Any, tmp_path: Path) -> None:
    """Under a seed, of rows in one part: Spark's way of sorting and writing them changes nothing."""
    single = spark_frame(spark).coalesce(1)
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    try:
        dc.release(single, epsilon=1, count="n", keys=KEYS, out=tmp_path / "one", consistent=True, seed=3)
        dc.release(single, epsilon=1, count="n", keys=KEYS, out=tmp_path / "two", consistent=True, seed=3)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert dc.verify(tmp_path / "one", allow_seeded=True).valid


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"keys": None}, "not named"),
        ({"count": "m"}, "count column 'm' was asked for"),
        ({"keys": ["area", "agee"]}, "Did you mean 'age'"),
        ({"keys": ["area"]}, "must have its own keys"),
        ({"out": None}, "no folder to write"),
        ({"engine": "local"}, "released by Spark"),
        ({"epsilom": 1}, "Did you mean 'epsilon'"),
        ({"keep": ["margin:area", "margin:age"]}, "may overlap in rows of different parts"),
    ],
)
def test_what_is_refused_leaves_nothing(options: dict[str, Any], said: str, spark: Any, tmp_path: Path) -> None:
    asked = {"epsilon": 1, "count": "n", "keys": KEYS, "out": tmp_path / "out", **options}
    with pytest.raises(BadInput, match=said):
        dc.release(spark_frame(spark), **asked)
    assert not list(tmp_path.iterdir())


def test_times_come_out_as_they_went_in(spark: Any, tmp_path: Path) -> None:
    """What was released and charged could not be read by Spark."""
    from pyspark.sql import functions

    before = spark.conf.get("spark.sql.parquet.outputTimestampType")
    timed = spark_frame(spark).withColumn("age", functions.timestamp_seconds(functions.col("age") + 0.25))
    made = dc.release(timed, epsilon=1, count="n", keys=KEYS, out=tmp_path / "out")
    assert made.table.select(*KEYS).exceptAll(timed.select(*KEYS)).isEmpty() and made.table.count() == sum(SIZES)
    assert made.table.schema["age"].dataType == timed.schema["age"].dataType and dc.verify(tmp_path / "out").valid
    assert spark.conf.get("spark.sql.parquet.outputTimestampType") == before


@pytest.mark.parametrize("odd", [["map(area, age) AS age"], ["age", "age AS AGE"]])
def test_frames_that_spark_cannot_sort(odd: list[str], spark: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Give keys that have an order, under names that differ in more than their case"):
        dc.release(
            spark_frame(spark).selectExpr("area", "n", *odd), epsilon=1, count="n", keys=KEYS, out=tmp_path / "out"
        )
    assert not list(tmp_path.iterdir())


def test_storage_that_is_not_shared(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.setattr("discreet.parts.spark.address", lambda path: f"file://{tmp_path}/there")
    with pytest.raises(BadInput, match="Use storage that all machines share"):
        dc.release(spark_frame(spark), epsilon=1, count="n", keys=KEYS, out=tmp_path / "here" / "out")
    assert not list((tmp_path / "here").iterdir())


def test_a_frame_without_rows(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no rows"):
        dc.release(spark_frame(spark).where("n < 0"), epsilon=1, count="n", keys=KEYS, out=tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_other_frames_are_not_released_by_themselves() -> None:
    with pytest.raises(BadInput, match="Use read_table or table"):
        dc.release(frame(), epsilon=1)  # type: ignore[arg-type]
