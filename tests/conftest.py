"""What all tests share."""

import signal

from hypothesis import settings

# A background job of a shell is started with Ctrl-C ignored, and so would be the processes that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("any machine", deadline=None)  # a loaded machine is no failure
settings.load_profile("any machine")
