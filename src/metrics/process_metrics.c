#include "metrics/process_metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NS_PER_SECOND = 1000000000, NS_PER_US = 1000 };

static int64_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return 0;
    }
    int64_t size = 0;
    int64_t resident = 0;
    int found = fscanf(file, "%" SCNd64 " %" SCNd64, &size, &resident);
    (void)fclose(file);
    return found == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

static int64_t to_ns(struct timeval time)
{
    return (int64_t)time.tv_sec * NS_PER_SECOND + (int64_t)time.tv_usec * NS_PER_US;
}

static int64_t cpu_ns(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? to_ns(usage.ru_utime) + to_ns(usage.ru_stime) : 0;
}

static int64_t open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) {
        return -1;
    }
    int64_t count = -1; /* the folder's own */
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(folder);
    return count;
}

void process_metrics_read(struct process_metrics *process)
{
    *process = (struct process_metrics){
        .resident_bytes = resident_bytes(), .cpu_ns = cpu_ns(), .open_files = open_files()};
}
