"""How many times as fast as baseline.cpp a program is: both compute the same fresh rows in turn, in memory
that they share with us (clocked.cpp), and the time is taken here, as the handout's section "The clock" says.
All of a program's time counts, also what it spends before it is told and after it has said that it is done."""
import fcntl, math, mmap, os, random, select, signal, struct, time

ROWS, WIDTH, ROUNDS, CHECKED, EPS = 512, 1024, 41, 8, 1e-6
ROOM, TRIES, SECONDS = 1e-5, 5, 10  # how far off a value may be; the most tries; for a round
SIZE = ROWS * WIDTH * 4


class Fault(Exception):
    """What is wrong with the program, in a line."""


class Program:
    """One that computes. start(fds) starts it with these files as 0, 1 …; tasks() lists processes; end() ends it."""

    def __init__(self, start, tasks, end):
        self.tasks, self.end, self.spent = tasks, end, 0
        self.memory_fd = os.memfd_create("rows", os.MFD_ALLOW_SEALING)
        os.ftruncate(self.memory_fd, 2 * SIZE + 4 * WIDTH)
        fcntl.fcntl(self.memory_fd, fcntl.F_ADD_SEALS,
                    fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
        self.memory = mmap.mmap(self.memory_fd, 2 * SIZE + 4 * WIDTH)
        go, self.go = os.pipe()
        self.done, done = os.pipe()
        nothing = os.open(os.devnull, os.O_RDWR)
        start([go, nothing, nothing, done, self.memory_fd])
        for fd in (go, done, nothing):
            os.close(fd)
        self.wait()  # it is ready
        self.first = self.tasks()
        core = {max(os.sched_getaffinity(0))}
        for task in self.first:
            os.sched_setaffinity(task, core)

    def wait(self):
        if not select.select([self.done], [], [], SECONDS)[0]:
            raise Fault(f"not done after {SECONDS} s")
        if os.read(self.done, 1) != b"\0":
            raise Fault("the program ended while it was measured")

    def cpu(self):
        """Nanoseconds of the processor so far (Linux: clock −8 · pid − 6 is that of process pid)."""
        try:
            return sum(time.clock_gettime_ns(-8 * task - 6) for task in self.first)
        except OSError:
            raise Fault("the program ended while it was measured") from None

    def round(self, rows):
        """Nanoseconds for these rows. It is left stopped."""
        self.memory[:SIZE] = rows
        os.write(self.go, b"\0")
        self.wait()
        for task in self.first:
            os.kill(task, signal.SIGSTOP)
        while not all(map(stopped, self.first)):
            pass  # until then it may go on on another core
        if select.select([self.done], [], [], 0)[0]:
            raise Fault("it says more than once that it is done, or it ended")
        spent, self.spent = self.spent, self.cpu()
        if self.tasks() != self.first:
            raise Fault("it started another process")
        return self.spent - spent

    def close(self):
        self.end()
        for fd in (self.go, self.done, self.memory_fd):
            os.close(fd)

    def resume(self):
        for task in self.first:
            os.kill(task, signal.SIGCONT)


def stopped(task):
    try:
        with open(f"/proc/{task}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "TtZ"
    except OSError:
        raise Fault("the program ended while it was measured") from None


def fresh_rows(draw):
    """Floats between −8 and 8 that nobody knows yet: the highest byte is one of six, the others are any."""
    rows = bytearray(draw.randbytes(SIZE))
    rows[3::4] = rows[3::4].translate((b"\x3e\x3f\x40\xbe\xbf\xc0" * 43)[:256])
    return rows


def check(program, rows, weight, draw):
    for n in draw.sample(range(ROWS), CHECKED):
        x = struct.unpack_from(f"{WIDTH}f", rows, n * WIDTH * 4)
        got = struct.unpack_from(f"{WIDTH}f", program.memory, SIZE + 4 * WIDTH + n * WIDTH * 4)
        largest = max(x)
        e = [math.exp(v - largest) for v in x]
        scale = 1 / math.sqrt(sum(v * v for v in e) / WIDTH + EPS * sum(e) ** 2)
        for c, (v, w, g) in enumerate(zip(e, weight, got)):
            if not abs(v * scale * w - g) <= ROOM * abs(v * scale * w):
                raise Fault(
                    f"y[{n}, {c}] is wrong while it is measured: wanted {v * scale * w:.9g}, got {g:.9g}")


def ratio(baseline, program):
    """(times as fast, milliseconds of both)"""
    draw = random.Random(os.urandom(32))
    weight = [draw.choice([0.5, 1.0, 1.5]) for _ in range(WIDTH)]
    for each in (baseline, program):
        each.memory[SIZE:SIZE + 4 * WIDTH] = struct.pack(f"{WIDTH}f", *weight)
    spent = []
    for _ in range(ROUNDS + 1):
        rows, both = fresh_rows(draw), []
        for each in (baseline, program):
            both.append(each.round(rows))
            check(each, rows, weight, draw)
            each.resume()
        spent.append(both)
    spent = spent[1:]  # the first one touched the memory
    slow, fast = (min(times) / 1e6 for times in zip(*spent))
    return slow / fast, (slow, fast)


def measured(start_baseline, start_program, enough):
    """(times as fast, a line of how it was measured, what is wrong with the program or None): the best of
    TRIES, or the first that is `enough`. start_…() makes a Program."""
    best, said = 0.0, ""
    for attempt in range(1, TRIES + 1):
        programs = []
        try:
            programs += [start_baseline()]
            programs += [start_program()]
            times, both = ratio(*programs)
        except Fault as fault:
            return 0.0, "", str(fault)
        finally:
            for each in programs:
                each.close()
        if times > best:
            best, said = times, f"{times:.2f} times as fast: {both[1]:.3f} ms of processor time, baseline {both[0]:.3f} ms"
        if best >= enough:
            break
    return best, f"{said}; best of {attempt}" if attempt > 1 else said, None
