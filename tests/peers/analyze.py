"""What `exoscope report` and `exoscope compare` reckon, in pandas and in DuckDB, from the same result files.

    analyze.py pandas|duckdb FILE        count, median, mean and sample deviation of each cell and metric, as JSON
    analyze.py pandas|duckdb FILE FILE   the same of both, joined by cell, with the change of the medians in percent
    analyze.py measure COMMAND…          runs a command and prints its seconds, CPU seconds and peak memory, as JSON

Both peers are written to be quick: pandas gets only the columns it needs; DuckDB finds the types itself, which takes less time
than to be told them.
"""

import json
import os
import resource
import subprocess
import sys
import time

KEY = ["model_id", "placement_sharding", "placement_instance_meta", "placement_nodes", "pp_tokens", "tg", "concurrency"]
METRICS = ["prompt_tps", "generation_tps", "elapsed_s"]


def with_pandas(path):
    import pandas

    with open(path, "rb") as file:
        runs = json.load(file)["runs"]
    rows = [
        [run[key] for key in KEY]
        + [run["stats"]["prefix_cache_hit"], run["stats"]["prompt_tps"], run["stats"]["generation_tps"], run["elapsed_s"]]
        for run in runs
    ]
    del runs
    frame = pandas.DataFrame(rows, columns=[*KEY, "cache", *METRICS])
    del rows
    return frame.groupby([*KEY, "cache"], sort=False)[METRICS].agg(["count", "median", "mean", "std"])


def pandas_report(paths):
    import pandas

    tables = [with_pandas(path) for path in paths]
    if len(tables) == 1:
        table = tables[0]
    else:
        # Side by side, aligned by the cell: an outer join.
        table = pandas.concat(dict(zip(["base", "new"], tables)), axis=1)
        for metric in METRICS:
            table["change", metric, "percent"] = 100 * (table["new", metric, "median"] / table["base", metric, "median"] - 1)
    return [
        {"cell": list(map(str, cell)), **{"/".join(column): value for column, value in row.items()}}
        for cell, row in table.to_dict("index").items()
    ]


def duckdb_cells(path):
    # One object holds the file, so an object may be as large as it.
    size = os.path.getsize(path) + 1024
    numbers = ", ".join(
        f"count({m}) {m}_count, median({m}) {m}_median, avg({m}) {m}_mean, stddev_samp({m}) {m}_std" for m in METRICS
    )
    return f"""(with rows as (select unnest(runs) r from read_json('{path}', maximum_object_size = {size})),
        flat as (select r.* exclude stats, r.stats.prompt_tps, r.stats.generation_tps, r.stats.prefix_cache_hit cache from rows)
        select {", ".join(KEY)}, cache, {numbers} from flat group by all)"""


def duckdb_report(paths):
    import duckdb

    if len(paths) == 1:
        query = f"select * from {duckdb_cells(paths[0])}"
    else:
        change = ", ".join(f"100 * (new.{m}_median / base.{m}_median - 1) {m}_change" for m in METRICS)
        using = ", ".join([*KEY, "cache"])
        query = f"select *, {change} from {duckdb_cells(paths[0])} base full join {duckdb_cells(paths[1])} new using ({using})"
    found = duckdb.sql(query)
    names = found.columns
    return [dict(zip(names, row)) for row in found.fetchall()]


def measure(command):
    before = time.perf_counter()
    ended = subprocess.run(command, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - before
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Linux counts kibibytes, macOS bytes.
    peak = usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    return {"code": ended.returncode, "wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_mib": peak}


if __name__ == "__main__":
    mode, *rest = sys.argv[1:]
    work = {"pandas": pandas_report, "duckdb": duckdb_report, "measure": measure}[mode]
    print(json.dumps(work(rest)))
