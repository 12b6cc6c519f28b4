#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calculates what tests/programs/metric_values.c does, by another way: it turns each expression that
perf prints into one of Python. With a file of "NAME VALUE" lines as its argument it
compares them, and says what differs."""
import math
import os
import re
import subprocess
import sys

TOKEN = re.compile(
    r"\s*(?:(#\w+)|((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.:@?\\]))|((?:\\.|[\w.:@?])+)|(.))"
)


def perf_metrics():
    """Names and expressions: the second text in brackets below a name. It may be folded."""
    out = subprocess.run(
        ["perf", "list", "--details", "metric"], capture_output=True, text=True, check=True
    ).stdout
    found = {}
    for name, body in re.findall(r"^  (\S+)\n((?:   .*\n)+)", out, re.M):
        texts = re.findall(r"^ {7}\[(.*(?:\n {8}.*)*)\]$", body, re.M)
        if len(texts) > 1:
            found.setdefault(name, re.sub(r"\n *", " ", re.sub(r",\n *", ",", texts[1])))
    return found


def count_of(name):
    value = 2166136261
    for byte in name.lower().encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value % 100003 if value % 23 else 0


class Nothing(Exception):
    """No value."""


class Evaluator:
    """Every part is a function without arguments, so that what is not taken is not done."""

    binary = [
        {"|": lambda a, b: int(a) | int(b)},
        {"^": lambda a, b: int(a) ^ int(b)},
        {"&": lambda a, b: int(a) & int(b)},
        {"<": lambda a, b: a < b, ">": lambda a, b: a > b},
        {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
        {"*": lambda a, b: a * b, "/": lambda a, b: a / b, "%": lambda a, b: math.fmod(int(a), int(b))},
    ]

    def __init__(self, metrics):
        self.metrics = {name.lower(): text for name, text in metrics.items()}

    def value(self, text):
        try:
            value = float(self.read(text)())
            return value if math.isfinite(value) else None
        except (Nothing, ZeroDivisionError, OverflowError):
            return None

    def read(self, text):
        tokens = [m.groups() for m in TOKEN.finditer(text.strip())]
        part, rest = self.choice(tokens)
        assert not rest, rest
        return part

    def choice(self, tokens):
        then, tokens = self.level(tokens, 0)
        if not tokens or tokens[0][2] != "if":
            return then, tokens
        condition, tokens = self.level(tokens[1:], 0)
        assert tokens[0][2] == "else"
        other, tokens = self.choice(tokens[1:])
        return (lambda: then() if condition() else other()), tokens

    def level(self, tokens, number):
        if number == len(self.binary):
            return self.operand(tokens)
        left, tokens = self.level(tokens, number + 1)
        while tokens and tokens[0][3] in self.binary[number]:
            operation = self.binary[number][tokens[0][3]]
            right, tokens = self.level(tokens[1:], number + 1)
            left = (lambda o, a, b: lambda: o(a(), b()))(operation, left, right)
        return left, tokens

    def operand(self, tokens):
        literal, number, name, sign = tokens[0]
        if literal:
            return (lambda: len(literal) % 3), tokens[1:]
        if number:
            return (lambda: float(number)), tokens[1:]
        if sign == "-":
            part, tokens = self.operand(tokens[1:])
            return (lambda: -part()), tokens
        if sign == "(":
            part, tokens = self.choice(tokens[1:])
            assert tokens[0][3] == ")"
            return part, tokens[1:]
        assert name, tokens
        if len(tokens) > 1 and tokens[1][3] == "(":
            return self.function(name, tokens[2:])
        plain = re.sub(r"\\(.)", r"\1", name.replace("@", "/"))
        if plain.lower() in self.metrics:
            return self.read(self.metrics[plain.lower()]), tokens[1:]
        return (lambda: float(count_of(plain))), tokens[1:]

    def function(self, name, tokens):
        if name in ("source_count", "has_event", "strcmp_cpuid_str"):
            plain = re.sub(r"\\(.)", r"\1", tokens[0][2].replace("@", "/"))
            return (lambda: len(name) + len(plain) % 2), tokens[2:]
        first, tokens = self.choice(tokens)
        second, tokens = self.choice(tokens[1:])
        made = {
            "min": lambda: min(first(), second()),
            "max": lambda: max(first(), second()),
            "d_ratio": lambda: first() / second() if second() else 0.0,
        }[name]
        return made, tokens[1:]


def main():
    metrics = perf_metrics()
    evaluator = Evaluator(metrics)
    mine = {name: evaluator.value(text) for name, text in metrics.items()}
    with open(sys.argv[1], encoding="utf-8") as lines:
        theirs = dict(line.rstrip("\n").split(" ", 1) for line in lines)
    wrong = 0
    for name in sorted(set(mine) | set(theirs)):
        text, value = theirs.get(name), mine.get(name)
        if text is None or name not in mine or "error" in text:
            same = False
        elif text == "-" or value is None:
            same = text == "-" and value is None
        else:
            same = math.isclose(float(text), value, rel_tol=1e-9, abs_tol=1e-12)
        if not same:
            print(f"{name}: {text}, not {value}")
            wrong += 1
    values = sum(value is not None for value in mine.values())
    print(f"{os.environ.get('PERF_CPUID', 'this CPU')}: {len(mine)} metrics, {values} values, {wrong} wrong")
    sys.exit(1 if wrong or not mine else 0)


main()
