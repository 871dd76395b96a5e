// Preloaded into a program, keeps beside a directory what a loss of power would leave of it: bytes
// get there with fsync and its like on their file, names with fsync on their directory. And, as
// disks do it, some of the rest now and then: pages of a write in any order, the first few of the
// changes of names. It can also leave out the program's syncs: a bug that tests have to notice.
//
//   LOST_WRITES_DATA   the directory, as realpath() has it
//   LOST_WRITES_KEPT   a folder with "tree", a copy of the directory, and "content", an empty
//                      one; after the program was killed the tree is what is left. Not set:
//                      nothing is kept
//   LOST_WRITES_SEED   decides what gets there without a sync
//   LOST_WRITES_NO_SYNC      files and directories whose path has this in it are not synced,
//   LOST_WRITES_FIRST_SYNCS  but for the first few syncs of each descriptor
//
// Calls go to the kernel directly. Not covered, as nothing here does it: writing through mmap, hard
// links, descriptors that were duplicated.
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { descriptors_max = 1 << 16, files_max = 1 << 16, changes_max = 1 << 16, page = 4096 };
static const off_t never_cut = INT64_MAX;

struct file {   // its bytes are kept as content/<its place in the table>
  ino_t inode;  // 0: it is gone
  off_t dirty_from, dirty_to;
  off_t cut;  // how short it was since the last sync
};

enum kind { made_file, made_directory, renamed, removed, removed_directory };

struct change {  // of names, below the directory
  enum kind kind;
  size_t file;
  char *name, *new_name;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char data[PATH_MAX];
static size_t data_length;
static const char* no_sync;
static unsigned first_syncs;
static int tree = -1, content = -1;
static struct file files[files_max];
static size_t file_count;
static int of_descriptor[descriptors_max];  // 0 unknown, -1 of no file here, else its place + 1
static unsigned syncs_of_descriptor[descriptors_max];
static struct change changes[changes_max];
static size_t change_count;
static uint64_t state;

static void give_up(const char* what) {
  fprintf(stderr, "lost_writes: %s: %s\n", what, strerror(errno));
  abort();
}

static uint64_t below(uint64_t bound) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % bound;
}

static void lock(void) { pthread_mutex_lock(&mutex); }
static void unlock(void) { pthread_mutex_unlock(&mutex); }

// --- Paths ---

// Whether the descriptor's file is below the directory, or the directory; its path.
static bool path_of(int descriptor, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (length < 0) return false;
  path[length] = 0;
  return strncmp(path, data, data_length) == 0 && (path[data_length] == '/' || !path[data_length]);
}

static const char* below_data(const char* path) {
  return path[data_length] ? path + data_length + 1 : ".";
}

// The same for a name, relative to a descriptor as in openat().
static bool resolve(int at, const char* name, char path[PATH_MAX]) {
  char whole[2 * PATH_MAX] = "";
  if (name[0] != '/') {
    if (at == AT_FDCWD ? !getcwd(whole, PATH_MAX) : !path_of(at, whole)) return false;
    strcat(whole, "/");
  }
  strncat(whole, name, PATH_MAX - 1);
  size_t length = 0;
  for (const char* from = whole; *from && length < PATH_MAX - 1; ++from)
    if (*from != '/' || length == 0 || path[length - 1] != '/') path[length++] = *from;
  while (length > 1 && path[length - 1] == '/') --length;
  path[length] = 0;
  return strncmp(path, data, data_length) == 0 && path[data_length] == '/';
}

// --- Contents ---

static int open_content(size_t file) {
  char name[32];
  snprintf(name, sizeof name, "%zu", file);
  int opened = syscall(SYS_openat, content, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (opened < 0) give_up(name);
  return opened;
}

static void copy(int from, int to, off_t at, off_t end) {
  static char bytes[1 << 16];
  while (at < end) {
    size_t size = end - at < (off_t)sizeof bytes ? (size_t)(end - at) : sizeof bytes;
    ssize_t got = syscall(SYS_pread64, from, bytes, size, at);
    if (got <= 0) return;
    if (syscall(SYS_pwrite64, to, bytes, got, at) != got) give_up("content");
    at += got;
  }
}

// Bytes [from, to) reach the disk; the file's length does, too, if it is all of them.
static void keep(size_t file, int descriptor, off_t from, off_t to, bool length_too) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  int source = syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
  if (source < 0) return;  // removed meanwhile
  int target = open_content(file);
  struct stat status;
  if (length_too && fstat(target, &status) == 0 && status.st_size > files[file].cut)
    syscall(SYS_ftruncate, target, files[file].cut);
  copy(source, target, from, to);
  if (length_too && fstat(source, &status) == 0) syscall(SYS_ftruncate, target, status.st_size);
  syscall(SYS_close, source);
  syscall(SYS_close, target);
}

static void keep_all(size_t file, int descriptor) {
  struct file* it = &files[file];
  keep(file, descriptor, it->dirty_from, it->dirty_to, true);
  it->dirty_from = it->dirty_to = 0;
  it->cut = never_cut;
}

static void keep_some(size_t file, int descriptor) {
  struct file* it = &files[file];
  off_t pages = (it->dirty_to - it->dirty_from) / page + 1;
  off_t from = it->dirty_from / page * page + (off_t)below(pages) * page;
  off_t to = from + (off_t)(1 + below(4)) * page;
  if (from < it->dirty_from) from = it->dirty_from;
  if (to > it->dirty_to) to = it->dirty_to;
  keep(file, descriptor, from, to, false);
}

static size_t new_file(ino_t inode) {
  if (file_count == files_max) give_up("too many files");
  files[file_count] = (struct file){.inode = inode, .cut = never_cut};
  int made = open_content(file_count);
  syscall(SYS_close, made);
  return file_count++;
}

static struct file* find(ino_t inode) {
  for (size_t i = file_count; i > 0; --i)
    if (files[i - 1].inode == inode) return &files[i - 1];
  return NULL;
}

// --- Names ---

static bool is_in(const char* name, const char* directory) {
  const char* slash = strrchr(name, '/');
  if (!slash) return strcmp(directory, ".") == 0;
  return strlen(directory) == (size_t)(slash - name) &&
         strncmp(name, directory, (size_t)(slash - name)) == 0;
}

static void make_last(struct change* change) {
  char number[32];
  snprintf(number, sizeof number, "%zu", change->file);
  switch (change->kind) {
    case made_file: linkat(content, number, tree, change->name, 0); break;
    case made_directory: syscall(SYS_mkdirat, tree, change->name, 0700); break;
    case renamed: syscall(SYS_renameat, tree, change->name, tree, change->new_name); break;
    case removed: syscall(SYS_unlinkat, tree, change->name, 0); break;
    case removed_directory: syscall(SYS_unlinkat, tree, change->name, AT_REMOVEDIR); break;
  }
  free(change->name);
  free(change->new_name);
}

static void make_first_last(size_t count) {
  for (size_t i = 0; i < count; ++i) make_last(&changes[i]);
  change_count -= count;
  memmove(changes, changes + count, change_count * sizeof changes[0]);
}

// Those of this directory, and all before them.
static void sync_names(const char* directory) {
  size_t count = change_count;
  while (count > 0 && !is_in(changes[count - 1].name, directory) &&
         !(changes[count - 1].new_name && is_in(changes[count - 1].new_name, directory)))
    --count;
  make_first_last(count);
}

static void add_change(enum kind kind, size_t file, const char* name, const char* new_name) {
  if (change_count == changes_max) give_up("too many changes of names without a sync");
  changes[change_count++] =
      (struct change){kind, file, strdup(name), new_name ? strdup(new_name) : NULL};
  if (below(4) == 0) make_first_last(below(change_count + 1));
}

static void forget_if_last(const struct stat* status) {
  struct file* file = status->st_nlink == 1 ? find(status->st_ino) : NULL;
  if (file) file->inode = 0;
}

// --- Descriptors ---

// The file's place in the table, or -1.
static int file_of(int descriptor) {
  if (tree < 0 || descriptor < 0 || descriptor >= descriptors_max) return -1;
  int* known = &of_descriptor[descriptor];
  if (*known) return *known > 0 ? *known - 1 : -1;
  struct stat status;
  char path[PATH_MAX];
  *known = -1;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return -1;
  if (!path_of(descriptor, path)) return -1;
  struct file* file = find(status.st_ino);
  size_t place = file ? (size_t)(file - files) : new_file(status.st_ino);
  if (!file) add_change(made_file, place, below_data(path), NULL);
  *known = (int)place + 1;
  return (int)place;
}

static void mark(int file, int descriptor, off_t from, off_t to) {
  struct file* it = &files[file];
  bool clean = it->dirty_from == it->dirty_to;
  if (clean || from < it->dirty_from) it->dirty_from = from;
  if (clean || to > it->dirty_to) it->dirty_to = to;
  if (below(8) == 0) keep_some((size_t)file, descriptor);
}

// `at` negative: where the descriptor is.
static ssize_t written(int descriptor, ssize_t count, off_t at) {
  if (count <= 0 || tree < 0) return count;
  lock();
  int file = file_of(descriptor);
  if (file >= 0) {
    if (at < 0) at = syscall(SYS_lseek, descriptor, 0, SEEK_CUR) - count;
    mark(file, descriptor, at, at + count);
  }
  unlock();
  return count;
}

static void cut(int descriptor, off_t size) {
  lock();
  int file = file_of(descriptor);
  if (file >= 0 && size < files[file].cut) files[file].cut = size;
  unlock();
}

static bool left_out(int descriptor) {
  char path[PATH_MAX];
  if (!no_sync || descriptor < 0 || descriptor >= descriptors_max) return false;
  return syncs_of_descriptor[descriptor]++ >= first_syncs && path_of(descriptor, path) &&
         strstr(path, no_sync);
}

static int synced(int descriptor) {
  if (tree < 0) return 0;
  struct stat status;
  char path[PATH_MAX];
  lock();
  int file = file_of(descriptor);
  if (file >= 0)
    keep_all((size_t)file, descriptor);
  else if (path_of(descriptor, path) && fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
    sync_names(below_data(path));
  unlock();
  return 0;
}

// --- The calls ---

static int open_at(int at, const char* name, int flags, mode_t mode) {
  struct stat before;
  bool makes = tree >= 0 && flags & O_CREAT && fstatat(at, name, &before, 0) != 0;
  int descriptor = syscall(SYS_openat, at, name, flags, mode);
  if (descriptor < 0 || descriptor >= descriptors_max) return descriptor;
  syncs_of_descriptor[descriptor] = 0;
  if (tree < 0) return descriptor;
  lock();
  of_descriptor[descriptor] = 0;
  struct stat status;
  if (makes && fstat(descriptor, &status) == 0) {
    struct file* old = find(status.st_ino);  // a number that is used again
    if (old) old->inode = 0;
  }
  if (flags & O_CREAT) file_of(descriptor);
  unlock();
  if (flags & O_TRUNC) cut(descriptor, 0);
  return descriptor;
}

static mode_t mode_of(int flags, va_list rest) {
  return flags & O_CREAT ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                               \
  int name(const char* path, int flags, ...) {   \
    va_list rest;                                \
    va_start(rest, flags);                       \
    mode_t mode = mode_of(flags, rest);          \
    va_end(rest);                                \
    return open_at(AT_FDCWD, path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                   \
  int name(int at, const char* path, int flags, ...) { \
    va_list rest;                                      \
    va_start(rest, flags);                             \
    mode_t mode = mode_of(flags, rest);                \
    va_end(rest);                                      \
    return open_at(at, path, flags, mode);             \
  }
OPENAT(openat)
OPENAT(openat64)

int close(int descriptor) {
  if (descriptor >= 0 && descriptor < descriptors_max) of_descriptor[descriptor] = 0;
  return (int)syscall(SYS_close, descriptor);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  return written(descriptor, syscall(SYS_write, descriptor, bytes, size), -1);
}

ssize_t writev(int descriptor, const struct iovec* pieces, int count) {
  return written(descriptor, syscall(SYS_writev, descriptor, pieces, count), -1);
}

#define PWRITE(name)                                                                    \
  ssize_t name(int descriptor, const void* bytes, size_t size, off_t at) {              \
    return written(descriptor, syscall(SYS_pwrite64, descriptor, bytes, size, at), at); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

#define PWRITEV(name)                                                                        \
  ssize_t name(int descriptor, const struct iovec* pieces, int count, off_t at) {            \
    return written(descriptor, syscall(SYS_pwritev, descriptor, pieces, count, at, 0L), at); \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)

// Other lengths reach the disk with the next sync.
int ftruncate(int descriptor, off_t size) {
  int result = (int)syscall(SYS_ftruncate, descriptor, size);
  if (result == 0) cut(descriptor, size);
  return result;
}

int fallocate(int descriptor, int mode, off_t at, off_t size) {
  return (int)syscall(SYS_fallocate, descriptor, mode, at, size);
}

int posix_fallocate(int descriptor, off_t at, off_t size) {
  return fallocate(descriptor, 0, at, size) == 0 ? 0 : errno;
}

int fsync(int descriptor) {
  if (left_out(descriptor)) return 0;
  return tree < 0 ? (int)syscall(SYS_fsync, descriptor) : synced(descriptor);
}

int fdatasync(int descriptor) {
  if (left_out(descriptor)) return 0;
  return tree < 0 ? (int)syscall(SYS_fdatasync, descriptor) : synced(descriptor);
}

// Promises nothing.
int sync_file_range(int descriptor, off_t at, off_t size, unsigned flags) {
  if (left_out(descriptor) || tree >= 0) return 0;
  return (int)syscall(SYS_sync_file_range, descriptor, at, size, flags);
}

int mkdir(const char* name, mode_t mode) {
  char path[PATH_MAX];
  int result = (int)syscall(SYS_mkdirat, AT_FDCWD, name, mode);
  if (result != 0 || tree < 0 || !resolve(AT_FDCWD, name, path)) return result;
  lock();
  add_change(made_directory, 0, below_data(path), NULL);
  unlock();
  return 0;
}

static int remove_at(int at, const char* name, int flags) {
  char path[PATH_MAX];
  struct stat status;
  bool ours = tree >= 0 && resolve(at, name, path) && fstatat(at, name, &status, 0) == 0;
  int result = (int)syscall(SYS_unlinkat, at, name, flags);
  if (result != 0 || !ours) return result;
  lock();
  forget_if_last(&status);
  add_change(flags & AT_REMOVEDIR ? removed_directory : removed, 0, below_data(path), NULL);
  unlock();
  return 0;
}

int unlink(const char* name) { return remove_at(AT_FDCWD, name, 0); }
int unlinkat(int at, const char* name, int flags) { return remove_at(at, name, flags); }
int rmdir(const char* name) { return remove_at(AT_FDCWD, name, AT_REMOVEDIR); }

int renameat(int from_at, const char* from, int to_at, const char* to) {
  char old_path[PATH_MAX], new_path[PATH_MAX];
  struct stat replaced;
  bool ours = tree >= 0 && resolve(from_at, from, old_path) && resolve(to_at, to, new_path);
  bool replaces = ours && fstatat(to_at, to, &replaced, 0) == 0;
  int result = (int)syscall(SYS_renameat, from_at, from, to_at, to);
  if (result != 0 || !ours) return result;
  lock();
  if (replaces) forget_if_last(&replaced);
  add_change(renamed, 0, below_data(old_path), below_data(new_path));
  unlock();
  return 0;
}

int rename(const char* from, const char* to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

// --- At the start ---

// What is there is on the disk: the tree has the same names, and gets the content's inodes.
static void adopt(int at, const char* folder) {
  int opened = syscall(SYS_openat, at, *folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* directory = fdopendir(opened);
  if (!directory) give_up(folder);
  for (struct dirent* entry; (entry = readdir(directory));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    char name[PATH_MAX], number[32];
    struct stat status;
    snprintf(name, sizeof name, "%s%s%s", folder, *folder ? "/" : "", entry->d_name);
    if (fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) != 0) give_up(name);
    if (S_ISDIR(status.st_mode)) adopt(at, name);
    if (!S_ISREG(status.st_mode)) continue;
    files[file_count] = (struct file){.inode = status.st_ino, .cut = never_cut};
    snprintf(number, sizeof number, "%zu", file_count++);
    if (linkat(tree, name, content, number, 0) != 0) give_up(name);
  }
  closedir(directory);
}

__attribute__((constructor)) static void start(void) {
  const char* directory = getenv("LOST_WRITES_DATA");
  const char* kept = getenv("LOST_WRITES_KEPT");
  const char* seed = getenv("LOST_WRITES_SEED");
  if (!directory) return;
  const char* first = getenv("LOST_WRITES_FIRST_SYNCS");
  no_sync = getenv("LOST_WRITES_NO_SYNC");
  first_syncs = first ? (unsigned)atoi(first) : 0;
  state = seed ? strtoull(seed, NULL, 10) : 1;
  data_length = (size_t)snprintf(data, sizeof data, "%s", directory);
  if (!kept) return;
  int root = syscall(SYS_openat, AT_FDCWD, kept, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int tree_opened = syscall(SYS_openat, root, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  content = syscall(SYS_openat, root, "content", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int watched = syscall(SYS_openat, AT_FDCWD, data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tree_opened < 0 || content < 0 || watched < 0) give_up(kept);
  tree = tree_opened;
  adopt(watched, "");
}
