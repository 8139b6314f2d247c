/*
 * sns.h: checks the addresses of Amazon SNS that may be fetched
 *
 * Any client that posts to the gateway chooses these addresses, so they are checked before anything is
 * fetched: https, the host sns.<region>.amazonaws.com or .com.cn with the topic's own region, no user, port
 * or fragment; a certificate's path ends in .pem and has no query, a subscription's query confirms this
 * topic. (Amazon: "Verifying the signatures of Amazon SNS messages".)
 */
#ifndef KIT_HTTP_SNS_H
#define KIT_HTTP_SNS_H

#include <stdbool.h>

enum { SNS_URL_MAX = 1023 };

bool sns_certificate_url_valid(const char *url, const char *topic_arn);
bool sns_subscribe_url_valid(const char *url, const char *topic_arn);

#endif
