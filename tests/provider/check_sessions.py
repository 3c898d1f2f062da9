"""Ten thousand runs of a session, a hundred sessions, eight threads, and what two threads do more than one.
check_sessions.py [CHECK]..."""
import hashlib
import os
import statistics
import sys
import threading
import time

from check_provider import DIGITS, drawn
from common import FOLDER, open_session, run_checks, same
from leaks import resident


def kept():
    path = os.path.join(FOLDER, "sessions.onnx")
    if not os.path.exists(path):
        open_session(DIGITS, entries={"ep.context_enable": "1", "ep.context_file_path": path})
    return path


def files():
    return len(os.listdir("/proc/self/fd"))


def check_runs():
    session = open_session(kept())
    feeds = drawn(session)
    wanted = session.run(None, feeds)[0]
    marks = []
    for number in range(10000):
        assert same(session.run(None, feeds)[0], wanted), number
        if number % 1000 == 999:
            marks.append(resident())
    growth = [(m - marks[0]) // 1024 for m in marks]
    print("10,000 runs: KB more than after 1,000: %s" % growth)
    assert growth[-1] <= 128, growth  # 14 bytes a run


def check_opened():
    marks = []
    for number in range(100):
        session = open_session(kept())
        session.run(None, drawn(session))
        del session
        if number % 10 == 9:
            marks.append((resident(), files()))
    print("100 sessions: %d KB more than after 10" % ((marks[-1][0] - marks[0][0]) // 1024))
    assert marks[-1][0] - marks[0][0] < 1 << 20 and marks[-1][1] <= marks[0][1], marks


def at_once(count, work):
    """The seconds that count threads take for work(number) each."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def check_eight():
    session = open_session(kept())
    feeds = [drawn(session) for _ in range(8)]
    wanted = [session.run(None, f)[0] for f in feeds]
    assert len({w.tobytes() for w in wanted}) == 8
    wrong = []

    def work(number):
        wrong.extend(i for i in range(200) if not same(session.run(None, feeds[number])[0], wanted[number]))

    at_once(8, work)
    assert not wrong, len(wrong)


def check_two():
    """The median of pairs that follow each other. What two threads can do at all here, where others may use the machine, is
    measured between them, with hashes: where that is less than 1.9, the limit is less."""
    session = open_session(kept())
    feeds = drawn(session)

    def work(_):
        for _ in range(100):
            session.run(None, feeds)

    def apart(_):
        hashlib.pbkdf2_hmac("sha256", b"word", b"salt", 60000)

    at_once(2, work)
    ratios, possible = [], []
    for _ in range(25):
        for list_of, what in ((ratios, work), (possible, apart)):
            list_of.append(2 * at_once(1, what) / at_once(2, what))
    ratio, most = statistics.median(ratios), statistics.median(possible)
    print("two threads do %.2f times the runs of one, and %.2f times the hashes: medians of 25" % (ratio, most))
    assert ratio >= 1.7 * min(1, most / 1.9), (sorted(ratios), sorted(possible))


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
