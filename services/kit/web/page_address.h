/* page_address.h: who could come to an address at which nobody is asked who he is */
#ifndef KIT_WEB_PAGE_ADDRESS_H
#define KIT_WEB_PAGE_ADDRESS_H

enum page_reach {
	PAGE_HERE,   /* this machine alone */
	PAGE_NEAR,   /* a private net */
	PAGE_OPEN,   /* the internet, or all nets of the machine: 0.0.0.0 and :: */
	PAGE_UNCLEAR /* no IP address */
};
enum page_reach page_reach_of(const char *host);

#endif
