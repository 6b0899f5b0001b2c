"""Runs a module as `python -m` does, and prints every parser that it builds when it is about to parse: text of the help, and flags as argparse knows them."""
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
        hidden = action.help == argparse.SUPPRESS
        optional = action.nargs in ("?", "*")
        value = None if optional else action.nargs != 0
        negations = isinstance(action, getattr(argparse, "BooleanOptionalAction", ()))
        for name in action.option_strings:
            flags.append({"name": name, "value": False if negations else value, "hidden": hidden})


def add_optparse(parser):
    flags = []
    seen.append((parser, flags))
    options = list(parser.option_list)
    for group in parser.option_groups:
        options += group.option_list
    for option in options:
        for name in option._short_opts + option._long_opts:
            flags.append({"name": name, "value": bool(option.takes_value()), "hidden": option.help == optparse.SUPPRESS_HELP})


def finish():
    parsers = []
    for parser, flags in seen:
        prog = parser.prog or parser.get_prog_name()
        parsers.append({"prog": prog, "help": parser.format_help(), "flags": [{"name": f["name"], "value": f["value"]} for f in flags]})
    sys.stdout.write(json.dumps({"parsers": parsers}) + "\n")
    sys.stdout.flush()
    raise SystemExit(0)


def parse_argparse(self, *args, **kwargs):
    add_argparse(self)
    finish()


def parse_optparse(self, *args, **kwargs):
    add_optparse(self)
    finish()


argparse.ArgumentParser.parse_args = parse_argparse
argparse.ArgumentParser.parse_known_args = parse_argparse
optparse.OptionParser.parse_args = parse_optparse
module, arguments = sys.argv[1], sys.argv[2:]
if module == "pip" and arguments:
    # pip reads the command line twice; its commands are asked for by name.
    from pip._internal.commands import create_command

    add_optparse(create_command(arguments[0]).parser)
    finish()
sys.argv = [module, *arguments]
runpy.run_module(module, run_name="__main__", alter_sys=True)
