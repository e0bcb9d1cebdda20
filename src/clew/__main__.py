"""Where the `clew` command starts: a host's hook takes a short way, everything else the ordinary one.

A hook runs at every prompt and every tool call, while a person and their agent wait, so it must not pay for
loading a command line that it does not use.
"""

from __future__ import annotations

import sys


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and "--help" not in arguments:
        from clew.faces.hosts.hook import run

        return run(arguments[1:])
    from clew.faces.cli.main import leave
    from clew.faces.cli.main import main as run_command

    return leave(run_command(arguments))


if __name__ == "__main__":
    sys.exit(main())
