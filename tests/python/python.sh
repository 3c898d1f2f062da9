# Read by the tests of the Python package, with what they test as argument: the interpreter (PYTHON, else python3) as
# $python, the build folder as $build; ends the test where the interpreter is too old.
: "${XPU_BUILD:?the build folder}"
build=$(cd "$XPU_BUILD" && pwd) python=${PYTHON:-python3}
. tests/checks.sh
unset XPU_RESOURCES XPU_ZIG MAKEFLAGS MAKELEVEL
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    echo "skipped: $1, as $python is no Python 3.9 or newer"
    exit 0
fi
