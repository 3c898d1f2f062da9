/* Memory and control flow: strings, lists, recursion, a state machine, function pointers, sub-word fields. */
#include "tests/rtl/core/device/kernel.h"

static char text[256];
static char FAR far_text[256];
static struct node {
    struct node *next;
    uint8_t key;
    int16_t value;
} nodes[64];

void *memcpy(void *to, const void *from, __SIZE_TYPE__ n);
void *memset(void *to, int value, __SIZE_TYPE__ n);
void *memcpy(void *to, const void *from, __SIZE_TYPE__ n) {
    volatile char *t = to;
    const char *f = from;
    while (n--) *t++ = *f++;
    return to;
}
void *memset(void *to, int value, __SIZE_TYPE__ n) {
    volatile char *t = to;
    while (n--) *t++ = (char)value;
    return to;
}

static uint32_t length(const char *s) {
    uint32_t n = 0;
    while (s[n]) n++;
    return n;
}
static void copy(char *to, const char *from) {
    while ((*to++ = *from++)) {
    }
}
static int find(const char *in, const char *what) {
    for (int at = 0; in[at]; at++) {
        int k = 0;
        while (what[k] && in[at + k] == what[k]) k++;
        if (!what[k]) return at;
    }
    return -1;
}
static void decimal(char *to, uint32_t value) {
    char digits[12];
    int n = 0;
    do digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n) *to++ = digits[--n];
    *to = 0;
}

static uint32_t ackermann(uint32_t m, uint32_t n) {
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
static int hanoi(int n, int from, int to) {
    return n == 0 ? 0 : hanoi(n - 1, from, 6 - from - to) + 1 + hanoi(n - 1, 6 - from - to, to);
}

/* Words and numbers in a text. */
static int count_tokens(const char *s) {
    enum { OUT, WORD, NUMBER } state = OUT;
    int words = 0, numbers = 0;
    for (; *s; s++) {
        switch (state) {
        case OUT:
            if (*s >= '0' && *s <= '9') {
                state = NUMBER, numbers++;
            } else if (*s != ' ') {
                state = WORD, words++;
            }
            break;
        case WORD:
            if (*s == ' ') state = OUT;
            break;
        case NUMBER:
            if (*s == ' ')
                state = OUT;
            else if (*s < '0' || *s > '9')
                state = WORD, numbers--, words++;
            break;
        }
    }
    return words * 16 + numbers;
}

static int add(int a, int b) {
    return a + b;
}
static int subtract(int a, int b) {
    return a - b;
}
static int multiply(int a, int b) {
    return a * b;
}
static int calculate(const char *postfix) {
    static int (*const operations[])(int, int) = {add, subtract, multiply};
    int stack[8], depth = 0;
    for (; *postfix; postfix++) {
        if (*postfix >= '0' && *postfix <= '9') {
            stack[depth++] = *postfix - '0';
        } else {
            int which = *postfix == '+' ? 0 : *postfix == '-' ? 1 : 2;
            depth--;
            stack[depth - 1] = operations[which](stack[depth - 1], stack[depth]);
        }
    }
    return stack[0];
}

static int lists(void) {
    struct node *head = 0;
    uint32_t state = 11;
    for (int i = 0; i < 64; i++) {
        nodes[i].key = (uint8_t)next_random(&state);
        nodes[i].value = (int16_t)-nodes[i].key;
        struct node **at = &head;
        while (*at && (*at)->key < nodes[i].key) at = &(*at)->next;
        nodes[i].next = *at;
        *at = &nodes[i];
    }
    int last = -1, count = 0;
    for (struct node *n = head; n; n = n->next, count++) {
        if (n->key < last || n->value != -(int)n->key) return 0;
        last = n->key;
    }
    return count == 64;
}

int main(void) {
    copy(text, "the quick brown fox jumps over 13 lazy dogs 42");
    copy(far_text, text);
    if (length(far_text) != 46 || find(far_text, "fox") != 16 || find(text, "cat") != -1) return 1;
    if (count_tokens(far_text) != 8 * 16 + 2) return 2;
    decimal(far_text, 4294967295u);
    if (find(far_text, "4294967295") != 0) return 3;
    if (ackermann(2, 5) != 13 || hanoi(7, 1, 3) != 127) return 4;
    if (calculate("34+52-*7+") != 28) return 5;
    if (!lists()) return 6;
    memset(far_text, 0x5a, 100);
    memcpy(text, far_text + 3, 90);
    for (int i = 0; i < 90; i++)
        if (text[i] != 0x5a) return 7;
    return 0;
}
