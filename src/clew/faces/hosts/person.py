"""The user whose memory a program keeps, where no option names one.

Every hook loads this module, so it imports nothing that takes time.
"""

from __future__ import annotations

import os

USER_VARIABLE = "CLEW_USER"


def own_user() -> str:
    """`CLEW_USER`, else the operating system's name of the user, as `getpass.getuser` finds it."""
    for variable in (USER_VARIABLE, "LOGNAME", "USER", "LNAME", "USERNAME"):
        name = os.environ.get(variable)
        if name:
            return name
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError as error:
        from clew.errors import InvalidInput

        raise InvalidInput("this system does not say who you are; name the user with --user") from error
