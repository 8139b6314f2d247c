/*
 * public_address.h: tells addresses of the public internet from all others
 *
 * A header of its own, for code that fetches nothing: guard.c takes libcurl along, which loads two dozen libraries into each process.
 */
#ifndef KIT_HTTP_PUBLIC_ADDRESS_H
#define KIT_HTTP_PUBLIC_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/*
 * Is this an address of the public internet, by its bits? Not: this machine, private, shared, link-local, site-local and unique
 * local nets, documentation, benchmarks, multicast, reserved; nor IPv6 forms that hold such an IPv4 address (mapped, compatible,
 * NAT64 64:ff9b::/96, 6to4 2002::/16, Teredo).
 */
bool http_address_is_public(const struct sockaddr *address);

#endif
