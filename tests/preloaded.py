"""Python programs that start at once: forked from a process that has imported what they need.

`python -m tests.preloaded SOCKET MODULE` calls `load` of a module, and then serves programs:
`python -IS tests/preloaded.py SOCKET -m MODULE ARGUMENT ...` does what `python -m MODULE ARGUMENT
...` does, with the files, the folder and the environment of whoever asks. It ends with the same
code or signal, and hands on the signals that it is sent; SIGUSR1 is handed on as SIGKILL.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

HANDED_ON = {signal.SIGINT: signal.SIGINT, signal.SIGTERM: signal.SIGTERM}
HANDED_ON[signal.SIGUSR1] = signal.SIGKILL


def serve(path, module):
    """Serve programs until standard input ends; return in each of their processes, to run it."""
    importlib.import_module(module).load()
    gc.freeze()  # else each program would look through all of it, and copy it, when it ends
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        while listening in select.select([listening, 0], [], [])[0]:
            connection, _ = listening.accept()
            if _fork() == 0:
                listening.close()
                return _attended(connection)
            connection.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:  # those that have ended
                    pass
    return sys.exit


def _fork():
    with warnings.catch_warnings(action="ignore"):  # of threads of PyArrow's memory allocator
        return os.fork()


def _attended(connection):
    """Fork a program, which is returned there; here tell how it ends, and end."""
    message, files, *_ = socket.recv_fds(connection, 1 << 20, 3)
    while not message.endswith(b"\n"):
        message += connection.recv(1 << 20)
    asked = json.loads(message)
    if pid := _fork():
        connection.sendall(b"%d\n" % pid)
        connection.sendall(b"%d\n" % os.waitpid(pid, 0)[1])
        os._exit(0)
    for place, file in enumerate(files):
        os.dup2(file, place)
        os.close(file)
    connection.close()
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    _, module, *arguments = asked["arguments"]

    def program():
        import runpy

        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)

    return program


def ask(path, *arguments):
    """Let a program be run; returns how it ended."""
    asked = {"folder": os.getcwd(), "environment": {**os.environ}, "arguments": arguments}
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_ON)  # until it is known who is to have them
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [json.dumps(asked).encode() + b"\n"], [0, 1, 2])
        answers = connection.makefile()
        pid = int(answers.readline())

        def hand_on(sent, _):
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(pid, HANDED_ON[sent])

        for sent in HANDED_ON:
            signal.signal(sent, hand_on)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDED_ON)
        return int(answers.readline())


def main(path, *arguments):
    if arguments[0] != "-m":
        serve(path, *arguments)()
        return
    status = ask(path, *arguments)
    # When Python ends it takes its handlers away: a signal then would be how this process ended.
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_ON)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    sys.exit(os.WEXITSTATUS(status))


class Started(subprocess.Popen):
    """A program that was asked for: what is killed is the program itself."""

    def __init__(self, *args, **options):
        # Inherited: a signal before it knows whom to hand it on to would end the one that asks.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_ON)
        try:
            super().__init__(*args, **options)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def send_signal(self, number):
        super().send_signal(signal.SIGUSR1 if number == signal.SIGKILL else number)


@contextmanager
def preloaded(module, environment=None):
    """The beginning of a command that goes on with -m MODULE, and finds everything loaded."""
    with tempfile.TemporaryDirectory() as folder:
        path, root = os.path.join(folder, "socket"), Path(__file__).parents[1]
        command = [sys.executable, "-m", "tests.preloaded", path, module]
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "start_new_session": True}
        with subprocess.Popen(command, cwd=root, env=environment, **options) as server:
            assert server.stdout.readline() == b"ready\n"
            yield [sys.executable, "-IS", __file__, path]
            server.stdin.close()
        with suppress(ProcessLookupError):  # but for programs of tests that failed
            os.killpg(server.pid, signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
