/* What host and device know of the recurrences LSTM, GRU and RNN. */
#ifndef XPU_CORE_ARITH_RECURRENT_H
#define XPU_CORE_ARITH_RECURRENT_H

#include "core/arith.h"

/* Gates stand side by side in the columns of x, w and bias: of an LSTM input, output, forget, cell; of a GRU update,
 * reset, hidden, with the reset behind the product. */
typedef enum { XA_LSTM, XA_GRU, XA_RNN, XA_RECURRENCES } xa_recurrence;

XA_INLINE uint32_t xa_gates_of(xa_recurrence kind) {
    return kind == XA_LSTM ? 4 : kind == XA_GRU ? 3 : 1;
}

#endif
