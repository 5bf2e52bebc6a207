"""The room a program runs in: namespaces of its own for users, mounts, processes, network, IPC and the host's name. It sees the
system's programs and libraries and the paths that are named; it writes only where named; it has no capability. When the
room's first process ends, all others of the room end too, and so do its shared memory, message queues and keys."""
import os, shutil

SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/sys/devices/system", "/sys/fs/cgroup"]
DEVICES = ["/dev/null", "/dev/zero", "/dev/urandom"]

# By unshare(1), as root of a new user namespace. Its words: "ro PATH" or "rw PATH" …, "--", the folder, the program's words.
# The room is put together over /sys/kernel, which no program needs, and becomes the root.
SCRIPT = """set -e
mount -t tmpfs -o mode=755 room /sys/kernel
while [ "$1" != -- ]; do
  if [ -d "$2" ]; then mkdir -p "/sys/kernel$2"; else mkdir -p "/sys/kernel${2%/*}"; fi
  [ -d "$2" ] || : > "/sys/kernel$2"
  mount --rbind "$2" "/sys/kernel$2"
  [ "$1" = rw ] || findmnt -nlRo VFS-OPTIONS,TARGET -M "/sys/kernel$2" | while read -r options place; do
    mount -o "remount,bind,$options,ro" "$place"  # what is mounted there, and on a folder below it
  done
  shift 2
done
mkdir -p /sys/kernel/proc "/sys/kernel$2"
mount -t proc proc /sys/kernel/proc
cd /sys/kernel
pivot_root . .
umount -l .
mount -o remount,bind,ro /
echo 0 > /proc/sys/user/max_user_namespaces
cd "$2"
shift 2
set +e
setpriv --no-new-privs --bounding-set=-all --inh-caps=-all "$@"
exit $?
"""


def by_bwrap(argv, folder, readable, writable):
    words = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--proc", "/proc"]
    for option, paths in (("--ro-bind-try", SYSTEM), ("--dev-bind-try", DEVICES), ("--ro-bind", readable), ("--bind", writable)):
        for path in paths:
            words += [option, path, path]
    return [shutil.which("bwrap"), *words, "--dir", folder, "--remount-ro", "/", "--chdir", folder, "--", *argv]


def by_unshare(argv, folder, readable, writable):
    paths = [(p, "ro") for p in [*SYSTEM, *readable]] + [(p, "rw") for p in [*DEVICES, *writable]]
    words = [word for path, right in paths if os.path.exists(path) for word in (right, path)]
    return [shutil.which("unshare"), "--user", "--map-root-user", "--mount", "--ipc", "--net", "--pid", "--uts", "--cgroup",
            "--fork", "--kill-child", "--", "/bin/sh", "-c", SCRIPT, "room", *words, "--", folder, *argv]
