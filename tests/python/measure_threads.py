"""How many runs of digits on func one session makes in a second, by one thread and by two: measure_threads.py [SECONDS]

The exit status is 1 where two make less than 1.7 times those of one in the best of five measurements.
"""
import array
import sys
import threading
import time

import xpu

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 1
LEAST = 1.7


def rate(session, count, value):
    runs, end = [0] * count, time.time() + SECONDS

    def work(i):
        while time.time() < end:
            session.run(value)
            runs[i] += 1

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return sum(runs) / SECONDS


def main():
    value = xpu.Tensor(array.array("f", [i * 37 % 101 / 101 for i in range(256)]), "float32", (1, 1, 16, 16))
    program = xpu.compile("examples/digits/digits.onnx", shapes={"x": ("1..16", 1, 16, 16)})
    with program.session("func") as session:
        rate(session, 2, value)
        pairs = [(rate(session, 1, value), rate(session, 2, value)) for _ in range(5)]
    print("one thread %s runs a second, two %s: %s times as many" % tuple(
        " ".join(form % n for n in numbers) for form, numbers in
        (("%.0f", [a for a, _ in pairs]), ("%.0f", [b for _, b in pairs]), ("%.2f", [b / a for a, b in pairs]))))
    return 0 if max(b / a for a, b in pairs) >= LEAST else 1


sys.exit(main())
