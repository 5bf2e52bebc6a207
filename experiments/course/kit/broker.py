"""Carries every message between the ranks of one run, and is the only way from one to another.

It waits until every rank waits, and then delivers one message, drawn by a seed: so a deadlock is seen at
once. A rank is dead when its socket is closed, or when it is silent while others wait."""
import random, select, socket, struct, time

BEGIN, SEND, RECEIVE, END, DIED = range(1, 6)  # from a rank
GO, TAKEN, MESSAGE, DEAD, FAIL = range(1, 6)   # to a rank
HEAD = struct.Struct("<iiii")                  # kind, the other rank, tag, how many numbers
ANYONE = -1
MOST = 1 << 22                                 # numbers of one message, whatever a case allows
FAILS = "no rank can go on: "
ENDED = "ended before its function had returned"


class Record:
    def __init__(self):
        self.log, self.failure, self.dead = [], "", set()  # log: (from, to, numbers, tag, depth)
        self.lost = []  # ranks whose program ended, or did what none may: the first is the cause

    def counted(self):
        sent, received = {}, {}
        for source, target, count, _, _ in self.log:
            sent[source], received[target] = sent.get(source, 0) + count, received.get(target, 0) + count
        most = lambda numbers: max(numbers, default=0)
        return {"messages": len(self.log), "depth": most(entry[4] for entry in self.log),
                "sent": most(sent.values()), "received": most(received.values()),
                "largest": most(entry[2] for entry in self.log)}

    def lines(self):
        """For whoever looks for a mistake: who sent what to whom, in the order of delivery."""
        told = [f"  {source} -> {target}  {count} numbers{f', tag {tag}' if tag else ''}, depth {depth}"
                for source, target, count, tag, depth in self.log]
        return told + [f"  {self.failure}"] * bool(self.failure) + [
            f"  rank {rank} is dead" for rank in sorted(self.dead)]


class Gone(Exception):
    """A rank is lost: why."""


class Links:
    """Sockets to the ranks 0, 1 …: one may be silent for `silence` seconds, and all is done in `seconds`."""

    def __init__(self, count, silence, seconds):
        self.silence, self.end, self.pairs = silence, time.monotonic() + seconds, [
            socket.socketpair() for _ in range(count)]
        self.sockets = [ours for ours, _ in self.pairs]
        for ours in self.sockets:
            ours.settimeout(silence)

    def theirs(self, rank):
        """The rank's end of it, to be inherited."""
        return self.pairs[rank][1]

    def keep(self, rank):
        """In a child that is to have this rank's end alone."""
        for number, (ours, other) in enumerate(self.pairs):
            ours.close()
            if number != rank:
                other.close()

    def started(self):
        """After all have inherited theirs: an end of file is seen from here on."""
        for _, other in self.pairs:
            other.close()

    def left(self):
        """Seconds, 0.1 at least."""
        return max(0.1, self.end - time.monotonic())

    def close(self):
        for pair in self.pairs:
            for end in pair:
                end.close()

    def read(self, rank):
        """(kind, other, tag, payload) of a rank's next frame."""
        try:
            kind, other, tag, count = HEAD.unpack(self.bytes_of(rank, HEAD.size))
            if not 0 <= count <= MOST:
                raise Gone(f"sent what is no message of 0 to {MOST} numbers")
            return kind, other, tag, self.bytes_of(rank, 4 * count)
        except (OSError, Gone) as why:
            self.sockets[rank].close()
            late = f"took more than {self.silence:g} s for one message"
            raise Gone(late if isinstance(why, TimeoutError) else ENDED if isinstance(why, OSError)
                       else why) from None

    def bytes_of(self, rank, count):
        parts, end = [], time.monotonic() + self.silence
        while count:
            part = self.sockets[rank].recv(min(count, 1 << 20))
            if not part or time.monotonic() > end:
                raise TimeoutError if part else ConnectionError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def write(self, rank, kind, other=0, tag=0, payload=b""):
        try:
            self.sockets[rank].sendall(
                HEAD.pack(kind, other, tag, len(payload) if kind == FAIL else len(payload) // 4) + payload)
        except OSError:
            self.sockets[rank].close()

    def open(self, rank):
        return self.sockets[rank].fileno() >= 0


class Run:
    """One call of the student's function by `size` ranks."""

    def __init__(self, links, size, seed):
        self.links, self.size, self.draw, self.record = links, size, random.Random(seed), Record()
        self.clock, self.waits, self.computing, self.ended = [0] * size, {}, set(range(size)), set()

    def conduct(self):
        self.listen()  # until all have begun
        for rank in range(self.size):
            if rank in self.waits:
                self.answer(rank, GO, rank, self.size)
        while True:
            self.listen()
            if not self.waits:
                return self.record
            self.advance()

    def answer(self, rank, *words, **named):
        del self.waits[rank]
        self.computing.add(rank)
        self.links.write(rank, *words, **named)

    def listen(self):
        """Until each rank waits, has ended or is dead."""
        end = time.monotonic() + self.links.silence
        while self.computing:
            for rank in [rank for rank in self.computing if not self.links.open(rank)]:
                self.lose(rank, "was lost before")
            sockets = {self.links.sockets[rank]: rank for rank in self.computing}
            ready = select.select(list(sockets), [], [], max(0, end - time.monotonic()))[0] if sockets else []
            if sockets and not ready:
                for rank in sorted(self.computing):
                    self.links.sockets[rank].close()
                    self.lose(rank, f"was silent for {self.links.silence:g} s, and others wait for it")
            for rank in (sockets[s] for s in ready):
                try:
                    self.hear(rank, *self.links.read(rank))
                except Gone as why:
                    self.lose(rank, why)
                end = time.monotonic() + self.links.silence

    def lose(self, rank, why):
        self.computing.discard(rank)
        self.record.dead.add(rank)
        self.record.lost.append(rank)
        self.record.failure = self.record.failure or f"rank {rank} {why}"

    def hear(self, rank, kind, other, tag, payload):
        self.computing.discard(rank)
        if kind == DIED:
            self.record.dead.add(rank)
        elif kind == END:
            self.ended.add(rank)
        else:
            self.waits[rank] = (kind, other, tag, payload)

    def advance(self):
        """All wait: tells of the dead, or delivers one message, or says why nothing can be delivered."""
        if time.monotonic() > self.links.end:
            for rank in sorted(self.waits):
                self.links.sockets[rank].close()
                self.lose(rank, "still sends and receives after all the time that a test has")
            return self.waits.clear()
        dead = self.record.dead
        cut = [rank for rank, wait in self.waits.items() if wait[0] in (SEND, RECEIVE) and wait[1] in dead]
        for rank in sorted(cut):
            self.answer(rank, DEAD, self.waits[rank][1])
        if cut:
            return
        pairs = [(source, wait[1]) for source, wait in sorted(self.waits.items()) if wait[0] == SEND
                 and self.waits.get(wait[1],
                                    "  ")[0] == RECEIVE and self.waits[wait[1]][1] in (ANYONE, source)]
        if pairs:
            self.deliver(*self.draw.choice(pairs))
        else:
            self.fail()

    def deliver(self, source, target):
        _, _, tag, payload = self.waits[source]
        depth = self.clock[source] + 1
        self.clock[target] = max(self.clock[target], depth)
        self.record.log.append((source, target, len(payload) // 4, tag, depth))
        self.answer(target, MESSAGE, source, tag, payload)
        self.answer(source, TAKEN)

    def fail(self):
        """Each waits for another: all of them are told."""
        told = []
        for rank, (kind, other, _, _) in sorted(self.waits.items()):
            what = {SEND: f"until {other} receives", RECEIVE: f"for {other}" if other != ANYONE
                    else "for anyone"}.get(kind, "for nothing known")
            told.append(f"{rank} waits {what}" + (", which has returned" if other in self.ended else "")
                        + (f", and there is no rank {other}" if other >= self.size else ""))
        self.record.failure = self.record.failure or FAILS + "; ".join(told)
        for rank in sorted(self.waits):
            self.answer(rank, FAIL, payload=self.record.failure.encode())
