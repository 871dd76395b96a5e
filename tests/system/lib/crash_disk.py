"""Disks that lose what was not synced: for the data directory of a daemon that is killed."""

import ctypes
import fcntl
import os
import pathlib
import shutil
import signal
import struct
import subprocess

from gateway_daemon import DEADLINE_S, eventually

SOURCE = pathlib.Path(__file__).resolve().parent / "lost_writes.c"
CLONE_NEWNS = 0x20000
EXT4_IOC_SHUTDOWN = 0x8004587d  # _IOR('X', 125, __u32)
LOG_FLUSHED, NOTHING_FLUSHED = 1, 2
LIBC = ctypes.CDLL(None, use_errno=True)


class Unavailable(Exception):
    """Why a disk of this kind cannot be had here."""


def run(*command):
    if not shutil.which(command[0]):
        raise Unavailable(f"{command[0]} is missing")
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            timeout=DEADLINE_S, check=False)
    if result.returncode != 0:
        raise Unavailable(f"{command[0]}: {result.stderr.strip()}")


class Disk:
    """One in `folder`; `no_sync`, a path's part and a number N: the syncs of files and directories
    with it in their path are left out, but for the first N after each opening."""

    def __init__(self, folder, random, no_sync=None):
        self.folder = pathlib.Path(folder).resolve()
        self.random = random
        self.environment = {}
        if no_sync or self.preloads:
            self.preload(no_sync)

    def preload(self, no_sync):
        library = self.folder / "lost_writes.so"
        run("cc", "-shared", "-fPIC", "-O2", "-pthread", "-o", library, SOURCE)
        self.environment = {"LD_PRELOAD": str(library), "LOST_WRITES_DATA": str(self.data),
                            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") +
                            ":verify_asan_link_order=0"}
        if no_sync:
            part, first = no_sync
            self.environment |= {"LOST_WRITES_NO_SYNC": part, "LOST_WRITES_FIRST_SYNCS": str(first)}


class LoopDisk(Disk):
    """A file system in a file, mounted in a namespace of this process's own, so that nothing is
    left behind. The kernel shuts it down: nothing gets onto it any more, what was not synced is
    not there when it is mounted again."""

    name = "ext4 on a loop device, shut down"
    preloads = False

    def __init__(self, folder, random, no_sync=None):
        self.mount_point = pathlib.Path(folder).resolve() / "disk"
        self.data = self.mount_point / "data"
        super().__init__(folder, random, no_sync)
        self.image = self.folder / "disk.image"
        with self.image.open("wb") as image:
            image.truncate(2 << 30)
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=1,nodiscard", self.image)
        self.mount_point.mkdir()
        if LIBC.unshare(CLONE_NEWNS) != 0:
            raise Unavailable(f"unshare: {os.strerror(ctypes.get_errno())}")
        run("mount", "--make-rprivate", "/")
        self.mount()
        try:
            self.shut_down()
        except OSError as error:
            self.unmount()
            raise Unavailable(f"EXT4_IOC_SHUTDOWN: {error}") from None
        self.mount_again()
        self.data.mkdir()
        run("sync", "-f", self.data)

    def mount(self):
        options = ["loop", "noauto_da_alloc", f"commit={self.random.choice((1, 5, 30))}",
                   f"data={self.random.choice(('ordered', 'writeback'))}"]
        run("mount", "-t", "ext4", "-o", ",".join(options), self.image, self.mount_point)

    def unmount(self):
        def unmounted():
            try:
                run("umount", self.mount_point)
                return True
            except Unavailable:
                return False
        if not eventually(unmounted):
            run("umount", self.mount_point)

    def prepare(self):
        """Before each start of the daemon."""

    def crash(self, daemon):
        """The end of the daemon, which may be in the middle of a sync, and of its disk.

        Not the other way round: an fdatasync() that is under way while ext4 is shut down can
        report success for what is then not there. (The end_io of its write fails to make the
        preallocated extents written, and tells nobody.) Who was sent SIGKILL passes nothing on.
        """
        if self.random.random() < 0.5:
            daemon.kill()
        daemon.signal(signal.SIGKILL)
        self.shut_down()
        daemon.kill()
        self.mount_again()

    def shut_down(self):
        flag = struct.pack("I", self.random.choice((LOG_FLUSHED, NOTHING_FLUSHED)))
        descriptor = os.open(self.mount_point, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, EXT4_IOC_SHUTDOWN, flag)
        finally:
            os.close(descriptor)

    def mount_again(self):
        self.unmount()
        self.mount()

    def close(self):
        self.unmount()


class ShimDisk(Disk):
    """Files of any file system: a preloaded library keeps beside them what was synced."""

    name = "a preloaded record of what was synced"
    preloads = True

    def __init__(self, folder, random, no_sync=None):
        self.data = pathlib.Path(folder).resolve() / "data"
        super().__init__(folder, random, no_sync)
        self.kept = self.folder / "kept"
        self.data.mkdir()
        self.environment["LOST_WRITES_KEPT"] = str(self.kept)

    def copy(self, source, target):
        run("cp", "-a", "--sparse=always", source, target)

    def prepare(self):
        shutil.rmtree(self.kept, ignore_errors=True)
        self.kept.mkdir()
        (self.kept / "content").mkdir()
        self.copy(self.data, self.kept / "tree")
        self.environment["LOST_WRITES_SEED"] = str(self.random.getrandbits(63))

    def crash(self, daemon):
        daemon.kill()
        shutil.rmtree(self.data)
        self.copy(self.kept / "tree", self.data)

    def close(self):
        pass


DISKS = {"loop": LoopDisk, "shim": ShimDisk}
