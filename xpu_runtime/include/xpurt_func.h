/* libxpufunc: the functional chip as a device for xpurt_run (link with -lxpufunc). */
#ifndef XPURT_FUNC_H
#define XPURT_FUNC_H

#ifdef __cplusplus
extern "C" {
#endif

struct xpurt_device_driver;

/* The driver of the functional chip: exact in results, without timing. A constant. */
__attribute__((visibility("default"))) const struct xpurt_device_driver *xpurt_func_driver(void);

#ifdef __cplusplus
}
#endif
#endif
