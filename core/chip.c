#include "core/chip.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"

typedef struct {
    const char *section, *key;
    size_t offset;
    xpu_chip_key_kind kind;
    int64_t min, max;
} chip_key;

static const chip_key chip_keys[] = {
#define X(section, key, field, kind, min, max, doc)                                                                    \
    {#section, #key, offsetof(xpu_chip, field), XPU_CHIP_##kind, (int64_t)(min), (int64_t)(max)},
    XPU_CHIP_KEYS(X)
#undef X
};
enum { KEY_COUNT = sizeof chip_keys / sizeof *chip_keys };

static uint32_t key_value(const xpu_chip *chip, const chip_key *key) {
    uint32_t value;
    memcpy(&value, (const char *)chip + key->offset, sizeof value);
    return value;
}

static void key_set(xpu_chip *chip, const chip_key *key, uint32_t value) {
    memcpy((char *)chip + key->offset, &value, sizeof value);
}

static const char *key_name(xpu_arena *arena, const chip_key *key) {
    return xpu_printf(arena, "%s.%s", key->section, key->key);
}

int xpu_chip_key(const char *name) {
    for (int k = 0; k < KEY_COUNT; k++) {
        size_t section = strlen(chip_keys[k].section);
        if (strncmp(name, chip_keys[k].section, section) == 0 && name[section] == '.' &&
            strcmp(name + section + 1, chip_keys[k].key) == 0)
            return k;
    }
    return -1;
}

xpu_chip_key_kind xpu_chip_key_is(int key) {
    return chip_keys[key].kind;
}

uint32_t xpu_chip_key_value(const xpu_chip *chip, int key) {
    return key_value(chip, &chip_keys[key]);
}

void xpu_chip_key_set(xpu_chip *chip, int key, uint32_t value) {
    key_set(chip, &chip_keys[key], value);
}

const char *const *xpu_chip_key_names(xpu_arena *arena, xpu_chip_key_kind kind) {
    const char **names = XPU_NEW_ARRAY(arena, const char *, KEY_COUNT + 1);
    uint32_t count = 0;
    for (size_t k = 0; k < KEY_COUNT; k++) {
        if (chip_keys[k].kind >= kind) names[count++] = key_name(arena, &chip_keys[k]);
    }
    return names;
}

/* Cross-key rules: each is one function and one sentence. */
static int power_of_two(uint32_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

static int rule_array(const xpu_chip *c) {
    return power_of_two(c->array_rows) && power_of_two(c->array_columns);
}
static int rule_weight_rows(const xpu_chip *c) {
    return c->array_rows % c->weight_rows == 0;
}
static int rule_post_lanes(const xpu_chip *c) {
    return c->array_columns % c->post_lanes == 0;
}
static int rule_window(const xpu_chip *c) {
    return !c->window_channels || (c->window_channels >= 8 && power_of_two(c->window_channels));
}
static int rule_lanes(const xpu_chip *c) {
    return c->lanes == 16;
}
static int rule_sizes(const xpu_chip *c) {
    return c->lm_bytes % 1024 == 0 && c->sm_bytes % 1024 == 0 && c->l3_bytes % 1024 == 0 && c->gm_bytes % 4096 == 0;
}
static int rule_ports(const xpu_chip *c) {
    return c->lm_port_bytes == 64 && power_of_two(c->sm_bank_bytes);
}
static int rule_banks(const xpu_chip *c) {
    return power_of_two(c->sm_banks) && power_of_two(c->l3_banks);
}
static int rule_sm_weights(const xpu_chip *c) {
    return c->sm_bytes / 8 >= c->array_rows * c->array_columns / 2;
}
static int rule_sm_rate(const xpu_chip *c) {
    return c->sm_banks * c->sm_bank_bytes >= c->array_rows + c->post_lanes;
}
static int rule_icache(const xpu_chip *c) {
    return c->icache_line_bytes == 64 && power_of_two(c->icache_bytes);
}
static int rule_burst(const xpu_chip *c) {
    return power_of_two(c->gm_burst_bytes) && c->gm_burst_bytes >= c->gm_rate;
}
static int rule_gm_latency(const xpu_chip *c) {
    return (uint64_t)c->gm_outstanding * c->gm_burst_bytes >= (uint64_t)c->gm_latency * c->gm_rate;
}
static int rule_l3_rate(const xpu_chip *c) {
    return c->l3_rate >= c->gm_rate;
}

typedef struct {
    int (*holds)(const xpu_chip *chip);
    const char *id, *sentence, *keys[4], *hint;
} chip_rule;

static const chip_rule chip_rules[] = {
    {rule_array,
     "chip-array-power-of-two",
     "array.rows and array.columns are powers of two",
     {"array.rows", "array.columns"},
     "use 4, 8, 16, 32, 64, 128 or 256"},
    {rule_weight_rows,
     "chip-weight-rows",
     "array.weight_rows_per_cycle divides array.rows",
     {"array.weight_rows_per_cycle", "array.rows"},
     "use 1 or 2"},
    {rule_post_lanes,
     "chip-post-lanes",
     "array.post_lanes divides array.columns",
     {"array.post_lanes", "array.columns"},
     "use as many lanes as the array has columns"},
    {rule_window,
     "chip-window",
     "window.channels is 0 or a power of two from 8 on",
     {"window.channels"},
     "use 0 (no window engine), 8, 16 or 32"},
    {rule_lanes, "chip-lanes", "cores.lanes is 16, the width of the vector unit", {"cores.lanes"}, "use 16"},
    {rule_sizes,
     "chip-sizes",
     "memories are multiples of 1024 bytes, GM of 4096",
     {"cores.lm_bytes", "sm.bytes", "l3.bytes", "gm.bytes"},
     "round the sizes up"},
    {rule_ports,
     "chip-ports",
     "cores.lm_port_bytes is 64, sm.bank_bytes a power of two",
     {"cores.lm_port_bytes", "sm.bank_bytes"},
     "use 64"},
    {rule_banks, "chip-banks", "sm.banks and l3.banks are powers of two", {"sm.banks", "l3.banks"}, "use 4, 8 or 16"},
    {rule_sm_weights,
     "chip-sm-weights",
     "SM holds the int16 weights of two passes (4 * rows * columns bytes)",
     {"sm.bytes", "array.rows", "array.columns"},
     "enlarge sm.bytes or shrink the array"},
    {rule_sm_rate,
     "chip-sm-rate",
     "SM delivers the array's rows and takes the post-processor's lanes in each cycle",
     {"sm.banks", "sm.bank_bytes", "array.rows", "array.post_lanes"},
     "add banks or widen them"},
    {rule_icache,
     "chip-icache",
     "lines of the instruction cache have 64 bytes, and their number is a power of two",
     {"cores.icache_bytes", "cores.icache_line_bytes"},
     "use lines of 64 bytes and a size of 1024, 2048, 4096, ... bytes"},
    {rule_burst,
     "chip-gm-burst",
     "gm.burst_bytes is a power of two and at least gm.bytes_per_cycle",
     {"gm.burst_bytes", "gm.bytes_per_cycle"},
     "use bursts of 64 bytes or more"},
    {rule_gm_latency,
     "chip-gm-latency",
     "gm.outstanding * gm.burst_bytes covers gm.latency * gm.bytes_per_cycle, or the rate cannot be reached",
     {"gm.outstanding", "gm.burst_bytes", "gm.latency", "gm.bytes_per_cycle"},
     "allow more outstanding requests or lower gm.bytes_per_cycle"},
    {rule_l3_rate,
     "chip-l3-rate",
     "L3 is at least as fast as GM (l3.bytes_per_cycle >= gm.bytes_per_cycle)",
     {"l3.bytes_per_cycle", "gm.bytes_per_cycle"},
     "raise l3.bytes_per_cycle"},
};

/* The values of the keys of a rule: "gm.latency is 100, gm.outstanding is 4". */
static char *rule_values(xpu_arena *arena, const xpu_chip *chip, const chip_rule *rule) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (size_t i = 0; i < sizeof rule->keys / sizeof *rule->keys && rule->keys[i]; i++) {
        int key = xpu_chip_key(rule->keys[i]);
        if (key >= 0)
            xpu_text_add(&text, "%s%s is %" PRIu32, i ? ", " : "", rule->keys[i], xpu_chip_key_value(chip, key));
    }
    return text.text;
}

xpu_status xpu_chip_check(xpu_arena *arena, const xpu_chip *chip, const char *file, xpu_diags *diags) {
    size_t before = diags->errors;
    for (size_t k = 0; k < KEY_COUNT; k++) {
        const chip_key *key = &chip_keys[k];
        if (key_value(chip, key) < key->min || key_value(chip, key) > key->max)
            xpu_error(diags, XPU_EUSAGE, file, "chip-range", xpu_printf(arena, "key '%s'", key_name(arena, key)),
                      "the value is out of range",
                      xpu_printf(arena, "it is %" PRIu32 ", allowed are %" PRId64 " to %" PRId64, key_value(chip, key),
                                 key->min, key->max),
                      "change the key in the chip's JSON");
    }
    if (diags->errors != before) return XPU_EUSAGE;
    for (size_t i = 0; i < sizeof chip_rules / sizeof *chip_rules; i++) {
        const chip_rule *rule = &chip_rules[i];
        if (rule->holds(chip)) continue;
        xpu_error(diags, XPU_EUSAGE, file, rule->id, xpu_printf(arena, "key '%s'", rule->keys[0]),
                  "keys of the chip contradict each other",
                  xpu_printf(arena, "%s; but %s", rule->sentence, rule_values(arena, chip, rule)), rule->hint);
    }
    return diags->errors != before ? XPU_EUSAGE : XPU_OK;
}

static void read_section(xpu_arena *arena, xpu_json_object *top, size_t first, size_t last, xpu_chip *chip,
                         xpu_diags *diags) {
    const char *name = chip_keys[first].section;
    json_t *member = xpu_json_member(top, name);
    if (!member) {
        xpu_error(diags, XPU_EUSAGE, top->file, "json-missing-key", xpu_printf(arena, "key '%s'", name),
                  "a section of the chip is missing", "every section of a chip description is required",
                  "copy the section from one of the files in configs/chip");
        return;
    }
    xpu_json_object section;
    if (!xpu_json_open(&section, arena, member, top->file, name, diags)) return;
    for (size_t k = first; k < last; k++)
        key_set(chip, &chip_keys[k],
                (uint32_t)xpu_json_int(&section, chip_keys[k].key, chip_keys[k].min, chip_keys[k].max));
    xpu_json_done(&section);
}

static int good_name(const char *name) {
    size_t length = strlen(name);
    if (length == 0 || length >= XPU_CHIP_NAME_BYTES) return 0;
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == length;
}

static xpu_status read_chip(xpu_arena *arena, json_t *value, const char *file, xpu_chip *chip, xpu_diags *diags) {
    size_t before = diags->errors;
    xpu_json_object top;
    memset(chip, 0, sizeof *chip);
    if (!xpu_json_open(&top, arena, value, file, "", diags)) return XPU_EUSAGE;
    const char *name = xpu_json_string(&top, "name");
    if (name && good_name(name)) {
        memcpy(chip->name, name, strlen(name) + 1);
    } else if (name) {
        xpu_error(diags, XPU_EUSAGE, file, "chip-name", "key 'name'", "this is no name of a chip",
                  "a name has 1 to 63 letters, digits, '_', '.' or '-'", "change the key 'name'");
    }
    for (size_t first = 0, last; first < KEY_COUNT; first = last) {
        for (last = first + 1; last < KEY_COUNT; last++)
            if (strcmp(chip_keys[last].section, chip_keys[first].section) != 0) break;
        read_section(arena, &top, first, last, chip, diags);
    }
    xpu_json_done(&top);
    if (diags->errors != before) return XPU_EUSAGE;
    return xpu_chip_check(arena, chip, file, diags);
}

xpu_status xpu_chip_parse(xpu_arena *arena, const char *text, size_t length, const char *file, xpu_chip *chip,
                          xpu_diags *diags) {
    json_t *value = xpu_json_parse(arena, text, length, file, diags);
    return value ? read_chip(arena, value, file, chip, diags) : xpu_diags_status(diags);
}

xpu_status xpu_chip_load(xpu_arena *arena, const char *folder, const char *name, xpu_chip *chip, xpu_diags *diags) {
    size_t length = strlen(name);
    const char *path = name;
    if (!strchr(name, '/') && !(length > 5 && strcmp(name + length - 5, ".json") == 0)) {
        path = xpu_path_join(arena, folder, xpu_printf(arena, "%s.json", name));
        if (!good_name(name) || !xpu_file_exists(path))
            return xpu_error(diags, XPU_EUSAGE, NULL, "chip-unknown", NULL,
                             xpu_printf(arena, "there is no chip named '%s'", xpu_escape(arena, name, 64)),
                             xpu_printf(arena, "a name stands for a file NAME.json in %s", folder),
                             "use nano, standard or pro, or the path of a chip's JSON");
    }
    json_t *value = xpu_json_read(arena, path, diags);
    return value ? read_chip(arena, value, path, chip, diags) : xpu_diags_status(diags);
}

char *xpu_chip_json(xpu_arena *arena, const xpu_chip *chip) {
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "{\n  \"name\": \"%s\"", chip->name);
    for (size_t k = 0; k < KEY_COUNT; k++) {
        int opens = k == 0 || strcmp(chip_keys[k].section, chip_keys[k - 1].section) != 0;
        if (opens) xpu_text_add(&text, "%s,\n  \"%s\": {", k ? "\n  }" : "", chip_keys[k].section);
        xpu_text_add(&text, "%s\n    \"%s\": %" PRIu32, opens ? "" : ",", chip_keys[k].key,
                     key_value(chip, &chip_keys[k]));
    }
    xpu_text_add(&text, "\n  }\n}\n");
    return text.text;
}

static uint32_t hash_text(uint32_t hash, const char *text) {
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 16777619u;
    return hash;
}

uint32_t xpu_chip_abi_hash(const xpu_chip *chip) {
    char text[128];
    snprintf(text, sizeof text, "abi=%d\n", XPU_CHIP_ABI_VERSION);
    uint32_t hash = hash_text(2166136261u, text);
    for (size_t k = 0; k < KEY_COUNT; k++) {
        if (chip_keys[k].kind != XPU_CHIP_ABI) continue;
        snprintf(text, sizeof text, "%s.%s=%" PRIu32 "\n", chip_keys[k].section, chip_keys[k].key,
                 key_value(chip, &chip_keys[k]));
        hash = hash_text(hash, text);
    }
    return hash;
}

char *xpu_chip_abi_difference(xpu_arena *arena, const xpu_chip *a, const xpu_chip *b) {
    xpu_text text;
    xpu_text_init(&text, arena);
    for (size_t k = 0; k < KEY_COUNT; k++) {
        uint32_t va = key_value(a, &chip_keys[k]), vb = key_value(b, &chip_keys[k]);
        if (chip_keys[k].kind != XPU_CHIP_ABI || va == vb) continue;
        xpu_text_add(&text, "%s%s.%s %" PRIu32 " against %" PRIu32, text.length ? ", " : "", chip_keys[k].section,
                     chip_keys[k].key, va, vb);
    }
    return text.text;
}
