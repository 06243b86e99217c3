"""What is said where there is no Spark."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from discreet.errors import MissingExtra
from discreet.io.spark import has_java, session_or_new


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingExtra, match=r"pyspark is not installed. Run: pip install 'discreet\[spark\]'"):
        session_or_new("Spark was to be used")


def test_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    with pytest.raises(MissingExtra, match=r"there is no Java .* openjdk-17-jre-headless\), or say in JAVA_HOME"):
        session_or_new("Spark was to be used")


def test_java_is_found_where_it_is_said_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    assert not has_java()
    (tmp_path / "java" / "bin").mkdir(parents=True)
    (tmp_path / "java" / "bin" / "java").write_text("")
    (tmp_path / "java" / "bin" / "java").chmod(0o755)
    assert has_java()
