"""count_paddle.py XPUC UNPACKED: of every operator that docs/paddle-operators.md says is read, how many the recorded programs
have: at least two of a ProgramDesc, one of PIR, and of those that it lists as compared with formulas two there."""
import collections
import glob
import json
import re
import subprocess
import sys

PAGE = open("docs/paddle-operators.md").read()
LISTED = PAGE[PAGE.index("## Compared with formulas"):PAGE.index("## Not imported")] if "## Compared" in PAGE else ""


def count(paths):
    """Operators of each form."""
    counts = {"ProgramDesc": collections.Counter(), "PIR": collections.Counter()}
    for path in paths:
        shown = json.loads(subprocess.run([sys.argv[1], "--describe=json", path], check=True, capture_output=True).stdout)
        for entry in shown["operators"]:
            counts["PIR" if path.endswith(".json") else "ProgramDesc"][entry["op"].removeprefix("pd_op.")] += entry["count"]
    return counts


def listed(form):
    """Those of the page's list; a name of PIR stands behind `pd_op.`."""
    names = [name for row in re.findall(r"^\| ([^|]*) \|", LISTED, re.M) for name in row.split(", ")]
    return {n.removeprefix("pd_op.") for n in names if n.startswith("pd_op.") == (form == "PIR")}


programs = [path for folder in ("tests/paddle", sys.argv[2]) for form in ("pdmodel", "json")
            for path in glob.glob(f"{folder}/**/*.{form}", recursive=True)]
formulas = [path for path in programs if "/formulas." in path]
recorded, computed, wrong = count(set(programs) - set(formulas)), count(formulas), 0
for form, least in (("ProgramDesc", 2), ("PIR", 1)):
    names = set(re.findall(rf"^\| {form} \| (\S+) \|", PAGE, re.M))
    few = {name for name in names if recorded[form][name] < least}
    for name in sorted(few - listed(form)):
        print(f"{form} {name}: {recorded[form][name]} recorded")
    for name in sorted(listed(form) - few - {"operators"}):
        print(f"{form} {name}: is listed, and {recorded[form][name]} are recorded, or there is no row")
    wrong += len(few ^ (listed(form) - {"operators"}))
    if form == "ProgramDesc":
        for name in sorted(name for name in listed(form) & few if computed[form][name] < 2):
            print(f"{name}: {computed[form][name]} of formulas")
            wrong += 1
    print(f"{form}: {len(names)} rows, {len(names - few)} recorded")
sys.exit(wrong > 0)
