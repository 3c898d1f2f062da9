/* The post-processor's parameters of layers on engines that core 0 queues. */
#include "xpu_runtime/kernels/rings.h"

struct params xpu_engine_parameters;
