"""What PaddlePaddle answers for a model of one input: unoptimised, on one thread, without oneDNN."""
from paddle import inference


def answer(program, parameters, x):
    config = inference.Config(program, parameters)
    config.disable_gpu()
    config.disable_mkldnn()
    config.switch_ir_optim(False)
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(1)
    predictor = inference.create_predictor(config)
    handle = predictor.get_input_handle(predictor.get_input_names()[0])
    handle.reshape(x.shape)
    handle.copy_from_cpu(x)
    predictor.run()
    name = predictor.get_output_names()[0]
    return {name: predictor.get_output_handle(name).copy_to_cpu()}
