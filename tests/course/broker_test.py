#!/usr/bin/env python3
"""broker_test.py SOURCE: the course's broker delivers in orders that its seed draws, counts what it carries, and tells deadlocks, deaths,
silence and nonsense, each in words of its own."""
import pathlib, sys, threading

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(sys.argv[1]) / "experiments/course/kit")]
import broker
from broker import ANYONE, BEGIN, DIED, END, HEAD, RECEIVE, SEND


class Rank(threading.Thread):
    """A rank that sends its frames one after the other, and keeps what it is told."""

    def __init__(self, link, frames):
        super().__init__(daemon=True)
        self.link, self.frames, self.told = link, frames, []

    def run(self):
        try:
            for frame in self.frames:
                self.link.sendall(frame if isinstance(frame, bytes) else HEAD.pack(*frame[:3], len(frame[3])) + b"".join(frame[3]))
                if isinstance(frame, bytes) or frame[0] in (END, DIED):
                    continue
                kind, other, _, count = HEAD.unpack(self.link.recv(HEAD.size, 0x100))  # all of it
                self.told.append((kind, other, self.link.recv(count if kind == broker.FAIL else 4 * count, 0x100)))
        except (OSError, ValueError, broker.struct.error):
            pass  # the broker has closed it


def run(*programs, seed=1, silence=5.0, ends=True):
    """(the record, what each rank was told after it began)"""
    links = broker.Links(len(programs), silence, 20)
    begin, end = (BEGIN, 0, 0, []), [(END, 0, 0, [])] if ends else []
    ranks = [Rank(links.theirs(i), [begin, *frames, *end]) for i, frames in enumerate(programs)]
    for rank in ranks:
        rank.start()
    record = broker.Run(links, len(programs), seed).conduct()
    links.close()
    for rank in ranks:
        rank.join(5)
    return record, [rank.told[1:] for rank in ranks]


def send(to, count=1, tag=0):
    return (SEND, to, tag, [b"abcd"] * count)


def receive(source=ANYONE):
    return (RECEIVE, source, 0, [])


# What is counted. 0 gets two numbers of 1 and three of 2, which had heard of 1: a chain of two.
record, told = run([receive(1), receive(2)], [send(2, 5), send(0, 2)], [receive(1), send(0, 3, tag=7)])
assert record.counted() == {"messages": 3, "depth": 2, "sent": 7, "received": 5, "largest": 5}, record.counted()
assert sorted(record.log) == [(1, 0, 2, 0, 1), (1, 2, 5, 0, 1), (2, 0, 3, 7, 2)] and not record.failure and not record.dead
assert told[0] == [(broker.MESSAGE, 1, b"abcd" * 2), (broker.MESSAGE, 2, b"abcd" * 3)] and told[2][1][0] == broker.TAKEN

# The order of arrival is the seed's: the same each time, and all orders come.
orders = {seed: [entry[0] for entry in run([receive()] * 3, [send(0)], [send(0)], [send(0)], seed=seed)[0].log] for seed in range(40)}
again = [entry[0] for entry in run([receive()] * 3, [send(0)], [send(0)], [send(0)], seed=7)[0].log]
assert again == orders[7] and len(set(map(tuple, orders.values()))) == 6, orders

# Deadlocks.
for programs, words in [(([send(1), receive(1)], [send(0), receive(0)]), "0 waits until 1 receives; 1 waits until 0 receives"),
                        (([receive(1)], []), "0 waits for 1, which has returned"), (([receive()], [receive()]), "0 waits for anyone; 1 waits for anyone"),
                        (([send(5)], []), "0 waits until 5 receives, and there is no rank 5")]:
    record, told = run(*programs)
    assert record.failure == broker.FAILS + words and told[0][-1] == (broker.FAIL, 0, record.failure.encode()), (record.failure, told)

# Deaths: whoever sends to the dead or receives of it is told, others are not.
record, told = run([receive(1), send(2)], [(DIED, 0, 0, [])], [send(1), receive(0)])
assert record.dead == {1} and not record.failure and not record.lost, vars(record)
assert told[0][0] == (broker.DEAD, 1, b"") == told[2][0] and told[2][1][0] == broker.MESSAGE, told

# Nonsense and silence.
for frames, words in [([b"x" * HEAD.size], "sent what is no message"), ([HEAD.pack(SEND, 0, 0, broker.MOST + 1)], "sent what is no message"),
                      ([HEAD.pack(SEND, 0, 0, -1)], "sent what is no message"), ([], "was silent for 0.2 s")]:
    record, told = run([receive(1)], frames, silence=0.2, ends=False)
    assert record.failure.startswith("rank 1 " + words) and record.lost[0] == 1 and told[0] == [(broker.DEAD, 1, b"")], (record.failure, told)
print("the broker counts, draws orders, and tells deadlocks, deaths, nonsense and silence")
