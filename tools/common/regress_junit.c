/* Outcomes as JUnit XML, as CI systems read it. */
#include <string.h>

#include "base/file.h"
#include "tools/common/regress_suite.h"

/* Bytes of the UTF-8 character at `text` if XML 1.0 knows it, else 0. */
static size_t character(const unsigned char *text) {
    uint32_t code = text[0];
    size_t length = code < 0x80 ? 1 : code >= 0xc2 && code < 0xe0 ? 2 : code < 0xf0 ? 3 : 4;
    if (length == 1) return code >= 0x20 || code == '\n' || code == '\t';
    if (code < 0xc2 || code > 0xf4) return 0;
    code &= 0xffu >> (length + 1);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (length == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000) || code == 0xfffe || code == 0xffff))
        return 0;
    return length == 4 && (code < 0x10000 || code > 0x10ffff) ? 0 : length;
}

void xpu_xml_add(xpu_text *to, const char *text) {
    static const struct {
        char c;
        const char *entity;
    } markup[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}};
    for (const char *at = text ? text : ""; *at;) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof markup / sizeof *markup; i++) {
            if (*at == markup[i].c) entity = markup[i].entity;
        }
        size_t length = character((const unsigned char *)at);
        if (entity)
            xpu_text_add(to, "%s", entity);
        else if (length)
            xpu_text_add_bytes(to, at, length);
        else
            xpu_text_add(to, "\\x%02x", (unsigned char)*at);
        at += length ? length : 1;
    }
}

/* ` NAME="VALUE"`; a newline in it is a space. */
static void attribute(xpu_text *to, const char *name, const char *value) {
    char *flat = xpu_strdup(to->arena, value ? value : "");
    for (char *c = flat; *c; c++) {
        if (*c == '\n' || *c == '\t') *c = ' ';
    }
    xpu_text_add(to, " %s=\"", name);
    xpu_xml_add(to, flat);
    xpu_text_add(to, "\"");
}

/* What is neither passed nor failed is an error: it could not be run, or its process was ended. */
static int is_failure(const xpu_regress_outcome *o) {
    return o->status == XPU_EDIFF;
}

static void add_case(xpu_text *to, const xpu_regress_outcome *o) {
    xpu_text_add(to, "    <testcase");
    attribute(to, "classname", o->name);
    attribute(to, "name", o->chip ? o->chip : "file");
    xpu_text_add(to, " time=\"%.3f\">\n", o->seconds);
    if (o->status == XPU_OK) {
        xpu_text_add(to, "      <system-out>");
        xpu_xml_add(to, o->what);
        xpu_text_add(to, "</system-out>\n    </testcase>\n");
        return;
    }
    const char *element = is_failure(o) ? "failure" : "error";
    xpu_text_add(to, "      <%s", element);
    attribute(to, "message", o->what);
    xpu_text_add(to, ">");
    xpu_xml_add(to, o->what);
    xpu_text_add(to, "\n");
    xpu_xml_add(to, o->details);
    xpu_xml_add(to, o->errors);
    xpu_text_add(to, "</%s>\n    </testcase>\n", element);
}

xpu_status xpu_regress_junit(xpu_arena *arena, const xpu_regress_suite *suite, const char *path, xpu_diags *diags) {
    double seconds = 0;
    uint32_t failures = 0, errors = 0;
    xpu_text text;
    xpu_text_init(&text, arena);
    for (uint32_t i = 0; i < suite->outcomes.count; i++) {
        const xpu_regress_outcome *o = &suite->outcomes.items[i];
        seconds += o->seconds;
        failures += is_failure(o) ? 1 : 0;
        errors += o->status != XPU_OK && !is_failure(o);
    }
    xpu_text_add(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    for (int outer = 1; outer >= 0; outer--) {
        xpu_text_add(&text, "%s", outer ? "<testsuites" : "  <testsuite");
        attribute(&text, "name", outer ? "xpu-regress" : suite->folder);
        xpu_text_add(&text, " tests=\"%u\" failures=\"%u\" errors=\"%u\" time=\"%.3f\">\n", suite->outcomes.count,
                     failures, errors, seconds);
    }
    for (uint32_t i = 0; i < suite->outcomes.count; i++) add_case(&text, &suite->outcomes.items[i]);
    xpu_text_add(&text, "  </testsuite>\n</testsuites>\n");
    return xpu_file_write(arena, path, text.text, text.length, diags);
}
