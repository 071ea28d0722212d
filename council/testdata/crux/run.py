"""Passes if the answer is the text of what the function in the question returns.

Letter case, blanks, quotes and outer brackets are ignored, because answers of the form text have lost some of them.
"""
import re
import sys

code, call = re.findall(r"\[PYTHON\]\n(.*?)\nassert (f\(.*?\)) == \?\?\n\[/PYTHON\]", open("/question").read(), re.S)[-1]
names = {}
exec(code, names)


def plain(text):
    return re.sub(r"[\s'\"]", "", text.lower()).strip("()[]{}.,")


if plain(sys.stdin.read()) != plain(repr(eval(call, names))):
    print("running the function on this input returns another value")
    sys.exit(1)
