#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads what perfmon export wrote, by the rules of the readers of these formats.

export_check.py pprof FILE      prints the types, and for each sample its stack, values and labels
export_check.py split FILE      prints the metrics as Hatchet finds them, and for each row its path
                                and values

Both fail on what these readers refuse, and on what they read in another sense.
"""
import gzip
import json
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a message of protocol buffers: (number, value)."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at : at + value], at + value
            assert at <= len(data), "a field ends behind its message"
        else:
            assert key & 7 == 0, f"wire type {key & 7}"
        yield key >> 3, value


def packed(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def pprof(path):
    with open(path, "rb") as file:
        raw = file.read()
    assert raw[:2] == b"\x1f\x8b", "not in gzip's format"
    every = list(fields(gzip.decompress(raw)))
    texts = [value.decode() for number, value in every if number == 6]
    assert texts[0] == "", "the first string is not empty"
    functions, lines = {}, {}
    for number, value in every:
        if number == 5:
            message = dict(fields(value))
            assert message[1] and message[1] not in functions, "a function twice"
            functions[message[1]] = texts[message[2]]
        elif number == 4:
            message = dict(fields(value))
            assert message[1] and message[1] not in lines, "a location twice"
            lines[message[1]] = dict(fields(message[4]))[1]
    types = [dict(fields(value)) for number, value in every if number == 1]
    print("types", *(f"{texts[t[1]]}/{texts[t[2]]}" for t in types), sep="|")
    print("default", *(texts[value] for number, value in every if number == 14), sep="|")
    for comment in (texts[value] for number, value in every if number == 13):
        print("comment", comment, sep="|")
    for sample in (list(fields(value)) for number, value in every if number == 2):
        stack = [functions[lines[n]] for f, v in sample if f == 1 for n in packed(v)]
        values = [n for f, v in sample if f == 2 for n in packed(v)]
        assert stack and len(values) == len(types), "a value of each type"
        labels = [dict(fields(v)) for f, v in sample if f == 3]
        labels = [f"{texts[label[1]]}={texts[label[2]]}" for label in labels]
        print(";".join(reversed(stack)), *values, *labels, sep="|")


def split(path):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    columns, about = profile["columns"], profile["column_metadata"]
    nodes, rows = profile["nodes"], profile["data"]
    assert len(columns) == len(about) == len(set(columns)), "columns and their metadata"
    place = columns.index("path")
    assert about[place]["is_value"] is False, "the path is taken for a metric"
    paths = []
    for node in nodes:
        assert node["column"] == "path" and node["label"], "a node without a label"
        # A reader makes the nodes in this order.
        paths.append((paths[node["parent"]] + ";" if "parent" in node else "") + node["label"])
    ranks = columns.index("mpi.rank") if "mpi.rank" in columns else None
    metrics = [c for c, a in zip(columns, about) if a["is_value"] is True and c != "mpi.rank"]
    print("exclusive", *(m for m in metrics if "(inc)" not in m), sep="|")
    print("inclusive", *(m for m in metrics if "(inc)" in m), sep="|")
    seen = set()
    for row in rows:
        assert len(row) == len(columns), "a value for each column"
        key = (row[place], row[ranks] if ranks is not None else None)
        assert key not in seen, "two rows of one path and rank"
        seen.add(key)
        values = ["NaN" if v is None else v for i, v in enumerate(row) if i != place]
        print(paths[row[place]], *values, sep="|")
    metadata = set(profile) - {"data", "columns", "column_metadata", "nodes"}
    print("metadata", *sorted(metadata), sep="|")


if __name__ == "__main__":
    {"pprof": pprof, "split": split}[sys.argv[1]](sys.argv[2])
