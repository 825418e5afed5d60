"""What holds for every test: the processes that it starts obey signals as they do in a terminal."""

import signal


def _obey_signals() -> None:
    """A shell's background job ignores Ctrl-C, and so would all that tests start; a handler is not passed on to them.

    SIGPIPE and SIGXFSZ are ignored by Python itself, which gives them back to its children.
    """
    for number in {signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM}:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


_obey_signals()
