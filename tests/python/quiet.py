"""Whether something prints."""
import os
import sys
import tempfile


def printed_by(check):
    """What the check prints, by any way."""
    with tempfile.TemporaryFile() as file:
        kept = [os.dup(1), os.dup(2)]
        sys.stdout.flush()
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        try:
            check()
        finally:
            sys.stdout.flush()
            for number, old in zip((1, 2), kept):
                os.dup2(old, number)
        file.seek(0)
        return file.read().decode()


def quiet(check):
    """The check, which has to print nothing."""
    printed = printed_by(check)
    assert not printed, printed
