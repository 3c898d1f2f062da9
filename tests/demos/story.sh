# What the tests of the story share, for sourcing
. "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"
tell=$XPU_BUILD/examples/story words=examples/story/tok512.bin
story=$(cat tests/demos/story.txt)
