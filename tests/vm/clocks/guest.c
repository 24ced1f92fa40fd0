// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What tests/vm/clocks.sh runs in its guests, and on the host.
 *
 * Guests of one machine under TCG read its time stamp counter less a constant of their own. The counter is therefore a
 * time that all of them share, whatever their clocks show. A page that they share with the host tells the constants:
 *
 *   guest.c khz                        the counter's rate
 *   guest.c host PAGE SECONDS          answers guests with the host's counter, now and then; first it tells a count and
 *                                      the time by CLOCK_MONOTONIC
 *   guest.c truth PAGE SLOT SEED SECONDS
 *                                      disturbs this guest's clock, and writes what it shows by the counter
 *   guest.c talk PORT PER_SECOND ADDR...   sends datagrams to all, and reads what comes
 *
 * Lines of `truth`, in counts of the guest's own counter:
 *   C LOW HIGH             the host's counter is ahead by an amount in this range
 *   S COUNT WIDTH NS       the clock showed NS at a count between COUNT and COUNT + WIDTH
 *   M free|slew|step       the clock is disturbed in this way from now on
 *   E COUNT COUNT          it was set, or steered in another way, between these counts
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest.h"

static struct page *map(const char *path)
{
	int fd = open(path, O_RDWR);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd < 0 || at == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	return at;
}

static void khz(void)
{
	int64_t begin = read_ns(CLOCK_MONOTONIC_RAW);
	uint64_t count = counter();

	rest(2 * SECOND);
	count = counter() - count;
	printf("%lld\n", (long long)(count * 1000000.0 / (read_ns(CLOCK_MONOTONIC_RAW) - begin) + 0.5));
}

static void talk(int port, int per_second, char **addrs, int count)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	char bytes[400] = { 0 };

	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		perror("bind");
		exit(1);
	}
	for (int i = 0;; i = (i + 1) % count) {
		inet_pton(AF_INET, addrs[i], &at.sin_addr);
		sendto(fd, bytes, sizeof(bytes) - 64 * i, 0, (struct sockaddr *)&at, sizeof(at));
		while (recv(fd, bytes, sizeof(bytes), 0) > 0)
			;
		rest(SECOND / per_second);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "khz")) {
		khz();
	} else if (argc == 4 && !strcmp(argv[1], "host")) {
		host(map(argv[2]), atoll(argv[3]));
	} else if (argc == 6 && !strcmp(argv[1], "truth")) {
		struct page *page = map(argv[2]);

		srand48(atol(argv[4]));
		truth(page, &page->slots[atoi(argv[3])], atoll(argv[5]));
	} else if (argc > 4 && !strcmp(argv[1], "talk")) {
		talk(atoi(argv[2]), atoi(argv[3]), argv + 4, argc - 4);
	} else {
		fprintf(stderr, "usage: see the head of guest.c\n");
		return 2;
	}
	return 0;
}
