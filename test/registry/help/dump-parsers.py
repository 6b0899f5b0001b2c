"""Runs modules as `python -m` does, and prints the parsers that they have built when they are about to parse: text of the help, and flags as argparse knows them."""
import argparse, json, optparse, runpy, sys

seen = []


def add_argparse(parser):
    if any(parser is other for other, _ in seen):
        return
    flags = []
    seen.append((parser, flags))
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                add_argparse(child)
        optional = action.nargs in ("?", "*")
        value = None if optional else action.nargs != 0
        negations = isinstance(action, getattr(argparse, "BooleanOptionalAction", ()))
        for name in action.option_strings:
            flags.append({"name": name, "value": False if negations else value})


def add_optparse(parser):
    flags = []
    seen.append((parser, flags))
    options = list(parser.option_list)
    for group in parser.option_groups:
        options += group.option_list
    for option in options:
        for name in option._short_opts + option._long_opts:
            flags.append({"name": name, "value": bool(option.takes_value())})


class Parsing(BaseException):
    """A module is about to read its command line: it has told all it knows."""


def parse_argparse(self, *args, **kwargs):
    add_argparse(self)
    raise Parsing


def parse_optparse(self, *args, **kwargs):
    add_optparse(self)
    raise Parsing


def dump(module, arguments):
    if module == "pip" and arguments:
        # pip reads the command line twice; its commands are asked for by name.
        from pip._internal.commands import create_command

        add_optparse(create_command(arguments[0]).parser)
        return
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


argparse.ArgumentParser.parse_args = parse_argparse
argparse.ArgumentParser.parse_known_args = parse_argparse
optparse.OptionParser.parse_args = parse_optparse
wanted = sys.argv[1:]
parsers = []
for one in wanted:
    module, *arguments = one.split(" ")
    seen.clear()
    try:
        dump(module, arguments)
    except BaseException:
        pass
    for parser, flags in seen:
        prog = one if module == "pip" else parser.prog or parser.get_prog_name()
        parsers.append({"prog": prog, "help": parser.format_help(), "flags": flags})
sys.__stdout__.write(json.dumps({"parsers": parsers}) + "\n")
