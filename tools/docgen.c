/*
 * docgen onnx|paddle|conversions|operators|xpu-sim: writes the tables of supported operators as Markdown, from the rows
 * and rules that the compiler itself uses. `make gen` keeps the results in docs/.
 */
#include <stdio.h>
#include <string.h>

#include "convert/convert.h"
#include "core/ops/op.h"
#include "frontend/onnx/onnx.h"
#include "frontend/paddle/paddle.h"
#include "xpu_codegen/xpu_codegen.h"

static void write_onnx(void) {
    printf("# ONNX operators\n\nWhat the importer reads, made from its table (`make gen`). Opset %d to %d. \"Forms "
           "since\": the operator\n"
           "set versions in which the operator's form changed, and which of them are understood.\n\n"
           "| operator | forms since | becomes | remarks |\n|---|---|---|---|\n",
           XPU_ONNX_MIN_OPSET, XPU_ONNX_MAX_OPSET);
    for (uint32_t i = 0; i < xpu_onnx_operator_count(); i++) {
        xpu_onnx_operator op = xpu_onnx_operator_at(i);
        printf("| %s%s%s | ", op.domain, op.domain[0] ? "." : "", op.name);
        for (const int *v = op.versions; *v; v++) printf("%s%d", v == op.versions ? "" : ", ", *v);
        printf(" | %s | %s |\n", op.core, op.remarks);
    }
}

static const struct {
    const char *names, *why;
} formulas[] = {
    {"flatten, squeeze, unsqueeze, one_hot, expand_as", "PaddlePaddle 2.6.2 has no operator of that name any more"},
    {"pad2d", "PaddlePaddle 2.6.2 has it without a kernel"},
    {"sync_batch_norm, correlation, fused_attention", "PaddlePaddle computes it on GPUs alone"},
    {"pd_op.sync_batch_norm_, pd_op.correlation", "PaddlePaddle computes it on GPUs alone"},
    {"pd_op.batch_norm", "PaddlePaddle 3.3.1 writes batch_norm_"},
    {"pd_op.fc, pd_op.data_norm", "PaddlePaddle 3.3.1 translates no program with it into pd_op"},
    {"pd_op.transpose2", "PaddlePaddle 3.3.1 calls it transpose"},
};

static void write_paddle(void) {
    printf(
        "# PaddlePaddle operators\n\nWhat the importer reads, made from its table (`make gen`): operators of a "
        "ProgramDesc, and of PIR's dialect pd_op.\nOperands have ProgramDesc's names. Of PIR, an operator NAME_ is "
        "NAME "
        "written where its first operand is.\n\n"
        "A body (of while, conditional_block, if) uses what is outside of it, and what it writes there is the "
        "branch's result or is\ncarried by the loop: of a ProgramDesc's variable that a loop writes and reads, the "
        "last value counts. Two blocks under a\ncondition and its contrary, joined by select_input, are one branch. "
        "Where a loop counts (`i < n`, i by a constant in each\niteration), how often it runs at most is known; where "
        "only data say it, tensors that grow need `--bound`.\nA tensor array is a list while every place is known, "
        "else "
        "one tensor [length, ...]: its tensors have one shape and type\nthen, and it has no places without a "
        "tensor.\n\n"
        "There are no levels of detail (LoD): all rows of a tensor are of one image, or are one sequence, those of "
        "beam_search\nare of one source, and beam_search_decode reads arrays that are lists. Where there are several "
        "images, operand RoisNum\nsays which is whose. roi_align without a sampling_ratio takes at most two samples "
        "for each pixel of the image. Random\noperators give the same numbers in each run, other ones than "
        "PaddlePaddle's; the elements of empty are 0. pool2d and\npool3d with adaptive maxima are PaddlePaddle's: as "
        "many windows as ksize says, of that size, strides apart. What\nPaddlePaddle leaves at oneDNN's convolutions "
        "and fc (fused_conv2d; ResidualData, fuse_activation; fc's\nfused_output_scale, behind both) computes in "
        "float32.\n\n"
        "Where results differ from PaddlePaddle's, or a form is refused, and why:\n"
        "- multiclass_nms and locality_aware_nms give [0, 6] where nothing is found and an operator reads the result, "
        "PaddlePaddle [[-1]]:\n  a result whose columns are known is worth more to what follows. A result that nothing "
        "reads is [[-1]] here, too.\n"
        "- Boxes without area, or with corners in the wrong order, overlap as PaddlePaddle has it. What xpu-convert "
        "writes "
        "differs for\n  such boxes: ONNX lets those overlap none, and puts these in order.\n"
        "- locality_aware_nms of polygons holds at most 4096 corners of a class against each other; polygons that "
        "cross themselves "
        "are not\n  compared.\n"
        "- correlation takes a kernel_size of 1: PaddlePaddle computes it on GPUs only, no answer is recorded.\n"
        "- unique along an axis names of equal rows the first one. So does PaddlePaddle up to 16 rows; of more it "
        "names "
        "the one\n  that its unstable sort has put first.\n"
        "- beam_search takes each sentence's followers in the order of their scores, as top_k gives them: of others "
        "PaddlePaddle's\n  choice among equal scores is another one.\n"
        "- equal and not_equal of floats are exact, as in PaddlePaddle 3.3.1; to 2.6.2 what is less than 1e-8 apart is "
        "equal.\n"
        "- hard_shrink gives 0 at its threshold, as in PaddlePaddle 2.6.2; 3.3.1 leaves the element as it is.\n\n"
        "Complex numbers are there between the operators that make, transform and take them apart (fft_*,\nstft, "
        "complex, as_complex, as_real, real, imag, conj, abs, transpose), outside of bodies; inputs and outputs are "
        "real.\n\n"
        "| form | operator | operands |\n|---|---|---|\n");
    for (int pir = 0; pir < 2; pir++) {
        for (uint32_t i = 0; i < xpu_paddle_operator_count(); i++) {
            int is_pir = 0;
            xpu_paddle_operator op = xpu_paddle_operator_at(i, &is_pir);
            if (is_pir == pir) printf("| %s | %s | %s |\n", pir ? "PIR" : "ProgramDesc", op.name, op.operands);
        }
    }
    const char *names = NULL, *why = NULL;
    printf("\n## Compared with formulas\n\nThe others give what PaddlePaddle 2.6.2 gave, in two cases or more, those "
           "of PIR "
           "in one or more of a program that 3.3.1 reads.\nOf these there is none; a ProgramDesc's are compared with "
           "formulas (tests/gen/paddle_formulas.py), and those of PIR are\nthe same converters. "
           "PIR's dequantize_linear is held against 2.6.2's numbers, as 3.3.1 gives the quantised ones back.\n\n"
           "| operators | why |\n|---|---|\n");
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        printf("| %s | %s |\n", formulas[i].names, formulas[i].why);
    printf(
        "\n## Not imported\n\nAny other operator is refused by name (paddle-unsupported-op). Of these, the reason is "
        "known:\n\n| operators | why |\n|---|---|\n");
    for (uint32_t i = 0; xpu_paddle_reason_at(i, &names, &why); i++) {
        printf("| ");
        for (const char *c = names; *c; c++) printf(*c == ',' ? ", " : "%c", *c);
        printf("%s | %s |\n", i ? "" : ", and those that end in _grad", why);
    }
}

/* Rows of convert/refused.def. */
static void write_conversions(void) {
    static const char *const formats[] = {
        [XPU_TO_ONNX] = "ONNX", [XPU_TO_PADDLE] = "PaddlePaddle", [XPU_TO_EITHER] = "either"};
    printf(
        "# What xpu-convert refuses\n\nMade from the table of its errors (`make gen`): [convert-operator] with reason "
        "and hint, as they stand here.\n\n| written as | what | why | what to do |\n|---|---|---|---|\n");
    for (int id = 0; id < XPU_REFUSED_COUNT; id++) {
        const xpu_refused_row *row = xpu_refused_row_of((xpu_refused)id);
        if (row->what[0]) printf("| %s | %s | %s | %s |\n", formats[row->format], row->what, row->why, row->hint);
    }
    printf(
        "\n## Opsets of ONNX\n\nWithout --opset it is the first one from %d on that has all of a model. What an older "
        "one is asked for,\nand has not:\n\n| from | what |\n|---|---|\n",
        XPU_CONVERT_OPSET);
    for (int id = 0; id < XPU_SINCE_COUNT; id++) {
        const xpu_since *row = xpu_since_of((xpu_since_id)id);
        printf("| %d | %s |\n", row->opset, row->what);
    }
}

static void write_operators(void) {
    printf("# Core operators\n\nThe rows of core/ops/ops.def (`make gen`).\n\n"
           "| operator | operands | attributes | what it is |\n|---|---|---|---|\n");
    for (int id = 0; id < XPU_OP_COUNT; id++) {
        const xpu_op *op = xpu_op_of((xpu_op_id)id);
        const char *separator = "";
        if (op->min_inputs == op->max_inputs) {
            printf("| %s | %d | ", op->name, op->min_inputs);
        } else if (op->max_inputs == XPU_MANY) {
            printf("| %s | %d and more | ", op->name, op->min_inputs);
        } else {
            printf("| %s | %d to %d | ", op->name, op->min_inputs, op->max_inputs);
        }
        for (int a = 0; a < XPU_ATTR_COUNT; a++) {
            if (!xpu_op_attr(op, (xpu_attr_id)a)) continue;
            printf("%s%s", separator, xpu_attr_name((xpu_attr_id)a));
            separator = ", ";
        }
        printf(" | ");
        for (const char *c = op->about; *c; c++) fputs(*c == '|' ? "\\|" : (char[]){*c, 0}, stdout);
        printf(" |\n");
    }
}

static void write_target(void) {
    xpu_mem mem;
    xpu_text text;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) return;
    xpu_text_init(&text, xpu_arena_new(&mem, "document"));
    xpu_codegen_document(&text);
    fputs(text.text, stdout);
    xpu_mem_release(&mem);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*write)(void);
    } documents[] = {{"onnx", write_onnx},
                     {"paddle", write_paddle},
                     {"conversions", write_conversions},
                     {"operators", write_operators},
                     {"xpu-sim", write_target}};
    for (size_t i = 0; argc == 2 && i < sizeof documents / sizeof *documents; i++) {
        if (strcmp(argv[1], documents[i].name) != 0) continue;
        documents[i].write();
        return ferror(stdout) ? XPU_EIO : XPU_OK;
    }
    fputs("usage: docgen onnx|paddle|conversions|operators|xpu-sim\n", stderr);
    return XPU_EUSAGE;
}
