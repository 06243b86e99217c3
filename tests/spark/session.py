"""A small Spark on this machine for the tests: two cores, this machine's own address, no page of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from discreet.io.spark import has_java

ATTEMPTS = 3  # of a task, before Spark gives up
QUICK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # quick to start, little to run
LOG = """
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {place}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c: %m%n%ex
"""


def started(folder: Path) -> Any:
    """It keeps everything that Spark can be made to keep: logs, event logs, and files of its own, under the folder."""
    if not has_java():
        pytest.skip("there is no Java, in which Spark runs (Debian: apt-get install openjdk-17-jre-headless)")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    events = folder / "events"
    events.mkdir()
    log = folder / "log4j2.properties"
    log.write_text(LOG.format(place=folder / "log.txt"))
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "700m",
        "spark.driver.extraJavaOptions": f"{QUICK} -Dlog4j2.configurationFile={log.as_uri()}",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",  # so that it can be searched
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.shuffle.compress": "false",
        "spark.broadcast.compress": "false",
        "spark.rdd.compress": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    builder = SparkSession.builder.master(f"local[2,{ATTEMPTS}]").appName("discreet tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setCheckpointDir(str(folder / "checkpoints"))
    return session
