from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gitticks.cli.app import gt as app
from gitticks.cli.catalogue import CATALOGUE, CatalogueEntry
from gitticks.cli.options import Command
from gitticks.cli.text import width
from tests.cli.support import gt


def _is_group(entry: CatalogueEntry) -> bool:
    """True for a command that only holds others, which have the examples."""
    return isinstance(entry.load(), click.Group)


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_every_help_opens_with_an_example_and_says_what_the_catalogue_says(
    tmp_path: Path, entry: CatalogueEntry
) -> None:
    ran = gt(entry.name, "--help", at=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    examples, usage, summary = ran.out.split("\n\n")[:3]
    assert all(line.startswith("  ") and "gt " in line for line in examples.splitlines())
    assert usage.startswith(f"Usage: gt {entry.name}")
    assert " ".join(summary.split()) == entry.summary


@pytest.mark.parametrize("columns", [52, 60])
def test_help_has_the_width_of_the_terminal(tmp_path: Path, columns: int) -> None:
    for words in [["--help"], *([entry.name, "--help"] for entry in CATALOGUE)]:
        out = gt(*words, at=tmp_path, columns=columns).out
        text = out.partition("\n\n")[2].partition("\n\n")[2]  # what is to be typed stays whole
        assert [line for line in text.splitlines() if width(line) > columns] == [], words


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_an_unknown_option_is_wrong_usage(tmp_path: Path, entry: CatalogueEntry) -> None:
    ran = gt(entry.name, "--no-such-thing", at=tmp_path)
    assert ran.code in (2, 64)
    assert ran.err.startswith("error: no such option")


def test_the_help_of_all_opens_with_examples_too(tmp_path: Path) -> None:
    examples, usage, summary = gt("--help", at=tmp_path).out.split("\n\n")[:3]
    assert examples.splitlines()[0] == "  gt init"
    assert usage.startswith("Usage: gt [OPTIONS]")
    assert summary.startswith("  Tasks for people and coding agents")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["stats", "--html"], "gt stats --help"),
        (["create", "x", "--awaiting"], "gt create --help"),
        (["hooks", "install", "--nope"], "gt hooks install --help"),
        (["--nope"], "gt --help"),
    ],
)
def test_wrong_usage_names_the_help_of_the_command_that_was_meant(
    tmp_path: Path, words: list[str], hint: str
) -> None:
    ran = gt(*words, at=tmp_path)
    assert ran.code == 2
    assert ran.err.endswith(f"\n\nhint: `{hint}`\n")


def test_a_command_that_is_nearly_right(tmp_path: Path) -> None:
    assert (
        gt("lst", at=tmp_path).seen
        == """\
--- 2
error: no command `lst`; did you mean `gt list`?

hint: `gt --help`
"""
    )


SUBCOMMANDS = [
    (entry.name, name)
    for entry in CATALOGUE
    if _is_group(entry)
    for name in getattr(entry.load(), "commands", {})
]


@pytest.mark.parametrize(("group", "name"), SUBCOMMANDS)
def test_the_help_of_a_command_within_a_group_opens_with_an_example(
    tmp_path: Path, group: str, name: str
) -> None:
    example, usage, *_ = gt(group, name, "--help", at=tmp_path).out.split("\n\n")
    assert all(line.startswith(f"  gt {group} {name}") for line in example.splitlines())
    assert usage.startswith(f"Usage: gt {group} {name}")


def _examples(command: click.Command) -> Iterator[str]:
    if isinstance(command, Command):
        yield from command.examples
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _examples(found)


@pytest.mark.parametrize("example", sorted(one for one in set(_examples(app)) if "%O" not in one))
def test_every_example_is_understood_as_printed(example: str) -> None:
    typed = re.sub(r".*\$\((.*)\).*", r"\1", example)
    name, *words = shlex.split(re.split(" [|<>] ", typed)[0])
    assert name == "gt"
    command: click.Command = app
    while isinstance(command, click.Group) and words:
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            break
        command = found
        del words[0]
    # A command remembers the names of its help option from whoever asks first.
    command.make_context("gt", words, help_option_names=["-h", "--help"]).close()
