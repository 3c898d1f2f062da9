"""Whether work that is done many times leaves something behind."""
import gc
import os


def resident():
    """Bytes of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def leaves_nothing(work, times=20, before=5, most=4 << 20):
    """Many times the work leaves no memory and no open file behind."""
    def state():
        gc.collect()
        return resident(), len(os.listdir("/proc/self/fd"))

    for _ in range(before):
        work()
    first = state()
    for _ in range(times):
        work()
    last = state()
    assert last[0] - first[0] < most and last[1] <= first[1], (first, last)
