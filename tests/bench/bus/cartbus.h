#ifndef TESTS_BENCH_BUS_CARTBUS_H
#define TESTS_BENCH_BUS_CARTBUS_H

void cartbus_print_manifest(void); /* the topology of the bench's two services */

#endif
