/*
 * convert_run FOLDER MODEL INPUTS.npz [OPTIONS]...: each model is converted into FOLDER by way of the formats that
 * MODEL's line names, and both are run as they are imported. Lines of standard input: FORMATS MODEL INPUTS OPTIONS, the
 * last two may be "-". FORMATS: "onnx", "onnx,onnx": the second from the first. Prints for each: equal, or the largest
 * difference by max |y|, or refused or wrong with the reason, then the model's name.
 */
#include "tests/convert/runs.h"

static void print_line(const char *text) {
    for (; *text; text++) putchar(*text == '\n' ? ' ' : *text);
}

static int convert_once(const char *from, const char *to, const convert_options *options, char **why) {
    xpuc_result result;
    xpuc_error error;
    const xpuc_options wanted = {
        .shapes = options->shapes, .values = options->values, .bounds = options->bounds, .opset = options->opset};
    const int status = xpuc_convert(from, to, &wanted, &result, &error);
    *why = error.text ? strdup(error.text) : strdup("");
    xpuc_error_clear(&error);
    xpuc_result_clear(&result);
    return status;
}

static void run_line(xpu_arena *arena, const char *folder, char *formats, const char *model, const char *in,
                     const char *with) {
    convert_options options, later = {.opset = 0}; /* a file has fixed shapes, but no ranges */
    read_convert_options(arena, with, &options);
    char *save = NULL, *why = NULL, *opset = strchr(formats, '@');
    if (opset) {
        *opset = '\0';
        options.opset = later.opset = atoi(opset + 1);
    }
    for (int k = 0; k < MOST_OPTIONS; k++) later.bounds[k] = options.bounds[k], later.values[k] = options.values[k];
    const char *from = model;
    int step = 0;
    for (char *format = strtok_r(formats, ",", &save); format; format = strtok_r(NULL, ",", &save)) {
        const char *to = xpu_printf(arena, "%s/%d.%s", folder, ++step, format);
        const int status = convert_once(from, to, &options, &why);
        if (status) {
            printf("refused %s ", model);
            print_line(why);
            printf("\n");
            free(why);
            return;
        }
        free(why);
        from = to;
    }
    xpu_named_tensors inputs = {0};
    xpu_diags diags;
    xpu_diags_init(&diags);
    if (strcmp(in, "-") != 0) xpu_npz_read(arena, in, &inputs, &diags);
    xpu_diags_clear(&diags);
    const convert_run before = convert_run_model(arena, model, &options, &inputs);
    convert_run after = convert_run_model(arena, from, &later, &inputs);
    if (after.problem) after = convert_run_model(arena, from, &options, &inputs);
    for (uint32_t i = 0; i < after.count && i < before.count && !after.problem && !before.problem; i++)
        after.outputs[i] = convert_retyped(arena, &after.outputs[i], before.outputs[i].dtype);
    if (before.problem || after.problem) {
        printf("wrong %s %s: ", model, before.problem ? "before" : "behind");
        print_line(before.problem ? before.problem : after.problem);
        printf("\n");
        return;
    }
    const double difference = run_difference(&after, &before);
    if (difference == 0)
        printf("equal %s\n", model);
    else
        printf("%.2e %s\n", difference, model);
}

int main(int argc, char **argv) {
    char formats[64], model[512], in[512], with[512];
    if (argc != 2) return 2;
    while (scanf("%63s %511s %511s %511s", formats, model, in, with) == 4) {
        xpu_mem mem;
        xpu_mem_init(&mem);
        if (setjmp(mem.out_of_memory)) return 3;
        run_line(xpu_arena_new(&mem, "test"), argv[1], formats, model, in, with);
        xpu_mem_release(&mem);
        fflush(stdout);
    }
    return 0;
}
