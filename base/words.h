/* Messages name the tools' options: what callers that offer them by other names make of the texts. */
#ifndef XPU_BASE_WORDS_H
#define XPU_BASE_WORDS_H

/* words.def has a column for each. */
typedef enum { XPU_WORDS_PYTHON, XPU_WORDS_ONNXRUNTIME } xpu_interface;

/* A copy of `text` with the interface's words where options stand; malloc'd, NULL: memory ran out.
 *     raise the limit: --max-cycles=N        Python: raise the limit: max_cycles=N
 *     give --shape x=1,3 --shape y=4         give shapes={"x": "1,3", "y": "4"}; onnxruntime: give shapes=x=1,3;y=4
 *     compiled with --strip                  compiled with the argument strip; it has none: with xpuc --strip */
char *xpu_words_of(const char *text, xpu_interface interface);

#endif
