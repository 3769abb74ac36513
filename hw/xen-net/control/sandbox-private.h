/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox-private.h - what the files of the sandbox share
 */
#ifndef XN_CONTROL_SANDBOX_PRIVATE_H
#define XN_CONTROL_SANDBOX_PRIVATE_H

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define XN_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define XN_SANITIZED 1
#endif
#ifndef XN_SANITIZED
#define XN_SANITIZED 0
#endif

/* How many system calls the filter lets through; 0: there is none. */
unsigned sandbox_filter_calls(void);

#endif
