#!/usr/bin/env python3
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../emitters/python"))
# region tools
from typing import Annotated

from toolable import fail, run, tool

Text = Annotated[str, "The text to look at"]


@tool(summary="Count lines, words and characters of a text", read_only=True, examples=[{"input": {"text": "to be or not to be"}}])
def count_words(text: Text):
    return {"lines": len(text.splitlines()), "words": len(text.split()), "characters": len(text)}


@tool(summary="Find the lines that contain a word", read_only=True)
def find_lines(text: Text, word: Annotated[str, "What to look for"]):
    lines = [line for line in text.splitlines() if word in line]
    if not lines:
        fail("NOT_FOUND", "no line contains '%s'" % word, suggestion="Try a shorter word", field="word")
    return lines


run()
# endregion
