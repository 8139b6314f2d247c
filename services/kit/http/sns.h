/*
 * sns.h: checks the addresses of Amazon SNS that may be fetched, and the certificates that come from there
 *
 * Any client that posts to the gateway chooses these addresses, so they are checked before anything is
 * fetched: https, the host sns.<region>.amazonaws.com or .com.cn with the topic's own region, no user, port
 * or fragment; a certificate's path ends in .pem and has no query, a subscription's query confirms this
 * topic. (Amazon: "Verifying the signatures of Amazon SNS messages".)
 */
#ifndef KIT_HTTP_SNS_H
#define KIT_HTTP_SNS_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stdint.h>

enum { SNS_URL_MAX = 1023 };

bool sns_certificate_url_valid(const char *url, const char *topic_arn);
bool sns_subscribe_url_valid(const char *url, const char *topic_arn);

/*
 * Gives the key of the first certificate in `pem` if it is an RSA key of 2048 bits or more and the certificate is
 * valid at now_us (wall time). Returns NULL, and the caller frees *ret_key; otherwise the reason in words. The
 * certificate that signed this one does not come with it, so TLS has to vouch for its origin.
 */
const char *sns_certificate_key(const char *pem, int64_t now_us, EVP_PKEY **ret_key);

#endif
