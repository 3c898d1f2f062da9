/* Status codes. The numbers are the exit codes of every tool (docs/errors.md). */
#ifndef XPU_BASE_STATUS_H
#define XPU_BASE_STATUS_H

typedef enum {
    XPU_OK = 0,        /* done */
    XPU_EMODEL = 1,    /* the model is invalid or not supported */
    XPU_EUSAGE = 2,    /* wrong option or wrong configuration file */
    XPU_EIO = 3,       /* a file cannot be read, written or found; out of memory; a child process is missing */
    XPU_EDIFF = 4,     /* outputs differ */
    XPU_EFAULT = 5,    /* the device reported a fault */
    XPU_ETIMEOUT = 6,  /* the device made no progress, or a time limit passed */
    XPU_ELOCKSTEP = 7, /* the Verilated chip and the functional one differ */
    XPU_EBUG = 70,     /* an internal error: ours, never the user's */
    XPU_ESTOPPED = 130 /* the caller wanted it to stop; of a tool 128 + the signal's number */
} xpu_status;

#endif
