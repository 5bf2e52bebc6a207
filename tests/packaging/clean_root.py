"""A clean root of Debian or Ubuntu, made by debootstrap, and layers over it in which programs run, apart from this machine's
processes and, unless told otherwise, without a network. Needs root."""
import os, pathlib, shutil, subprocess, sys

HOUSE = pathlib.Path(__file__).resolve().parents[2]
DOCKERS = "chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,audit_write,setfcap"
# In a mount and process namespace of its own: $1 is the folder of a root's layer, $2 the layers below it, the rest what runs in it.
ENTER = """set -e
mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" root "$1/root"
cd "$1/root"
shift 2
mount --rbind /dev dev
mount -t proc proc proc
mount -t tmpfs tmp tmp
"""
# A machine: the root is the root. A container: chroot, in which the kernel allows no user namespace.
MACHINE = ENTER + 'pivot_root . mnt\numount -l /mnt\nexec "$@"'
CONTAINER = ENTER + f'exec setpriv --bounding-set=-all,+{DOCKERS.replace(",", ",+")} --inh-caps=-all chroot . "$@"'


class Layer:
    """A root: what was written over the layers below it."""

    def __init__(self, place, below):
        self.place, self.below = place, below
        for part in ("upper", "work", "root"):
            (place / part).mkdir(parents=True)
        place.chmod(0o755)
        self.upper = place / "upper"

    def run(self, script, *argv, network=False):
        """(exit code, what it printed); with its end all of its processes end."""
        apart = ["unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child", *([] if network else ["--net"])]
        done = subprocess.run([*apart, "sh", "-c", script, "enter", self.place, ":".join(map(str, self.below)), *argv],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", stdin=subprocess.DEVNULL,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"})
        return done.returncode, done.stdout

    def add_network(self):
        """The names of hosts are found as here, and a mirror that is behind its release is taken as it is."""
        (self.upper / "etc/apt/apt.conf.d").mkdir(parents=True)
        shutil.copy("/etc/resolv.conf", self.upper / "etc")
        (self.upper / "etc/apt/apt.conf.d/99behind").write_text('Acquire::Check-Valid-Until "false";\n')


def tree_of(place):
    """The files that git knows, as they are, in a new folder."""
    place.mkdir(parents=True)
    files = subprocess.run(["git", "-C", HOUSE, "ls-files", "-z"], check=True, stdout=subprocess.PIPE).stdout
    pack = subprocess.run(["tar", "-C", HOUSE, "--null", "-cf-", "-T-"], input=files, check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-C", place, "--no-same-owner", "-xf-"], input=pack, check=True)


failures = []


def expect(ok, what):
    print(f"{'ok  ' if ok else 'FAIL'} {what}", flush=True)
    if not ok:
        failures.append(what)


def needed():
    """Ends the program where no root can be made."""
    if os.geteuid() or not shutil.which("debootstrap"):
        print("skipped: wanted root and debootstrap")
        sys.exit(77)


def bare_root(release, place):
    """A release of Debian, or of Ubuntu, from the mirror that debootstrap itself takes for it."""
    if (place / "usr").exists():
        return
    debian, scripts = release in ("bookworm", "trixie", "sid"), "/usr/share/debootstrap/scripts"
    script = f"{scripts}/{release if os.path.exists(f'{scripts}/{release}') else 'gutsy'}"  # all of Ubuntu's are one
    words = ["--components=main"] if debian else ["--no-check-gpg", "--components=main,universe"]
    subprocess.run(["debootstrap", "--variant=minbase", *words, release, place, "", script], check=True, stdout=subprocess.DEVNULL)
