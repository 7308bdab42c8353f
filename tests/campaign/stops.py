# SPDX-License-Identifier: Apache-2.0
"""What is done to a run: its processes are killed, interrupted or made to pause."""
import random
import signal
import time

from excuses import Excuses
from started_program import request_of, send, state_and_session

INTERRUPTS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
LONGEST_PAUSE_S = 0.02


class Stops:
    def __init__(self, dice: random.Random, excuses: Excuses, count):
        """`count(what)` is told of each."""
        self._dice, self._excuses, self._count = dice, excuses, count

    def apply(self, what: str, programs: list):
        """`programs`: the runner, and then the agents that a launcher started beside it."""
        getattr(self, "_" + what)(programs)

    def _runner(self, programs):
        if not programs[0].ends_within(0):
            programs[0].send(signal.SIGKILL)
            self._count("kills_of_the_runner")

    def _agent(self, programs):
        rank = self._dice.randrange(1, len(programs))
        if not programs[rank].ends_within(0):
            programs[rank].send(signal.SIGKILL)
            self._excuses.add(None, rank)
            self._count("kills_of_an_agent")

    def _group(self, programs):
        """As a control group is killed: all at about the same time, in any order. The runner may
        see and keep the end of another one before its own."""
        every = []
        for rank, program in enumerate(programs):
            workers = program.workers()
            every += [program.process, *workers]
            program.sent.append(signal.SIGKILL)
            for worker in workers:
                self._excuse(request_of(worker))
            if rank > 0:
                self._excuses.add(None, rank)
        self._dice.shuffle(every)
        for process in every:
            send(process, signal.SIGKILL)
        self._count("kills_of_the_group")

    def _worker(self, programs):
        program = self._dice.choice(programs)
        for _ in range(20):
            workers = program.workers()
            if workers or program.ends_within(0.001):
                break
        if not workers:
            return
        worker = self._dice.choice(workers)
        request = request_of(worker)
        # A number that is free again is not given to others at once.
        if state_and_session(worker)[1] == program.process and send(worker, signal.SIGKILL):
            self._excuse(request)
            self._count("kills_of_a_rank" if "rank" in request else "kills_of_a_worker")

    def _excuse(self, request: dict):
        """`request`: of a worker that is killed."""
        self._excuses.add(request.get("case", {}).get("name"),
                          request.get("rank", 0) if request else None)

    def _pause(self, programs):
        """Of the runner, an agent, or a worker; it goes on."""
        program = self._dice.choice(programs)
        process = self._dice.choice([program.process, *program.workers()])
        send(process, signal.SIGSTOP)
        time.sleep(self._dice.uniform(0, LONGEST_PAUSE_S))
        send(process, signal.SIGCONT)
        self._count("pauses")

    def _interrupt(self, programs):
        number = self._dice.choice(INTERRUPTS)
        to_all = self._dice.random() < 0.5
        for program in programs if to_all else programs[:1]:
            program.send(number)
        self._count("interrupts")

    def as_a_launcher(self, programs: list, have_met: bool):
        """Launchers end the others where one of theirs ends. Those that have met also have to end
        without that."""
        if len(programs) == 1 or not any(program.sent for program in programs):
            return
        time.sleep(self._dice.uniform(0, LONGEST_PAUSE_S))
        if have_met and self._dice.random() < 0.5:
            return
        for program in programs:
            if not program.ends_within(0) and signal.SIGTERM not in program.sent:
                program.send(signal.SIGTERM)
